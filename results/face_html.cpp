#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "results/escape.h"
#include "results/faces.h"
#include "results/finding_text.h"
#include "results/series_text.h"

namespace shardlab::results {
namespace {

/// What is the same takes no more bytes, so that the page has room for its plots.
constexpr std::size_t most_same = 2'500'000;

/// So many runs of a side are named; JSON has all.
constexpr std::size_t most_runs = 5;

/// So many letters of a commit or of a uuid find it again.
constexpr std::size_t id_letters = 8;

/// The attribute that gives a verdict its colour.
const char* class_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::worse:
    case Verdict::vanished:
      return " class=\"bad\"";
    case Verdict::not_comparable:
    case Verdict::not_enough:
    case Verdict::undecided:
      return " class=\"open\"";
    case Verdict::better:
      return " class=\"good\"";
    case Verdict::added:
    case Verdict::same:
      break;
  }
  return "";
}

/// A cell of a number with its interval on a line of its own.
std::string number_cell(const std::string& number, const std::string& interval) {
  std::string text = "<td>" + markup_text(number);
  if (!interval.empty()) text += "<small>" + markup_text(interval) + "</small>";
  return text + "</td>";
}

std::string side_cell(const Finding& finding, const std::optional<Evidence>& side) {
  const bool sampled = side && side->samples > 0;
  return number_cell(sampled ? value_text(finding, side->median) : "-",
                     sampled ? interval_text(finding, side) : "");
}

/// Where the numbers of one side come from.
struct Origin {
  std::string commit = {};
  std::string runs = {};
};

Origin origin_of(const std::optional<Evidence>& side) {
  Origin origin;
  if (!side) return origin;
  if (!side->commit.empty()) origin.commit = "commit " + side->commit.substr(0, id_letters);
  for (std::size_t i = 0; i < std::min(side->runs.size(), most_runs); ++i)
    origin.runs += (i == 0 ? "run " : " ") + side->runs[i].substr(0, id_letters);
  if (side->runs.size() > most_runs)
    origin.runs += fmt::format(" and {} more", side->runs.size() - most_runs);
  return origin;
}

struct Origins {
  Origin base = {};
  Origin next = {};
};

/// Those of the first finding that has each side; they stand in the heading.
Origins origins_of(const std::vector<const Finding*>& findings) {
  Origins origins;
  for (const Finding* finding : findings) {
    if (origins.base.runs.empty()) origins.base = origin_of(finding->base);
    if (origins.next.runs.empty()) origins.next = origin_of(finding->next);
  }
  return origins;
}

/// What of an origin the heading does not say yet: `; base: run 1234abcd`.
std::string origin_text(const char* side, const Origin& origin, const Origin& known = {}) {
  std::string text = origin.commit == known.commit ? "" : origin.commit;
  if (origin.runs != known.runs && !origin.runs.empty())
    text += (text.empty() ? "" : ", ") + origin.runs;
  return text.empty() ? "" : fmt::format("; {}: {}", side, text);
}

std::string origins_text(const Origins& origins, const Origins& known) {
  const std::string text =
      origin_text("base", origins.base, known.base) + origin_text("new", origins.next, known.next);
  return text.empty() ? text : text.substr(2);
}

/// Nothing of what was counted once.
std::string samples_text(const Finding& finding) {
  const std::int64_t base = finding.base ? finding.base->samples : 0;
  const std::int64_t next = finding.next ? finding.next->samples : 0;
  if (base + next == 0 || (finding.metric.exact && base <= 1 && next <= 1)) return "";
  return fmt::format("{} and {} {}", base, next,
                     finding.subject == Subject::curve ? "sizes" : "samples");
}

/// The reason, what grew, and in small letters what stands behind it.
std::string why_cell(const Finding& finding, const Origins& heading) {
  std::string text = "<td>" + markup_text(finding.reason);
  if (const std::string differing = differing_text(finding); !differing.empty())
    text += "; " + markup_text(differing);
  if (!finding.causes.empty()) {
    text += "<ul>";
    for (const std::string& cause : finding.causes) text += "<li>" + markup_text(cause) + "</li>";
    text += "</ul>";
  }
  std::vector<std::string> evidence = test_text(finding);
  evidence.insert(evidence.begin(), samples_text(finding));
  evidence.push_back(origins_text({origin_of(finding.base), origin_of(finding.next)}, heading));
  std::string joined;
  for (const std::string& part : evidence)
    if (!part.empty()) joined += (joined.empty() ? "" : "; ") + part;
  if (!joined.empty()) text += "<small>" + markup_text(joined) + "</small>";
  return text + "</td>";
}

std::string row_of(const Finding& finding, const Origins& heading) {
  return fmt::format("<tr{}><td>{}{}</td>{}{}{}<td>{}</td>{}</tr>", class_of(finding.verdict),
                     finding.subject == Subject::curve ? "scaling: " : "",
                     markup_text(finding.metric.name), side_cell(finding, finding.base),
                     side_cell(finding, finding.next),
                     number_cell(ratio_text(finding), ratio_interval_text(finding)),
                     name_of(finding.verdict), why_cell(finding, heading));
}

std::string group_of(const std::vector<const Finding*>& findings) {
  const SeriesKey& series = findings.front()->series;
  const Origins origins = origins_of(findings);
  std::string text = "<tbody><tr class=\"series\"><th class=\"text\" colspan=\"6\">" +
                     markup_text(title_of(series));
  if (!series.mesh.empty()) text += ", " + markup_text(series.mesh);
  if (const std::string parameters = parameters_of(series); !parameters.empty())
    text += "<small>" + markup_text(parameters) + "</small>";
  if (const std::string from = origins_text(origins, {}); !from.empty())
    text += "<small>" + markup_text(from) + "</small>";
  text += "</th></tr>";
  for (const Finding* finding : findings) text += row_of(*finding, origins);
  return text + "</tbody>";
}

std::string table_of(const std::string& groups) {
  return "<div class=\"wide\"><table class=\"verdicts\"><thead><tr><th class=\"text\">metric</th>"
         "<th>base</th><th>new</th><th>change</th><th class=\"text\">verdict</th>"
         "<th class=\"text\">why</th></tr></thead>" +
         groups + "</table></div>";
}

}  // namespace

std::string html_of(const Comparison& comparison) {
  std::string changed, same;
  std::size_t left_out = 0;
  for (const std::vector<const Finding*>& group : by_series(comparison)) {
    std::vector<const Finding*> moved, kept;
    for (const Finding* finding : group)
      (finding->verdict == Verdict::same ? kept : moved).push_back(finding);
    if (!moved.empty()) changed += group_of(moved);
    if (same.size() > most_same)
      left_out += kept.size();
    else if (!kept.empty())
      same += group_of(kept);
  }
  std::string text = fmt::format(
      "<p class=\"counts\">{}</p><dl><dt>base</dt><dd>{}</dd><dt>new</dt><dd>{}</dd></dl>",
      counts_text(comparison), markup_text(comparison.base), markup_text(comparison.next));
  if (!changed.empty()) text += table_of(changed);
  if (!same.empty())
    text += fmt::format("<details><summary>{} the same</summary>{}</details>",
                        comparison.count(Verdict::same), table_of(same));
  if (left_out > 0)
    text += fmt::format(
        "<p class=\"note\">{} more that are the same are left out; `shardlab compare --json` "
        "prints all.</p>",
        left_out);
  if (comparison.notes.empty()) return text;
  text += "<ul class=\"notes\">";
  for (const std::string& note : comparison.notes)
    text += fmt::format("<li>{}</li>", markup_text(note));
  return text + "</ul>";
}

}  // namespace shardlab::results
