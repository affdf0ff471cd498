#include "results/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/core/check.h"
#include "results/digest.h"
#include "results/import_google_benchmark.h"
#include "results/import_hyperfine.h"
#include "results/import_nvbench.h"
#include "results/import_ring_attention.h"
#include "results/import_runs.h"
#include "results/import_vit_csv.h"
#include "results/scaling.h"

namespace shardlab::results {
namespace {

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  return text;
}

bool looks_like_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

std::optional<Imported> read_json_file(const ImportSource& source) {
  LinedJson json = read_lined_json(without_mark(source.text), source.name);
  const nlohmann::json& file = json.value;
  std::optional<Imported> read;
  if (is_nvbench(file))
    read = read_nvbench(file, source);
  else if (is_google_benchmark(file))
    read = read_google_benchmark(file);
  else if (is_hyperfine(file))
    read = read_hyperfine(file);
  else if (is_ring_attention(file))
    read = read_ring_attention(file, source.name);
  else if (is_runs(file))
    read = read_runs(file, source.name);
  if (read) read->notes.insert(read->notes.begin(), json.notes.begin(), json.notes.end());
  return read;
}

/// A uuid (version 8: of one's own making) that the content of a run decides.
std::string uuid_of(const std::string& text) {
  std::string hex = digest(text);
  hex[12] = '8';
  hex[16] = "89ab"[static_cast<unsigned char>(hex[16]) % 4];
  for (const std::size_t at : {20U, 16U, 12U, 8U}) hex.insert(at, "-");
  return hex;
}

std::string content_of(const StoredRun& run) {
  std::string text = fmt::format("{}\n{}\n{}\n", text_of(run.header.series),
                                 text_of(run.header.environment), run.header.commit);
  for (const MetricSamples& metric : run.rows.metrics) {
    text += metric.metric.name;
    for (const Sample& sample : metric.samples) text += fmt::format(" {}", sample.value);
    text += '\n';
  }
  return text;
}

}  // namespace

std::vector<std::string> import_formats() {
  return {"Google Benchmark JSON",         "nvbench JSON",      "hyperfine JSON",
          "ring-attention benchmark JSON", "ViT benchmark CSV", "runs of shardlab, JSON"};
}

std::optional<Imported> read_import(const ImportSource& source, const ImportOptions& options) {
  const std::string_view text = without_mark(source.text);
  if (looks_like_json(text)) return read_json_file(source);
  const std::string_view head = text.substr(0, text.find('\n'));
  if (!is_vit_csv(read_csv(head, source.name))) return std::nullopt;
  return read_vit_csv(read_csv(text, source.name), source.name, options);
}

bool names_processors(const Imported& imported) {
  return std::none_of(imported.runs.begin(), imported.runs.end(), [](const StoredRun& run) {
    return is_measured(run.header.series) && run.header.environment.processor.empty();
  });
}

void complete(Imported& imported, const ImportSource& source, const ImportOptions& options,
              const std::string& command) {
  const std::string digest_of_file = digest(source.text);
  std::set<std::string> series;
  std::set<std::string> twice;
  for (std::size_t i = 0; i < imported.runs.size(); ++i) {
    StoredRun& run = imported.runs[i];
    RunHeader& header = run.header;
    try {
      header.series = canonical(header.series);
    } catch (const Error& error) {
      throw Error(error.fault(), fmt::format("{}: {}", source.name, error.what()),
                  error.location());
    }
    if (!run.uuid.empty()) continue;  // a run of ours as it was stored elsewhere
    if (header.environment.processor.empty()) header.environment.processor = options.processor;
    if (header.commit.empty()) header.commit = options.commit;
    if (header.branch.empty()) header.branch = options.branch;
    header.source = fmt::format("{} ({})", source.name, imported.format);
    header.command = command;
    run.uuid = uuid_of(fmt::format("{} {}\n{}", digest_of_file, i, content_of(run)));
    const std::string key = text_of(header.series);
    if (!series.insert(key).second) twice.insert(header.series.scenario);
  }
  if (!twice.empty())
    imported.notes.push_back({0, fmt::format("{} names come more than once, {} the first: each is "
                                             "a run of its own",
                                             twice.size(), *twice.begin())});
}

}  // namespace shardlab::results
