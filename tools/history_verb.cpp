#include "tools/history_verb.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/check.h"
#include "results/history.h"
#include "results/store.h"
#include "tools/commit_order.h"
#include "tools/history_text.h"
#include "tools/line_chart.h"

namespace shardlab {
namespace {

using results::HistoryChart;

results::Fields fields_of(const HistoryOptions& options) {
  results::Fields fields;
  for (const std::string& text : options.where) {
    const std::size_t equals = text.find('=');
    check(equals != std::string::npos && equals > 0,
          "--where: expected FIELD=VALUE such as dtype=bfloat16, found '{}'", text);
    fields.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  if (!options.scenario.empty()) fields.emplace_back("scenario", options.scenario);
  if (!options.mesh.empty()) fields.emplace_back("mesh", Mesh::parse(options.mesh).text());
  return fields;
}

std::vector<HistoryChart> read(const HistoryOptions& options) {
  const results::Reader reader = results::open_for_reading(options.database);
  if (!reader.notice().empty()) fmt::print(stderr, "{}\n", reader.notice());
  return results::read_history(
      reader, {.metric = results::find_metric(reader, options.metric).name,
               .where = fields_of(options),
               .floor = options.floor,
               .order = options.order == "git" ? commit_order() : std::vector<std::string>{}});
}

/// The marks that a commit stands for: one for each chart in which it belongs to a shift.
std::vector<results::Mark> marks_at(const std::vector<HistoryChart>& charts,
                                    const HistoryOptions& options, const std::string& commit) {
  std::vector<results::Mark> marks;
  std::string shifts;
  for (const HistoryChart& chart : charts) {
    for (const results::Shift& shift : chart.shifts) {
      const std::string text = chart.points[shift.at.index].commit.substr(0, 8);
      if (shifts.find(text) == std::string::npos) shifts += " " + text;
    }
    if (const auto shift = results::shift_at(chart, commit))
      marks.push_back({.series = chart.series,
                       .metric = chart.metric.name,
                       .commit = chart.points[chart.shifts[*shift].at.index].commit,
                       .note = options.note});
  }
  check(!marks.empty(), "commit '{}': no series of {} shifts there; {}", commit, options.metric,
        shifts.empty() ? "there is no shift at all" : "shifts are at" + shifts);
  return marks;
}

void change_marks(const HistoryOptions& options) {
  check(options.accept.empty() || options.reopen.empty(),
        "--accept and --reopen: one of them at a time");
  check(options.accept.empty() || !options.note.empty(), "--accept {}: say why with --note 'text'",
        options.accept);
  check(options.note.empty() || !options.accept.empty(), "--note belongs to --accept");
  if (options.accept.empty() && options.reopen.empty()) return;
  const std::string& commit = options.accept.empty() ? options.reopen : options.accept;
  const auto marks = marks_at(read(options), options, commit);
  results::Store store(options.database);
  if (options.reopen.empty()) {
    store.accept(marks);
    fmt::print(stderr, "{}: accepted a shift of {} series at {}\n", options.database, marks.size(),
               marks[0].commit);
  } else {
    const std::int64_t removed = store.reopen(marks);
    fmt::print(stderr, "{}: took back {} marks at {}\n", options.database, removed,
               marks[0].commit);
  }
}

Exit exit_of(const std::vector<HistoryChart>& charts) {
  const auto count = [&](results::Verdict verdict) {
    return static_cast<std::size_t>(std::ranges::count(charts, verdict, &HistoryChart::verdict));
  };
  if (count(results::Verdict::worse) > 0) return Exit::failed;
  return count(results::Verdict::not_enough) == charts.size() ? Exit::not_comparable : Exit::fine;
}

}  // namespace

Exit history_verb(const HistoryOptions& options) {
  check(options.order == "git" || options.order == "time",
        "--order: expected git or time, found '{}'", options.order);
  check(options.floor >= 0, "--floor: {}, which is negative", options.floor);
  change_marks(options);
  const auto charts = read(options);
  if (options.json)
    fmt::print("{}\n", history_json(charts));
  else if (charts.empty())
    fmt::print("no complete run in {} has samples of {}\n", options.database, options.metric);
  else
    fmt::print("{}", history_text(charts, {.metric = options.metric,
                                           .ascii = options.ascii || !speaks_utf8(),
                                           .all = options.all}));
  return exit_of(charts);
}

}  // namespace shardlab
