#include "tools/record.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/core/check.h"
#include "tools/build_info.h"
#include "tools/environment.h"

namespace shardlab {
namespace {

/// One number a rank, of the last timed iteration.
template <typename Value>
results::MetricSamples per_rank(const Measurement& measurement, results::Metric metric,
                                const Value& value) {
  results::MetricSamples samples{std::move(metric), {}};
  for (std::size_t r = 0; r < measurement.ranks.size(); ++r) {
    const RankMeasure& rank = measurement.ranks[r];
    samples.samples.push_back({static_cast<std::int64_t>(rank.seconds.size()) - 1,
                               measurement.number(r), false, static_cast<double>(value(rank))});
  }
  return samples;
}

/// `comm:domain`, `comm:data+domain`; numbers of lanes depend on which was opened first.
std::string lane_of(const Step& step, const Mesh& mesh) {
  if (step.lane.kind != Lane::Kind::comm) return to_string(step.lane);
  return "comm:" + names_of(mesh, step.axes);
}

}  // namespace

std::string parameters_json(const Scenario& scenario, const Params& params) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, value] : params.all()) json[name] = value;
  for (const ParamSpec& spec : scenario.params)
    if (!spec.unwritten.empty() && json.value(spec.name, "") == spec.unwritten)
      json.erase(spec.name);
  return json.dump();
}

results::RunHeader header_of(const Case& tested, const std::string& execution,
                             const Request& request) {
  const BuildInfo build = build_info();
  results::RunHeader header;
  header.series.scenario = tested.scenario->name;
  header.series.parameters = parameters_json(*tested.scenario, tested.stored);
  header.series.dtype = name_of(tested.params.precision);
  header.series.train = tested.params.train;
  header.series.mesh = tested.mesh.text();
  header.series.execution = results::execution_from(execution);
  header.environment = this_environment();
  header.commit = build.commit;
  header.dirty = build.dirty;
  header.oversubscribed = tested.mesh.size() > usable_cores();
  header.seed = static_cast<std::int64_t>(tested.params.seed);
  header.command = request.command_line;
  header.variables = this_variables();
  return header;
}

results::Rows rows_of(const Measurement& measurement) {
  results::Rows rows;
  results::MetricSamples seconds{results::step_seconds(), {}};
  for (std::size_t r = 0; r < measurement.ranks.size(); ++r) {
    const std::vector<double>& times = measurement.ranks[r].seconds;
    for (std::size_t i = 0; i < times.size(); ++i)
      seconds.samples.push_back({static_cast<std::int64_t>(i), measurement.number(r),
                                 static_cast<int>(i) < measurement.warmup, times[i]});
  }
  rows.metrics.push_back(std::move(seconds));
  if (!measurement.losses.empty()) {
    results::MetricSamples loss{results::loss(), {}};
    for (std::size_t i = 0; i < measurement.losses.size(); ++i)
      loss.samples.push_back({static_cast<std::int64_t>(i), results::whole_mesh,
                              static_cast<int>(i) < measurement.warmup, measurement.losses[i]});
    rows.metrics.push_back(std::move(loss));
  }
  const auto add = [&](results::Metric metric, const auto& value) {
    rows.metrics.push_back(per_rank(measurement, std::move(metric), value));
  };
  add(results::bytes_sent(), [](const RankMeasure& r) { return r.totals.bytes_received; });
  add(results::flop(), [](const RankMeasure& r) { return r.totals.flop; });
  add(results::collectives(), [](const RankMeasure& r) { return r.totals.collectives; });
  add(results::dispatches(), [](const RankMeasure& r) { return r.totals.dispatches; });
  add(results::peak_bytes(), [](const RankMeasure& r) { return r.peak_bytes; });
  for (int c = 0; c < category_count; ++c) {
    const auto category = static_cast<Category>(c);
    add(results::peak_bytes(name_of(category)), [c, category](const RankMeasure& r) {
      return category == Category::library ? r.library_peak_bytes : r.at_peak[c];
    });
  }
  return rows;
}

results::Timeline timeline_of(const Measurement& measurement, const Mesh& mesh) {
  results::Timeline timeline;
  double zero = std::numeric_limits<double>::infinity();
  for (const RankMeasure& rank : measurement.ranks)
    for (const Step& step : rank.trace.steps()) zero = std::min(zero, step.begin_seconds);
  for (std::size_t r = 0; r < measurement.ranks.size(); ++r) {
    const RankMeasure& rank = measurement.ranks[r];
    const auto iteration = static_cast<std::int64_t>(rank.seconds.size());
    const std::string* scope = nullptr;
    std::int64_t ordinal = 0;
    for (const Step& step : rank.trace.steps()) {
      if (step.scope != nullptr && step.scope != scope)
        timeline.scopes.push_back({measurement.number(r),
                                   iteration,
                                   static_cast<std::int64_t>(timeline.scopes.size()),
                                   {},
                                   *step.scope,
                                   step.begin_seconds - zero,
                                   step.end_seconds - zero});
      if (step.scope != nullptr) timeline.scopes.back().end_seconds = step.end_seconds - zero;
      scope = step.scope;
      results::Step row;
      row.rank = measurement.number(r);
      row.iteration = iteration;
      row.ordinal = ordinal++;
      if (scope != nullptr) row.scope = timeline.scopes.back().ordinal;
      row.op = step.kind == Step::Kind::wait ? fmt::format("wait {}", step.op) : step.op;
      row.lane = lane_of(step, mesh);
      row.begin_seconds = step.begin_seconds - zero;
      row.end_seconds = step.end_seconds - zero;
      row.flop = step.flop;
      row.bytes = step.bytes;
      row.live_bytes = step.live_bytes;
      row.detail =
          step.layout == nullptr ? to_string(step.local) : to_string(*step.layout, step.shape);
      if (step.sequence != 0 && step.layout != nullptr)
        row.detail +=
            fmt::format(" over {} #{}", names_of(step.layout->mesh(), step.axes), step.sequence);
      timeline.steps.push_back(std::move(row));
    }
  }
  return timeline;
}

std::optional<StoredCall> call_of(const results::Step& step) {
  constexpr std::string_view over = " over ";
  const std::string_view detail = step.detail;
  const std::size_t axes = detail.rfind(over);
  const std::size_t hash = detail.rfind(" #");
  if (axes == std::string_view::npos || hash == std::string_view::npos || hash < axes)
    return std::nullopt;
  StoredCall call;
  call.axes = detail.substr(axes + over.size(), hash - axes - over.size());
  const char* end = detail.data() + detail.size();
  const auto [stopped, error] = std::from_chars(detail.data() + hash + 2, end, call.number);
  if (error != std::errc() || stopped != end || call.number == 0) return std::nullopt;
  return call;
}

}  // namespace shardlab
