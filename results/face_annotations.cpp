#include <fmt/format.h>

#include <vector>

#include "results/escape.h"
#include "results/faces.h"
#include "results/finding_text.h"

namespace shardlab::results {
namespace {

/// GitHub cuts titles that are longer.
constexpr std::size_t most_title = 255;

std::string first_letters(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  text.resize(most);
  return text;
}

std::string line_of(const char* kind, const std::string& title, const std::string& message) {
  return fmt::format("::{} title={}::{}\n", kind,
                     annotation_property(first_letters(title, most_title)),
                     annotation_text(message));
}

std::string line_of(const char* kind, const Finding& finding) {
  std::string message = fmt::format("{}: {}\n{} -> {}, {}", subject_text(finding), finding.reason,
                                    side_text(finding, finding.base),
                                    side_text(finding, finding.next), change_text(finding));
  for (const std::string& line : evidence_text(finding)) message += "\n" + line;
  return line_of(kind,
                 fmt::format("{}: {} of {}", name_of(finding.verdict), finding.metric.name,
                             finding.series.scenario),
                 message);
}

/// Of one kind those that fit into `room`, the last of which counts the others.
std::string lines_of(const char* kind, const std::vector<const Finding*>& findings,
                     std::int64_t room) {
  const auto count = static_cast<std::int64_t>(findings.size());
  const std::int64_t shown = count <= room ? count : room - 1;
  std::string text;
  for (std::int64_t i = 0; i < shown; ++i) text += line_of(kind, *findings[i]);
  if (shown < count)
    text += line_of(kind, fmt::format("{} more", count - shown),
                    fmt::format("{} findings of this kind are not shown: GitHub shows {} a step. "
                                "`shardlab compare` prints all.",
                                count - shown, most_annotations));
  return text;
}

}  // namespace

std::string annotations_of(const Comparison& comparison) {
  std::vector<const Finding*> errors;
  std::vector<const Finding*> warnings;
  std::vector<const Finding*> notices;
  std::vector<const Finding*> few_sizes;
  for (const Finding& finding : comparison.findings) {
    switch (finding.verdict) {
      case Verdict::worse:
        errors.push_back(&finding);
        break;
      case Verdict::vanished:
      case Verdict::not_comparable:
        warnings.push_back(&finding);
        break;
      case Verdict::not_enough:
        (is_news(finding) ? warnings : few_sizes).push_back(&finding);
        break;
      case Verdict::undecided:
      case Verdict::better:
      case Verdict::added:
        notices.push_back(&finding);
        break;
      case Verdict::same:
        break;
    }
  }
  notices.insert(notices.end(), few_sizes.begin(), few_sizes.end());
  std::string summary =
      fmt::format("{} against {}: {}", comparison.next, comparison.base, counts_text(comparison));
  for (const std::string& note : comparison.notes) summary += "\n" + note;
  return line_of("notice", "shardlab: " + counts_text(comparison), summary) +
         lines_of("error", errors, most_annotations) +
         lines_of("warning", warnings, most_annotations) +
         lines_of("notice", notices, most_annotations - 1);
}

}  // namespace shardlab::results
