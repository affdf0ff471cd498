#include "tools/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "results/plot_memory.h"
#include "results/plot_timeline.h"
#include "results/plot_waterfall.h"
#include "results/query.h"
#include "results/series_text.h"
#include "results/show.h"
#include "tools/explain_verb.h"
#include "tools/metric_cells.h"
#include "tools/published_curves.h"

namespace shardlab {
namespace {

using results::Curve;
using results::CurveRow;
using results::Execution;
using results::Plot;
using results::Problem;

/// Every word of `words` occurs in the title or the parameters.
bool is_meant(const Problem& problem, const std::string& words) {
  const std::string text = problem.title + " " + results::parameters_of(problem.series);
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    if (text.find(words.substr(begin, end - begin)) == std::string::npos) return false;
    begin = end + 1;
  }
  return true;
}

bool is_only_published(const Problem& problem) {
  return std::ranges::all_of(problem.curves,
                             [](const Curve* curve) { return curve->rows.front().run.value == 0; });
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The lines of a title but the first.
std::vector<std::string> other_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t end = text.find('\n'); end != std::string::npos;) {
    const std::size_t begin = text.find_first_not_of(' ', end + 1);
    end = text.find('\n', end + 1);
    if (begin != std::string::npos) lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

std::string title_of_step(const results::StoredRun& run) {
  return fmt::format("One step of run {}: {} on {}, {}", run.id.value, run.header.series.scenario,
                     run.header.series.mesh, results::place_of(run.header.series));
}

results::Twin runs_of(const std::vector<results::RunInfo>& runs) {
  results::Twin twin{
      {"run", "created", "scenario", "mesh", "dtype", "mode", "on", "status", "commit"}, {}};
  for (const results::RunInfo& run : runs) {
    std::string status = results::name_of(run.status);
    if (run.oversubscribed) status += ", oversubscribed";
    if (!run.reason.empty()) status += ": " + run.reason;
    twin.rows.push_back({std::to_string(run.id.value), run.created.substr(0, 16),
                         run.series.scenario, run.series.mesh, run.series.dtype,
                         results::mode_of(run.series), results::place_of(run.series), status,
                         run.commit.substr(0, 8) + (run.dirty ? " with changes" : "")});
  }
  return twin;
}

}  // namespace

ReportData::ReportData(const Scenarios& scenarios, const results::Reader& reader,
                       const ReportChoice& choice)
    : reader_(reader), choice_(choice), curves_(results::scaling_curves(reader)) {
  std::vector<Curve> published = published_curves(scenarios);
  std::ranges::move(published, std::back_inserter(curves_));
  for (Problem& problem : results::problems_of(curves_))
    if ((choice.published || !is_only_published(problem)) && is_meant(problem, choice.series))
      problems_.push_back(std::move(problem));
}

std::vector<results::RunId> ReportData::traced(const Problem& problem) const {
  std::vector<results::RunId> runs;
  for (const bool measured : {true, false}) {
    std::vector<const CurveRow*> rows;
    for (const Curve* curve : problem.curves)
      for (const CurveRow& row : curve->rows)
        if (row.run.value > 0 && row.status == results::RunStatus::complete &&
            results::is_measured(curve->series) == measured)
          rows.push_back(&row);
    std::ranges::stable_sort(rows, std::greater<>(), &CurveRow::ranks);
    const auto has_steps = [this](const CurveRow* row) {
      return !results::read_timeline(reader_, row->run, 0).steps.empty();
    };
    const auto found = std::ranges::find_if(rows, has_steps);
    if (found != rows.end()) runs.push_back((*found)->run);
  }
  return runs;
}

std::optional<Plot> ReportData::scaling(const Problem& problem) const {
  return results::scaling_plot(problem);
}

std::optional<Plot> ReportData::memory(const Problem& problem) const {
  return results::memory_plot("Memory: " + problem.title, results::memory_of(reader_, problem));
}

std::optional<Plot> ReportData::metrics(const Problem& problem) const {
  Plot plot{.title = "Metrics: " + problem.title};
  plot.twin.header = metric_heads();
  plot.twin.header.insert(plot.twin.header.begin(), "mesh");
  for (const Curve* curve : problem.curves)
    if (is_untimed(*curve))
      std::ranges::move(metric_rows(reader_, *curve), std::back_inserter(plot.twin.rows));
  return plot.twin.rows.empty() ? std::nullopt : std::optional(std::move(plot));
}

std::optional<Plot> ReportData::timeline(results::RunId id) const {
  const results::StoredRun run = results::read_run(reader_, id);
  return results::timeline_plot(title_of_step(run), run, results::read_timeline(reader_, id));
}

Plot ReportData::waterfall(results::RunId id) const {
  const Explained explained = explain_stored(reader_, id);
  const sim::Waterfall& waterfall = explained.waterfall;
  std::vector<results::Part> parts{{explained.ideal, waterfall.ideal}};
  for (const sim::Cause& cause : waterfall.causes) parts.push_back({cause.name, cause.seconds});
  parts.push_back({"unexplained", waterfall.unexplained});
  const bool predicted =
      results::read_run(reader_, id).header.series.execution == Execution::predict;
  Plot plot = results::waterfall_plot("Where the time goes, " + first_line(explained.title), parts,
                                      {"this run", waterfall.total}, predicted);
  plot.notes = other_lines(explained.title);
  return plot;
}

results::Page ReportData::page(const std::string& title) const {
  results::Page page{.title = title};
  const std::vector<results::RunInfo> runs = results::list_runs(reader_);
  std::int64_t measured = 0;
  std::set<std::string> commits;
  for (const results::RunInfo& run : runs) {
    measured += results::is_measured(run.series) ? 1 : 0;
    if (!run.commit.empty()) commits.insert(run.commit);
  }
  page.facts.emplace_back("runs", fmt::format("{}, of them {} measured", runs.size(), measured));
  page.facts.emplace_back("problems", std::to_string(problems_.size()));
  page.facts.emplace_back("commits", std::to_string(commits.size()));
  if (!runs.empty())
    page.facts.emplace_back("newest run", runs.front().created.substr(0, 16) + " UTC");
  int detailed = 0;
  for (const Problem& problem : problems_) {
    results::Section section{.title = problem.title,
                             .about = results::parameters_of(problem.series)};
    for (std::optional<Plot> plot :
         {scaling(problem), results::efficiency_plot(problem), memory(problem), metrics(problem)})
      if (plot) section.plots.push_back(std::move(*plot));
    if (detailed++ < choice_.detailed) {
      for (const results::RunId run : traced(problem)) {
        if (std::optional<Plot> plot = timeline(run)) section.plots.push_back(std::move(*plot));
        try {
          section.plots.push_back(waterfall(run));
        } catch (const Error& error) {
          if (error.fault() != Fault::unsupported) throw;
          section.plots.back().notes.emplace_back(error.what());
        }
      }
    }
    page.sections.push_back(std::move(section));
  }
  page.runs = runs_of(runs);
  return page;
}

}  // namespace shardlab
