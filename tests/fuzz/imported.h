#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "engine/core/error.h"
#include "results/import.h"
#include "results/import_json.h"

namespace shardlab::results {

/// What is read can be stored: names and keys are well formed, samples finite and of ranks of the
/// mesh, and what has not ended well says why. Anything else is refused as invalid.
template <typename Read>
void expect_storable(const unsigned char* data, std::size_t size, const Read& read) {
  const auto demand = [](bool ok) {
    if (!ok) __builtin_trap();
  };
  const std::string text(reinterpret_cast<const char*>(data), size);
  const ImportSource source{
      "a/benchmark_results_1bs_2d_FP32_8dp_1ddp_.csv", text,
      [&text](const std::string&, std::size_t bytes) -> std::optional<std::string> {
        if (bytes > text.size()) return std::nullopt;
        return text.substr(0, bytes);
      }};
  try {
    Imported imported = read(source);
    complete(imported, source, {}, "");
    for (const StoredRun& run : imported.runs) {
      demand(!run.uuid.empty() && !run.header.series.scenario.empty());
      demand(ranks_of(run.header.series.mesh) > 0);
      demand(run.status == RunStatus::complete || run.status == RunStatus::running ||
             !run.reason.empty() || imported.format == "runs of shardlab, JSON");
      for (const MetricSamples& metric : run.rows.metrics)
        for (const Sample& sample : metric.samples)
          demand(std::isfinite(sample.value) &&
                 (metric.metric.unit != "s" || sample.value >= 0 || !run.header.source.empty() ||
                  imported.format == "runs of shardlab, JSON"));
    }
  } catch (const Error& error) {
    demand(error.fault() == Fault::invalid);
  }
}

/// The same of a reader of JSON.
template <typename Read>
void expect_storable_json(const unsigned char* data, std::size_t size, const Read& read) {
  expect_storable(data, size, [&](const ImportSource& source) {
    const LinedJson json = read_lined_json(source.text, source.name);
    return read(json.value, source);
  });
}

}  // namespace shardlab::results
