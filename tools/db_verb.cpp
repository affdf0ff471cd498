#include "tools/db_verb.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/core/check.h"
#include "engine/core/scenario.h"
#include "results/check_database.h"
#include "results/merge.h"
#include "tools/json_text.h"
#include "tools/table.h"

namespace shardlab {
namespace {

using nlohmann::json;
using results::DatabaseCheck;
using results::MergedFile;

void print(const json& value) { fmt::print("{}\n", json_text(value)); }

Exit merge_files(const DbVerbOptions& options) {
  check(options.files.size() >= 2, "db merge: expected the file to write and those to merge");
  const std::string& into = options.files[0];
  const std::vector<std::string> files(options.files.begin() + 1, options.files.end());
  const std::vector<MergedFile> merged = results::merge(into, files);
  json rows = json::array();
  Table table({"added", "replaced", "there already", "file"});
  std::int64_t added = 0;
  for (const MergedFile& file : merged) {
    if (!file.notice.empty()) fmt::print(stderr, "{}\n", file.notice);
    const std::int64_t known = file.runs - file.added - file.replaced;
    added += file.added;
    table.row({std::to_string(file.added), std::to_string(file.replaced), std::to_string(known),
               std::filesystem::path(file.path).filename().string()});
    rows.push_back({{"file", file.path},
                    {"added", file.added},
                    {"replaced", file.replaced},
                    {"there_already", known}});
  }
  if (options.json)
    print({{"into", into}, {"added", added}, {"files", rows}});
  else
    fmt::print("{}\n{}: {} runs added from {} files\n", table.text(), into, added, merged.size());
  return Exit::fine;
}

Exit check_files(const DbVerbOptions& options) {
  check(!options.files.empty(), "db check: expected the files to check");
  Exit exit = Exit::fine;
  json all = json::array();
  for (const std::string& file : options.files) {
    DatabaseCheck found;
    try {
      found = results::check_database(file);
    } catch (const Error& error) {
      if (error.fault() != Fault::external) throw;
      found.problems = {error.what()};
    }
    if (!found.problems.empty()) exit = Exit::broken;
    all.push_back({{"file", file},
                   {"schema", found.version},
                   {"runs", found.runs},
                   {"series", found.series},
                   {"samples", found.samples},
                   {"problems", found.problems},
                   {"remarks", found.remarks}});
    if (options.json) continue;
    if (found.problems.empty())
      fmt::print("{}: sound: schema version {}, {} runs of {} series, {} samples\n", file,
                 found.version, found.runs, found.series, found.samples);
    for (const std::string& text : found.problems)
      fmt::print(stderr, "{}{}\n", text.starts_with(file) ? "" : file + ": ", text);
    for (const std::string& text : found.remarks) fmt::print("  {}\n", text);
  }
  if (options.json) print(all);
  return exit;
}

Exit print_schema(const DbVerbOptions& options) {
  check(options.files.empty(),
        "db schema: takes no file; `shardlab db check FILE` says its version");
  const results::Schema schema = results::current_schema();
  if (options.json)
    print({{"version", schema.version}, {"sql", schema.create}});
  else
    fmt::print("{}", schema.create);
  return Exit::fine;
}

}  // namespace

Exit db_verb(const DbVerbOptions& options) {
  if (options.action == "merge") return merge_files(options);
  if (options.action == "check") return check_files(options);
  if (options.action == "schema") return print_schema(options);
  fail(Fault::invalid, "db {}: did you mean '{}'?", options.action,
       nearest(options.action, {"merge", "check", "schema"}));
}

}  // namespace shardlab
