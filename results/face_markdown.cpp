#include <fmt/format.h>

#include <vector>

#include "results/escape.h"
#include "results/faces.h"
#include "results/finding_text.h"

namespace shardlab::results {
namespace {

/// Text that ends before it becomes too long.
class Comment {
 public:
  explicit Comment(std::string head) : text_(std::move(head)) {}

  /// Whole blocks of lines: the head only with at least one line.
  void block(const std::string& head, const std::vector<std::string>& lines,
             const std::string& end) {
    std::size_t shown = 0;
    for (const std::string& line : lines) {
      const std::string next = (shown == 0 ? head : "") + line;
      if (text_.size() + next.size() + end.size() + reserve > most_markdown) break;
      text_ += next;
      ++shown;
    }
    if (shown > 0) text_ += end;
    left_out_ += lines.size() - shown;
  }

  [[nodiscard]] std::string text() const {
    return left_out_ == 0 ? text_
                          : text_ + fmt::format(
                                        "\n{} lines are left out: a comment takes {} characters. "
                                        "`shardlab compare --json` prints all.\n",
                                        left_out_, most_markdown);
  }

 private:
  static constexpr std::size_t reserve = 200;  // for the line that counts what is left out
  std::string text_;
  std::size_t left_out_ = 0;
};

std::string row_of(const Finding& finding) {
  const bool worse = finding.verdict == Verdict::worse;
  return fmt::format("| {}{}{} | {} | {} | {} | {} | {} |\n", worse ? "**" : "",
                     name_of(finding.verdict), worse ? "**" : "",
                     markdown_text(subject_text(finding)),
                     markdown_text(side_text(finding, finding.base)),
                     markdown_text(side_text(finding, finding.next)),
                     markdown_text(change_text(finding)), markdown_text(finding.reason));
}

constexpr const char* table_head =
    "| verdict | of | base | new | change | why |\n|---|---|---:|---:|---:|---|\n";

std::string folded(const std::string& title) {
  return fmt::format("\n<details><summary>{}</summary>\n\n", title);
}

}  // namespace

std::string markdown_of(const Comparison& comparison) {
  std::vector<std::string> changed;
  std::vector<std::string> same;
  std::vector<std::string> evidence;
  for (const Finding& finding : comparison.findings) {
    const bool is_same = finding.verdict == Verdict::same;
    (is_same ? same : changed).push_back(row_of(finding));
    std::string lines =
        fmt::format("- {}: {}\n", name_of(finding.verdict), markdown_text(subject_text(finding)));
    for (const std::string& line : evidence_text(finding))
      lines += fmt::format("  - {}\n", markdown_text(line));
    evidence.push_back(std::move(lines));
  }
  std::vector<std::string> notes;
  for (const std::string& note : comparison.notes)
    notes.push_back(fmt::format("- {}\n", markdown_text(note)));
  Comment comment(fmt::format("### shardlab: {}\n\nbase: {}  \nnew: {}\n", counts_text(comparison),
                              markdown_text(comparison.base), markdown_text(comparison.next)));
  comment.block(std::string("\n") + table_head, changed, "");
  comment.block("\n", notes, "");
  comment.block(folded(fmt::format("{} the same", same.size())) + table_head, same,
                "\n</details>\n");
  comment.block(folded("evidence"), evidence, "\n</details>\n");
  return comment.text();
}

}  // namespace shardlab::results
