#include "tools/explain_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/core/check.h"
#include "results/query.h"
#include "results/reader.h"
#include "results/scaling.h"
#include "tools/json_text.h"
#include "tools/record.h"
#include "tools/reproduce_verb.h"
#include "tools/table.h"

namespace shardlab {
namespace {

/// The stored steps of a run as spans; calls are matched by axes and number, or in order of
/// appearance where the run is too old to name them.
std::vector<sim::RankSpans> spans_of(const results::StoredRun& run,
                                     const results::Timeline& timeline) {
  std::map<std::int32_t, sim::RankSpans> ranks;
  std::map<std::tuple<std::int32_t, std::string, std::string>, std::uint64_t> seen;
  for (const results::Step& step : timeline.steps) {
    sim::RankSpans& rank = ranks[step.rank];
    rank.rank = step.rank;
    sim::Span span;
    span.op = step.op;
    const bool communicates = step.lane.starts_with("comm");
    if (communicates) {
      const bool wait = step.op.starts_with("wait ");
      span.kind = wait ? sim::Span::Kind::wait : sim::Span::Kind::transfer;
      if (wait) span.op = step.op.substr(5);
      if (const std::optional<StoredCall> call = call_of(step)) {
        span.lane = call->axes;
        span.sequence = call->number;
      } else {
        span.lane = step.lane + span.op;
        span.sequence = ++seen[{step.rank, span.lane, wait ? "wait" : "start"}];
      }
    }
    span.begin = step.begin_seconds;
    span.end = step.end_seconds;
    if (communicates || step.lane == "compute") rank.spans.push_back(std::move(span));
  }
  std::vector<sim::RankSpans> all;
  for (auto& [number, rank] : ranks) {
    for (const results::Fold& fold : run.rows.folds)
      if (fold.rank == number) rank.members = static_cast<int>(fold.ranks);
    all.push_back(std::move(rank));
  }
  return all;
}

void print(const sim::Waterfall& waterfall, const std::string& title, const std::string& ideal,
           const std::string& total) {
  fmt::print("{}\n", title);
  Table table({"cause", "time", "of the total"});
  const auto row = [&](const std::string& name, double seconds) {
    table.row({name, (seconds < 0 ? "-" : "") + show_seconds(std::abs(seconds)),
               fmt::format("{:.1f} %", 100 * seconds / waterfall.total)});
  };
  row(ideal, waterfall.ideal);
  for (const sim::Cause& cause : waterfall.causes) row(cause.name, cause.seconds);
  row("unexplained", waterfall.unexplained);
  row(total, waterfall.total);
  fmt::print("{}", table.text());
}

/// What a cause means, by how its name begins.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> meanings{{
    {"small or less", "kernels of the rank in the middle, beyond its share of those of one rank"},
    {"kernels more", "kernels of the rank in the middle, below its share: caches, for one"},
    {"launch and host", "time between kernels in which no call is waited for, beyond its share"},
    {"communication", "data are under way, and the rank can do nothing else meanwhile"},
    {"kernels slowed", "kernels that run beside a communication take longer"},
    {"imbalance", "kernels of this rank take longer than those of the rank in the middle"},
    {"waiting", "another rank came late to a call, or ended later"},
}};

void print_meanings(const std::vector<sim::Cause>& causes) {
  for (const auto& [begin, text] : meanings)
    if (std::any_of(causes.begin(), causes.end(), [begin = begin](const sim::Cause& cause) {
          return cause.name.starts_with(begin);
        }))
      fmt::print("  {} ...: {}\n", begin, text);
  fmt::print("  unexplained: the total less all of the above\n\n");
}

nlohmann::json json_of(const sim::Waterfall& waterfall, const std::string& title) {
  nlohmann::json causes = nlohmann::json::array();
  for (const sim::Cause& cause : waterfall.causes)
    causes.push_back({{"cause", cause.name}, {"seconds", cause.seconds}});
  return {{"title", title},
          {"total_seconds", waterfall.total},
          {"ideal_seconds", waterfall.ideal},
          {"causes", causes},
          {"unexplained_seconds", waterfall.unexplained}};
}

void explain_published(const Scenarios& scenarios, const std::string& name, const Request& request,
                       int at, nlohmann::json& all) {
  const results::PublishedRows published = published_named(name);
  const Reproduction reproduction = reproduce(scenarios, published);
  int most = 1;
  for (const results::PublishedRow& row : published.rows) most = std::max(most, row.gpus);
  const int gpus = at > 0 ? at : most;
  bool found = false;
  for (const Reproduced& each : reproduction.rows) {
    if (each.row->gpus != gpus || !each.row->seconds) continue;
    found = true;
    const sim::Waterfall waterfall = sim::explain(each.one_rank, each.breakdown, gpus,
                                                  each.one_rank_seconds, *each.row->seconds);
    std::string title =
        fmt::format("{} {} on {} GPUs", name, each.row->train ? "training" : "inference", gpus);
    for (const auto& [parameter, value] : each.row->parameters)
      title += fmt::format(", {} {}", parameter, value);
    if (request.json)
      all.push_back(json_of(waterfall, title));
    else {
      print(waterfall, title, "ideal: published on one GPU, divided", "published");
      fmt::print("\n");
    }
  }
  check(found, "explain {} --at {}: no published time on so many GPUs", name, gpus);
}

/// A run that a person named, as tables or as JSON.
void explain_run(const results::Reader& reader, const std::string& name, const Request& request,
                 nlohmann::json& all) {
  const Explained explained = explain_stored(reader, results::find_run(reader, name));
  if (request.json) {
    all.push_back(json_of(explained.waterfall, explained.title));
    return;
  }
  print(explained.waterfall, explained.title, explained.ideal, "this run");
  print_meanings(explained.waterfall.causes);
}

}  // namespace

Explained explain_stored(const results::Reader& reader, results::RunId id) {
  const results::StoredRun run = results::read_run(reader, id);
  const results::Timeline timeline = results::read_timeline(reader, run.id);
  if (timeline.steps.empty())
    fail(Fault::unsupported, "run {} has no timeline: it was stored with --no-timeline",
         run.id.value);
  const sim::Breakdown many = sim::breakdown(spans_of(run, timeline));
  const results::SeriesKey& series = run.header.series;
  const int ranks = Mesh::parse(series.mesh).size();
  // The newest run of the same problem on one rank.
  sim::Breakdown one = many;
  bool compared = ranks == 1;
  std::int64_t beside = run.id.value;
  for (const results::RunInfo& other : results::list_runs(reader)) {
    if (ranks == 1 || other.status != results::RunStatus::complete ||
        Mesh::parse(other.series.mesh).size() != 1)
      continue;
    results::SeriesKey same = other.series;
    same.mesh = series.mesh;
    if (!(same == series)) continue;
    const results::Timeline its = results::read_timeline(reader, other.id);
    if (its.steps.empty()) continue;
    one = sim::breakdown(spans_of(results::read_run(reader, other.id), its));
    compared = true;
    beside = other.id.value;
    break;
  }
  if (!compared)
    fail(Fault::unsupported,
         "run {}: no run of the same problem on one rank to compare with; add --ranks 1",
         run.id.value);
  // With the sizes of a rank held, nothing is divided.
  const bool weak = results::is_weak(series);
  Explained explained{
      .waterfall = sim::explain(one, many, weak ? 1 : ranks, one.total, many.total),
      .ideal = weak ? "ideal: one rank" : "ideal: one rank, divided",
      .title = fmt::format("run {}: {} on {}{}{}", run.id.value, series.scenario, series.mesh,
                           series.train ? ", training" : "",
                           series.machine.empty() ? "" : ", predicted on " + series.machine)};
  std::string& title = explained.title;
  title += fmt::format("\n  one step, on rank {}, whose kernels take longest", many.rank);
  if (ranks > 1) title += fmt::format("; one rank is run {}", beside);
  const auto median = results::summarize(reader, run.id, results::step_seconds().name);
  if (results::is_measured(series) && median) {
    title += fmt::format("\n  traced step {}, median of {} timed ones {}", show_seconds(many.total),
                         median->iterations, show_seconds(median->median));
    if (std::abs(many.total / median->median - 1) > 0.25)
      title += ": this step is not typical, run it again on an idle machine";
  }
  return explained;
}

Exit explain_verb(const Scenarios& scenarios, const Request& request, int at) {
  nlohmann::json all = nlohmann::json::array();
  std::optional<results::Reader> reader;
  for (const std::string& name : request.names) {
    const bool run = std::all_of(name.begin(), name.end(),
                                 [](char c) { return c == '-' || std::isxdigit(c) != 0; });
    if (!run) {
      explain_published(scenarios, name, request, at, all);
      continue;
    }
    if (!reader) reader.emplace(results::open_for_reading(request.database));
    explain_run(*reader, name, request, all);
  }
  if (request.json) fmt::print("{}\n", json_text(all));
  return Exit::fine;
}

}  // namespace shardlab
