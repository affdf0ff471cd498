#include "tools/report_verb.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/core/check.h"
#include "results/compare.h"
#include "results/query.h"
#include "results/svg.h"
#include "tools/json_text.h"
#include "tools/picture.h"
#include "tools/report.h"

namespace shardlab {
namespace {

using results::Plot;

/// What one cannot see on paper is twice as sharp as on a screen.
constexpr double png_scale = 2;

void check_output(const char* option, const std::string& path, const std::string& database) {
  if (path.empty()) return;
  std::error_code ignored;
  check(!std::filesystem::equivalent(path, database, ignored), "{} {}: that is the results file",
        option, path);
}

/// The run that a plot of one step shows: the one that was typed, or the newest problem's.
results::RunId run_of(const results::Reader& reader, const ReportData& data,
                      const ReportOptions& options) {
  if (!options.run.empty()) return results::find_run(reader, options.run);
  for (const results::Problem& problem : data.problems())
    for (const results::RunId run : data.traced(problem)) return run;
  fail(Fault::unsupported, "--plot {}: no run has a timeline", options.plot);
}

Plot plot_of(const results::Reader& reader, const ReportData& data, const ReportOptions& options) {
  const std::vector<std::string> known{"scaling", "efficiency", "memory", "timeline", "waterfall"};
  check(std::ranges::find(known, options.plot) != known.end(),
        "--plot {}: did you mean '{}'? There are scaling, efficiency, memory, timeline, waterfall",
        options.plot, nearest(options.plot, known));
  if (options.plot == "waterfall") return data.waterfall(run_of(reader, data, options));
  std::optional<Plot> plot;
  if (options.plot == "timeline") {
    plot = data.timeline(run_of(reader, data, options));
  } else {
    for (const results::Problem& problem : data.problems()) {
      plot = options.plot == "memory"       ? data.memory(problem)
             : options.plot == "efficiency" ? results::efficiency_plot(problem)
                                            : data.scaling(problem);
      if (plot) break;
    }
  }
  if (!plot) fail(Fault::unsupported, "--plot {}: no run has what it shows", options.plot);
  return *plot;
}

}  // namespace

Exit report_verb(const Scenarios& scenarios, const Request& request, const ReportOptions& options) {
  check(!options.output.empty() || !options.svg.empty() || !options.png.empty(),
        "report writes a page, -o report.html, or a picture of one plot, --svg or --png FILE");
  check_output("-o", options.output, request.database);
  check_output("--svg", options.svg, request.database);
  check_output("--png", options.png, request.database);
  const results::Reader reader = results::open_for_reading(request.database);
  if (!reader.notice().empty()) fmt::print(stderr, "{}\n", reader.notice());
  const ReportData data(scenarios, reader,
                        {.series = options.series, .published = options.published});
  if (data.problems().empty())
    fail(Fault::unsupported, "{}: no run to report{}", request.database,
         options.series.empty()
             ? "; `shardlab run` makes some"
             : fmt::format(" of '{}'; `shardlab show` lists all", options.series));
  nlohmann::json written = nlohmann::json::array();
  const auto wrote = [&](const std::string& path, const std::string& what) {
    written.push_back({{"file", path}, {"holds", what}});
    if (!request.json) fmt::print("{}: {}\n", path, what);
  };
  if (!options.output.empty()) {
    results::Page content =
        data.page("shardlab: " + std::filesystem::path(request.database).filename().string());
    if (!options.compare.empty())
      content.comparison =
          results::compare(results::find_side(options.compare, request.database),
                           results::find_side(request.database, request.database), {});
    const std::string page = results::page_of(content);
    write_text(options.output, page);
    wrote(options.output,
          fmt::format("{} problem{}, {} bytes; any browser opens it", data.problems().size(),
                      data.problems().size() == 1 ? "" : "s", page.size()));
  }
  if (!options.svg.empty() || !options.png.empty()) {
    const Plot plot = plot_of(reader, data, options);
    if (!options.svg.empty()) {
      write_text(options.svg, results::svg_file(plot, results::Theme::both));
      wrote(options.svg, plot.title);
    }
    if (!options.png.empty()) {
      write_png(options.png, results::svg_file(plot, results::Theme::light), png_scale);
      wrote(options.png, plot.title);
    }
  }
  if (request.json) fmt::print("{}\n", json_text(written));
  return Exit::fine;
}

}  // namespace shardlab
