#include <algorithm>

#include "engine/core/check.h"
#include "tools/exact_compare.h"

namespace shardlab {
namespace {

using results::Finding;
using results::SeriesKey;
using results::Verdict;

constexpr std::size_t shown_in_full = 4;
constexpr std::size_t most_lines = 20;

/// The findings of one series.
struct Group {
  const SeriesKey* key = nullptr;
  std::vector<const Finding*> findings;
};

std::vector<Group> groups_of(const results::Comparison& comparison) {
  std::vector<Group> groups;
  for (const Finding& finding : comparison.findings) {
    auto group = std::ranges::find_if(
        groups, [&](const Group& each) { return *each.key == finding.series; });
    if (group == groups.end()) group = groups.insert(group, Group{&finding.series, {}});
    group->findings.push_back(&finding);
  }
  return groups;
}

/// A category is said among the causes of the whole peak, if that changed too.
bool is_said_elsewhere(const Group& group, const Finding& finding) {
  return finding.metric.name.starts_with("peak_bytes.") &&
         std::ranges::any_of(group.findings,
                             [](const Finding* each) { return each->metric.name == "peak_bytes"; });
}

std::string in_full(const Group& group) {
  std::string text = exact_title(*group.key) + "\n";
  for (const Finding* finding : group.findings) {
    if (is_said_elsewhere(group, *finding)) continue;
    text += fmt::format("  {:<12} {}\n", finding->metric.name, finding->reason);
    for (const std::string& cause : finding->causes) text += fmt::format("      {}\n", cause);
  }
  return text;
}

std::string in_short(const Group& group) {
  std::string changes;
  for (const Finding* finding : group.findings) {
    if (is_said_elsewhere(group, *finding)) continue;
    changes += changes.empty() ? "" : ", ";
    if (finding->base && finding->next)
      changes += fmt::format("{} {:+.0f}", finding->metric.name,
                             finding->next->median - finding->base->median);
    else
      changes += finding->reason;
  }
  return fmt::format("{}: {}\n", exact_title(*group.key), changes);
}

/// What only one side has needs no more than its line.
bool is_one_line(const Group& group) {
  const Finding& first = *group.findings.front();
  return group.findings.size() == 1 && !(first.base && first.next) && first.causes.empty();
}

}  // namespace

std::string exact_text(const results::Comparison& comparison, const std::string& command) {
  if (comparison.findings.empty()) return {};
  const std::vector<Group> groups = groups_of(comparison);
  std::string text = fmt::format(
      "exact quantities of {} series differ from the committed ones:\n\n", groups.size());
  std::size_t full = 0;
  std::size_t lines = 0;
  std::string others;
  for (const Group& group : groups)
    if (full < shown_in_full && !is_one_line(group)) {
      text += in_full(group) + "\n";
      ++full;
    } else if (++lines <= most_lines) {
      others += in_short(group);
    }
  if (lines > most_lines) others += fmt::format("and {} more series\n", lines - most_lines);
  if (lines > 0) text += others + "\n";
  return text + "Calls, payload and flop are of all ranks together. If this is meant:\n  " +
         command + "\n";
}

}  // namespace shardlab
