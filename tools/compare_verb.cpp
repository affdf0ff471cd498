#include "tools/compare_verb.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/check.h"
#include "engine/core/scenario.h"
#include "results/compare.h"
#include "results/comparison_json.h"
#include "tools/compare_text.h"

namespace shardlab {
namespace {

using results::Comparison;
using results::Finding;
using results::Verdict;

results::Side side_of(const std::string& text, const CompareVerbOptions& typed) {
  results::Side side = results::find_side(text, typed.database);
  if (!side.reader->notice().empty()) fmt::print(stderr, "{}\n", side.reader->notice());
  return side;
}

void check_allowed(const std::vector<std::string>& allowed) {
  std::vector<std::string> known;
  for (const auto& [name, value] : results::fields_of(results::SeriesKey{})) known.push_back(name);
  for (const auto& [name, value] : results::fields_of(results::EnvironmentKey{}))
    known.push_back(name);
  for (const std::string& field : allowed)
    check(std::ranges::find(known, field) != known.end(),
          "--allow {}: no such field: did you mean '{}'?", field, nearest(field, known));
}

Exit exit_of(const Finding& finding, const results::ComparisonOptions& options) {
  switch (finding.verdict) {
    case Verdict::worse:
      return Exit::failed;
    case Verdict::vanished:
      return options.committed && finding.metric.exact ? Exit::failed : Exit::not_comparable;
    case Verdict::not_comparable:
      return Exit::not_comparable;
    case Verdict::not_enough:
      return finding.subject == results::Subject::quantity || options.strict ? Exit::not_comparable
                                                                             : Exit::fine;
    case Verdict::undecided:
      return options.strict ? Exit::not_comparable : Exit::fine;
    default:
      return Exit::fine;
  }
}

}  // namespace

Exit exit_of(const Comparison& comparison) {
  Exit exit = results::shares_series(comparison) ? Exit::fine : Exit::not_comparable;
  for (const Finding& finding : comparison.findings)
    exit = graver(exit, exit_of(finding, comparison.options));
  return exit;
}

Exit compare_verb(const CompareVerbOptions& typed) {
  const results::ComparisonOptions& options = typed.options;
  check(typed.sides.size() == 2,
        "compare takes two sides: a database file, a run, a commit, a branch or a date each; "
        "{} given",
        typed.sides.size());
  check(options.floor > 0 && options.floor < 10, "--floor {}: expected a part such as 0.02",
        options.floor);
  check_allowed(options.allowed);
  const Comparison comparison =
      results::compare(side_of(typed.sides[0], typed), side_of(typed.sides[1], typed), options);
  fmt::print("{}", typed.json ? results::to_json(comparison) + "\n" : compare_text(comparison));
  if (!results::shares_series(comparison))
    fmt::print(stderr, "no series is on both sides: {}\n",
               "what differs on purpose can be left out with --allow FIELD");
  return exit_of(comparison);
}

}  // namespace shardlab
