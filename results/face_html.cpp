#include <fmt/format.h>

#include "results/escape.h"
#include "results/faces.h"
#include "results/finding_text.h"

namespace shardlab::results {

std::string html_of(const Comparison& comparison) {
  std::string text = fmt::format(
      "<p class=\"counts\">{}</p><p>{} <b>against</b> {}</p><div class=\"wide\"><table><thead><tr>"
      "<th class=\"text\">verdict</th><th "
      "class=\"text\">of</th><th>base</th><th>new</th><th>change</th><th "
      "class=\"text\">why</th></tr></thead>"
      "<tbody>",
      counts_text(comparison), markup_text(comparison.next), markup_text(comparison.base));
  for (const Finding& finding : comparison.findings) {
    std::string evidence;
    for (const std::string& line : evidence_text(finding))
      evidence += fmt::format("<li>{}</li>", markup_text(line));
    text += fmt::format(
        "<tr class=\"{}\"><td class=\"verdict\">{}</td><td class=\"text\">{}</td><td>{}</td>"
        "<td>{}</td><td>{}</td><td class=\"text\">{}<ul>{}</ul></td></tr>",
        finding.verdict == Verdict::worse ? "worse" : "", name_of(finding.verdict),
        markup_text(subject_text(finding)), markup_text(side_text(finding, finding.base)),
        markup_text(side_text(finding, finding.next)), markup_text(change_text(finding)),
        markup_text(finding.reason), evidence);
  }
  text += "</tbody></table></div>";
  for (const std::string& note : comparison.notes)
    text += fmt::format("<p class=\"note\">{}</p>", markup_text(note));
  return text;
}

}  // namespace shardlab::results
