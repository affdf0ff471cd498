#include "results/import_ring_attention.h"

#include <cmath>

#include "engine/core/check.h"

namespace shardlab::results {
namespace {

using nlohmann::json;

std::string count_member(const json& object, const char* key, const std::string& name) {
  const auto value = number_member(object, key);
  check(value && *value >= 1 && *value <= 1e15 && *value == std::floor(*value),
        "{}:{}: {}: expected a whole number from 1, found {}", name, line_of(object), key,
        plain_text(member(object, key)));
  return fmt::format("{:.0f}", *value);
}

}  // namespace

bool is_ring_attention(const json& file) {
  return member(file, "benchmark").is_object() &&
         !member(member(file, "config"), "seq_len").is_null();
}

Imported read_ring_attention(const json& file, const std::string& name) {
  const json& config = member(file, "config");
  const json& benchmark = member(file, "benchmark");
  Imported result{"ring-attention benchmark JSON", {}, {}};
  StoredRun run = imported_run(Execution::cuda, "pytorch-shardtensor");
  SeriesKey& series = run.header.series;
  series.scenario = "ring_attention";
  series.parameters = parameters_text({{"batch", count_member(config, "batch_size", name)},
                                       {"heads", count_member(config, "num_heads", name)},
                                       {"head-dim", count_member(config, "head_dim", name)},
                                       {"sequence", count_member(config, "seq_len", name)}});
  series.dtype = text_member(config, "dtype");
  series.train = text_member(file, "benchmark_mode") == "train";
  series.mesh = "domain=" + count_member(file, "world_size", name);
  run.header.created = utc_from(text_member(file, "timestamp"));
  std::vector<double> times;
  for (const json& each : member(benchmark, "per_iteration_times_s"))
    if (each.is_number()) times.push_back(each.get<double>());
  if (times.empty())
    for (const char* key : {"median_time_s", "mean_time_s"})
      if (const auto value = number_member(benchmark, key); value && times.empty()) {
        times = {*value};
        result.notes.push_back({line_of(benchmark),
                                fmt::format("no time of an iteration is there: {} is taken", key)});
      }
  if (times.empty()) {
    run.status = RunStatus::skipped;
    run.reason = "no samples";
  }
  add_samples(run, step_seconds(), times, 0);
  const json& memory = member(file, "memory");
  auto peak = number_member(memory, "max_peak_allocated_across_ranks_bytes");
  if (!peak) peak = number_member(memory, "peak_allocated_bytes");
  if (peak) add_samples(run, allocated_peak_bytes(), {*peak});
  if (const auto reserved = number_member(memory, "peak_reserved_bytes"))
    add_samples(run, reserved_peak_bytes(), {*reserved}, 0);
  result.runs.push_back(std::move(run));
  return result;
}

}  // namespace shardlab::results
