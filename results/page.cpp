#include "results/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "results/escape.h"
#include "results/faces.h"
#include "results/svg.h"

namespace shardlab::results {

extern const char* const report_css;

namespace {

/// Digits before the first space, as of `~1.5 ms` or `0.87x`, unlike those of a date or a commit.
bool is_number(const std::string& text) {
  const std::size_t first = text.starts_with('~') ? 1 : 0;
  std::string word = text.substr(first, text.find(' ', first) - first);
  if (word.starts_with('-')) word.erase(0, 1);
  return text == "-" || (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0 &&
                         word.find_first_not_of("0123456789.,-+ex%") == std::string::npos);
}

/// A column of numbers stands to the right; null: it is empty.
std::vector<const char*> classes_of(const Twin& twin) {
  std::vector<const char*> classes(twin.header.size(), nullptr);
  for (const auto& row : twin.rows)
    for (std::size_t c = 0; c < std::min(row.size(), classes.size()); ++c)
      if (!row[c].empty() && !is_number(row[c]))
        classes[c] = " class=\"text\"";
      else if (!row[c].empty() && classes[c] == nullptr)
        classes[c] = "";
  return classes;
}

std::string table_of(const Twin& twin) {
  const std::vector<const char*> classes = classes_of(twin);
  std::string text = "<div class=\"wide\"><table><thead><tr>";
  for (std::size_t c = 0; c < classes.size(); ++c)
    if (classes[c] != nullptr)
      text += fmt::format("<th{}>{}</th>", classes[c], markup_text(twin.header[c]));
  text += "</tr></thead><tbody>";
  for (const auto& row : twin.rows) {
    text += "<tr>";
    for (std::size_t c = 0; c < std::min(row.size(), classes.size()); ++c)
      if (classes[c] != nullptr)
        text += fmt::format("<td{}>{}</td>", classes[c], markup_text(row[c]));
    text += "</tr>";
  }
  return text + "</tbody></table></div>";
}

/// The title of a plot without what that of its section says already.
std::string caption_of(const Plot& plot, const Section& section) {
  const std::string end = ": " + section.title;
  return plot.title.ends_with(end) ? plot.title.substr(0, plot.title.size() - end.size())
                                   : plot.title;
}

std::string figure_of(const Plot& plot, const Section& section, bool drawn) {
  std::string text =
      "<figure><figcaption>" + markup_text(caption_of(plot, section)) + "</figcaption>";
  if (!is_worth_drawing(plot)) return text + table_of(plot.twin) + "</figure>";
  if (drawn) text += "<div class=\"wide\">" + svg_of(plot) + "</div>";
  for (const std::string& note : plot.notes)
    text += "<p class=\"note\">" + markup_text(note) + "</p>";
  if (!plot.twin.rows.empty())
    text +=
        "<details open><summary>the same as a table</summary>" + table_of(plot.twin) + "</details>";
  return text + "</figure>";
}

constexpr const char* up = "<a class=\"up\" href=\"#\">top</a>";

std::string section_of(const Section& section, std::size_t number, bool drawn) {
  std::string text =
      fmt::format("<section id=\"s{}\"><h2>{}{}</h2>", number, up, markup_text(section.title));
  if (!section.about.empty()) text += "<p class=\"about\">" + markup_text(section.about) + "</p>";
  for (const Plot& plot : section.plots) text += figure_of(plot, section, drawn);
  return text + "</section>";
}

std::string contents_of(const Page& page, std::size_t shown) {
  std::string text = "<nav><ul>";
  if (page.comparison) text += "<li><a href=\"#verdicts\">verdicts</a></li>";
  for (std::size_t i = 0; i < shown; ++i)
    text += fmt::format("<li><a href=\"#s{}\">{}</a></li>", i, markup_text(page.sections[i].title));
  return text + "<li><a href=\"#runs\">runs</a></li></ul></nav>";
}

std::string head_of(const Page& page) {
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
      "<meta name=\"color-scheme\" content=\"light dark\">"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';img-src data:;"
      "style-src 'unsafe-inline'\"><link rel=\"icon\" "
      "href=\"data:,\"><title>{0}</title><style>{1}{2}</style></head><body>"
      "<svg class=\"plot\" width=\"0\" height=\"0\" style=\"position:absolute\" "
      "aria-hidden=\"true\">{3}</svg><header><h1>{0}</h1>",
      markup_text(page.title), report_css, svg_style(Theme::both), svg_patterns());
  text += "<dl>";
  for (const auto& [name, value] : page.facts)
    text += fmt::format("<dt>{}</dt><dd>{}</dd>", markup_text(name), markup_text(value));
  return text + "</dl></header>";
}

}  // namespace

std::string page_of(const Page& page) {
  const std::string runs =
      fmt::format("<section id=\"runs\"><h2>{}Runs</h2>{}</section>", up, table_of(page.runs));
  const std::string head = head_of(page);
  std::string text = "<main>";
  if (page.comparison)
    text += "<section id=\"verdicts\"><h2>Verdicts</h2>" + html_of(*page.comparison) + "</section>";
  const std::size_t around =
      head.size() + contents_of(page, page.sections.size()).size() + runs.size();
  std::size_t tables_only = 0;
  std::size_t shown = 0;
  for (; shown < page.sections.size(); ++shown) {
    const auto fits = [&](const std::string& section) {
      return text.size() + section.size() + around < most_page;
    };
    const Section& section = page.sections[shown];
    const std::string drawn = section_of(section, shown, true);
    const std::string tables = fits(drawn) ? "" : section_of(section, shown, false);
    if (!fits(drawn) && !fits(tables)) break;
    text += tables.empty() ? drawn : tables;
    tables_only += tables.empty() ? 0 : 1;
  }
  const std::size_t left_out = page.sections.size() - shown;
  if (tables_only + left_out > 0)
    text += fmt::format(
        "<p class=\"note\">The page takes {} bytes: {} older problems keep their tables only, {} "
        "are not shown.</p>",
        most_page, tables_only, left_out);
  const bool is_long = page.sections.size() > 1;
  return head + (is_long ? contents_of(page, shown) : "") + text + runs + "</main></body></html>\n";
}

}  // namespace shardlab::results
