#include "tools/import_verb.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/core/check.h"
#include "results/import.h"
#include "results/store.h"
#include "tools/import_files.h"
#include "tools/import_nccl.h"
#include "tools/json_text.h"
#include "tools/table.h"

namespace shardlab {
namespace {

using results::Imported;
using results::ImportSource;
using results::RunStatus;

constexpr std::size_t most_notes = 20;

std::string known_formats() {
  std::string text = "nccl-tests text and JSON";
  for (const std::string& each : results::import_formats()) text += ", " + each;
  return text;
}

Imported read(const ImportSource& source, const results::ImportOptions& says) {
  if (may_be_nccl_log(source.text))
    return read_nccl_import(sim::read_nccl_log(source.text, source.name), says);
  std::optional<Imported> read = results::read_import(source, says);
  check(read.has_value(), "{}: of no format that is known: {}", source.name, known_formats());
  return std::move(*read);
}

void print_notes(const std::string& file, const std::vector<results::ImportNote>& notes) {
  for (std::size_t i = 0; i < std::min(most_notes, notes.size()); ++i)
    fmt::print(stderr, "{}: {}\n",
               notes[i].line > 0 ? fmt::format("{}:{}", file, notes[i].line) : file, notes[i].text);
  if (notes.size() > most_notes)
    fmt::print(stderr, "{}: and {} more\n", file, notes.size() - most_notes);
}

std::int64_t count(const Imported& imported, RunStatus status) {
  return std::count_if(imported.runs.begin(), imported.runs.end(),
                       [&](const auto& run) { return run.status == status; });
}

struct Line {
  std::string file;
  Imported imported;
  std::int64_t added = 0;

  [[nodiscard]] std::int64_t known() const {
    return static_cast<std::int64_t>(imported.runs.size()) - added;
  }
};

void print_json(const std::vector<Line>& lines) {
  nlohmann::json json = nlohmann::json::array();
  for (const Line& line : lines) {
    nlohmann::json notes = nlohmann::json::array();
    for (const results::ImportNote& note : line.imported.notes)
      notes.push_back({{"line", note.line}, {"text", note.text}});
    json.push_back({{"file", line.file},
                    {"format", line.imported.format},
                    {"runs", line.imported.runs.size()},
                    {"added", line.added},
                    {"there_already", line.known()},
                    {"skipped", count(line.imported, RunStatus::skipped)},
                    {"failed", count(line.imported, RunStatus::failed)},
                    {"notes", std::move(notes)}});
  }
  fmt::print("{}\n", json_text(json));
}

/// The end of a path, which tells files apart.
std::string ending(const std::string& file) {
  constexpr std::size_t most = 50;
  return file.size() <= most ? file : "..." + file.substr(file.size() - most + 3);
}

void print_processors(const std::vector<Line>& lines) {
  const auto silent = std::count_if(lines.begin(), lines.end(), [](const Line& line) {
    return !results::names_processors(line.imported);
  });
  if (silent > 0)
    fmt::print(stderr,
               "{} of {} files do not say on what they ran, and times of such files compare with "
               "each other; --processor names it\n",
               silent, lines.size());
}

void print_table(const std::vector<Line>& lines, const std::string& database) {
  Table table({"added", "there already", "skipped", "failed", "format", "file"});
  std::int64_t added = 0;
  std::size_t runs = 0;
  for (const Line& line : lines) {
    added += line.added;
    runs += line.imported.runs.size();
    table.row({std::to_string(line.added), std::to_string(line.known()),
               std::to_string(count(line.imported, RunStatus::skipped)),
               std::to_string(count(line.imported, RunStatus::failed)), line.imported.format,
               ending(line.file)});
  }
  fmt::print("{}", table.text());
  if (added == 0 && runs > 0)
    fmt::print("\n{} is as it was: every run is there already\n", database);
  else if (runs == 0)
    fmt::print("\nno runs in them: nothing is stored\n");
  else
    fmt::print("\nshardlab show --db {}\n", database);
}

}  // namespace

Exit import_verb(const ImportVerbOptions& options) {
  if (!options.says.mesh.empty()) static_cast<void>(results::ranks_of(options.says.mesh));
  std::vector<Line> lines;
  std::vector<results::StoredRun> runs;
  for (const std::string& file : options.files) {
    const ImportSource source = import_source(file);
    Imported imported = read(source, options.says);
    results::complete(imported, source, options.says, options.command_line);
    for (results::StoredRun& run : imported.runs)
      if (run.header.created.empty()) run.header.created = written_at(file);
    runs.insert(runs.end(), imported.runs.begin(), imported.runs.end());
    lines.push_back({file, std::move(imported)});
  }
  std::vector<bool> added;
  if (!runs.empty()) added = results::Store(options.database).add(runs);
  std::size_t at = 0;
  for (Line& line : lines)
    for (std::size_t i = 0; i < line.imported.runs.size(); ++i) line.added += added[at++];
  for (const Line& line : lines) print_notes(line.file, line.imported.notes);
  print_processors(lines);
  if (options.json)
    print_json(lines);
  else
    print_table(lines, options.database);
  return runs.empty() ? Exit::not_comparable : Exit::fine;
}

}  // namespace shardlab
