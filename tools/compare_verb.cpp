#include "tools/compare_verb.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "engine/core/check.h"
#include "engine/core/scenario.h"
#include "results/compare.h"
#include "results/comparison_json.h"
#include "results/faces.h"
#include "tools/ab.h"
#include "tools/compare_text.h"
#include "tools/picture.h"

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

Comparison compare_stored(const CompareVerbOptions& typed) {
  check(typed.sides.size() == 2,
        "compare takes two sides, each a database file, a run, a commit, a branch or a date, or "
        "--ab and two commands; {} given",
        typed.sides.size());
  check(!typed.confirm && typed.keep.empty(),
        "--confirm and --keep need --ab: stored sides are not measured again");
  const results::Side base = side_of(typed.sides[0], typed), next = side_of(typed.sides[1], typed);
  return results::compare(base, next, typed.options);
}

Comparison compare_pairs(const CompareVerbOptions& typed) {
  Ab ab({.commands = {typed.commands[0], typed.commands[1]}, .seed = typed.options.seed});
  const bool watched = isatty(STDERR_FILENO) != 0;
  for (int pair = 1; pair <= typed.pairs; ++pair) {
    if (watched) fmt::print(stderr, "\rpair {} of {} ", pair, typed.pairs);
    ab.run_pair();
  }
  if (watched) fmt::print(stderr, "\r\x1b[K");
  Comparison comparison = results::compare(ab.side(0), ab.side(1), typed.options);
  comparison.notes.push_back(
      ab.took_turns()
          ? fmt::format(
                "{} pairs of starts, each in turns; a change is the middle one of the pairs",
                typed.pairs)
          : fmt::format("{} pairs, one after the other; a change is the middle one of the pairs",
                        typed.pairs));
  for (std::size_t i = 0; i < typed.keep.size(); ++i) ab.keep(static_cast<int>(i), typed.keep[i]);
  return comparison;
}

/// Alarms that a second set of pairs does not raise again become undecided.
void confirm(Comparison& comparison, const Comparison& again) {
  for (Finding& finding : comparison.findings) {
    if (finding.verdict != Verdict::worse || finding.metric.exact) continue;
    const auto second = std::ranges::find_if(again.findings, [&](const Finding& each) {
      return each.subject == finding.subject && each.series == finding.series &&
             each.metric == finding.metric;
    });
    if (second != again.findings.end() && second->verdict == Verdict::worse) {
      finding.reason += "; a second set of pairs confirms it: " + second->reason;
      continue;
    }
    finding.verdict = Verdict::undecided;
    finding.reason += "; a second set of pairs does not confirm it";
    if (second != again.findings.end()) finding.reason += ": " + second->reason;
  }
}

/// Where files are kept is looked at before the minutes that measuring takes.
void check_kept(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    check(!std::filesystem::exists(file), "--keep {}: is there already", file);
    const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
    check(access(folder.c_str(), W_OK | X_OK) == 0, "--keep {}: {}", file, std::strerror(errno));
  }
  check(files.empty() || std::filesystem::absolute(files[0]).lexically_normal() !=
                             std::filesystem::absolute(files[1]).lexically_normal(),
        "--keep: {} for both commands; expected two files", fmt::join(files, " and "));
}

Comparison compare_ab(const CompareVerbOptions& typed) {
  check(typed.sides.empty(), "--ab runs two commands and takes no sides, found {}",
        fmt::join(typed.sides, " "));
  check(typed.pairs >= 2, "--pairs {}: at least 2 are needed", typed.pairs);
  check_kept(typed.keep);
  Comparison comparison = compare_pairs(typed);
  const bool suspect = std::ranges::any_of(comparison.findings, [](const Finding& finding) {
    return finding.verdict == Verdict::worse && !finding.metric.exact;
  });
  if (typed.confirm && suspect) {
    CompareVerbOptions again = typed;
    again.keep.clear();
    again.options.seed = typed.options.seed + 1;
    confirm(comparison, compare_pairs(again));
    results::sort_worst_first(comparison);
  }
  return comparison;
}

/// Two sides without a quantity in common: how near they come.
void say_what_differs(const Comparison& comparison) {
  const auto first = [&](Verdict verdict) {
    return std::ranges::find_if(comparison.findings, [verdict](const Finding& finding) {
      return finding.verdict == verdict && finding.metric.name == results::all_quantities;
    });
  };
  const auto gone = first(Verdict::vanished), added = first(Verdict::added);
  std::string fields;
  if (gone != comparison.findings.end() && added != comparison.findings.end())
    fields = fmt::format(", they differ in {}",
                         fmt::join(results::differences(results::fields_of(gone->series),
                                                        results::fields_of(added->series)),
                                   ", "));
  const bool apart = gone != comparison.findings.end() || added != comparison.findings.end();
  if (apart)
    fmt::print(stderr,
               "no series is on both sides{}; --allow FIELD leaves out what differs on purpose\n",
               fields);
  else
    fmt::print(stderr, "no quantity is on both sides\n");
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
  check(options.floor > 0 && options.floor < 10, "--floor {}: expected a part such as 0.02",
        options.floor);
  check_allowed(options.allowed);
  check(!typed.json || !typed.annotations,
        "--annotations and --json both print to stdout; take one of them");
  for (const std::string& file : {typed.markdown, typed.junit})
    if (!file.empty()) spare_database(file);
  const Comparison comparison = typed.commands.empty() ? compare_stored(typed) : compare_ab(typed);
  fmt::print("{}", typed.json ? results::to_json(comparison) + "\n" : compare_text(comparison));
  if (typed.annotations) fmt::print("{}", results::annotations_of(comparison));
  if (!typed.markdown.empty()) write_text(typed.markdown, results::markdown_of(comparison));
  if (!typed.junit.empty()) write_text(typed.junit, results::junit_of(comparison));
  if (!results::shares_series(comparison)) say_what_differs(comparison);
  return exit_of(comparison);
}

}  // namespace shardlab
