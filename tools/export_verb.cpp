#include "tools/export_verb.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "engine/core/check.h"
#include "results/export.h"
#include "tools/picture.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;
using results::Sink;
using Exporter = void (*)(const results::Reader&, const std::vector<results::RunId>&, const Sink&);

std::vector<results::RunId> chosen(const results::Reader& reader,
                                   const ExportVerbOptions& options) {
  std::vector<results::RunId> runs;
  for (const std::string& text : options.runs) runs.push_back(results::find_run(reader, text));
  if (!options.runs.empty()) return runs;
  for (const results::RunInfo& info : results::list_runs(reader)) runs.push_back(info.id);
  return {runs.rbegin(), runs.rend()};
}

/// Writes beside the file first, so that one that is there stays until the new one is whole.
void write_file(const std::string& file, const std::function<void(const Sink&)>& write) {
  const std::string part = file + ".part";
  const auto fault = [&] {
    const std::string text = std::strerror(errno);
    std::error_code ignored;
    fs::remove(part, ignored);
    fail(Fault::external, "{}: cannot be written: {}", file, text);
  };
  std::ofstream stream(part, std::ios::binary);
  if (!stream) fault();
  try {
    write([&](std::string_view text) { stream << text; });
  } catch (...) {
    std::error_code ignored;
    fs::remove(part, ignored);
    throw;
  }
  if (!stream.flush()) fault();
  stream.close();
  std::error_code error;
  fs::rename(part, file, error);
  if (!error) return;
  errno = error.value();
  fault();
}

void write(const std::string& file, Exporter exporter, const results::Reader& reader,
           const std::vector<results::RunId>& runs) {
  if (file.empty()) return;
  if (file == "-") {
    exporter(reader, runs, [](std::string_view text) { fmt::print("{}", text); });
    return;
  }
  spare_database(file);
  write_file(file, [&](const Sink& sink) { exporter(reader, runs, sink); });
  fmt::print(stderr, "{}: {} {}\n", file, runs.size(), runs.size() == 1 ? "run" : "runs");
}

}  // namespace

Exit export_verb(const ExportVerbOptions& options) {
  check(!options.csv.empty() || !options.json.empty(),
        "export: give --csv FILE or --json FILE; - prints");
  const results::Reader reader = results::open_for_reading(options.database);
  if (!reader.notice().empty()) fmt::print(stderr, "{}\n", reader.notice());
  const std::vector<results::RunId> runs = chosen(reader, options);
  write(options.csv, results::export_csv, reader, runs);
  write(options.json, results::export_json, reader, runs);
  return Exit::fine;
}

}  // namespace shardlab
