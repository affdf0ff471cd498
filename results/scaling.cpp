#include "results/scaling.h"

#include <algorithm>
#include <tuple>

#include "results/imported.h"

namespace shardlab::results {
namespace {

std::vector<double> values_per_iteration(Database& database, RunId run, std::int64_t metric,
                                         AcrossRanks across_ranks) {
  const auto sql = [&] {
    switch (across_ranks) {
      case AcrossRanks::max:
        return "SELECT max(value) FROM sample WHERE run = ? AND metric = ? AND warmup = 0"
               " GROUP BY iteration";
      case AcrossRanks::min:
        return "SELECT min(value) FROM sample WHERE run = ? AND metric = ? AND warmup = 0"
               " GROUP BY iteration";
      case AcrossRanks::sum:
        break;
    }
    return "SELECT sum(value * ifnull(ranks, 1)) FROM sample LEFT JOIN fold"
           " ON fold.run = sample.run AND fold.rank = sample.rank"
           " WHERE sample.run = ? AND metric = ? AND warmup = 0 GROUP BY iteration";
  };
  Statement get(database, sql());
  std::vector<double> values;
  for (get.bind(run.value, metric); get.step();) values.push_back(get.real(0));
  return values;
}

std::optional<double> median_of(const Reader& reader, RunId run, const Metric& metric) {
  const auto summary = summarize(reader, run, metric.name);
  return summary ? std::optional(summary->median) : std::nullopt;
}

// Of the engine, or of the allocator of the framework that ran instead.
std::optional<double> peak_of(const Reader& reader, RunId run) {
  const auto own = median_of(reader, run, peak_bytes());
  return own ? own : median_of(reader, run, allocated_peak_bytes());
}

CheckCount count_checks(Database& database, RunId run) {
  Statement get(database,
                "SELECT count(*) FILTER (WHERE passed), count(*) FILTER (WHERE NOT passed)"
                " FROM tensor_check WHERE run = ?");
  get.bind(run.value).step();
  return {get.integer(0), get.integer(1)};
}

CurveRow row_of(const Reader& reader, const RunInfo& run) {
  CurveRow row{.mesh = run.series.mesh,
               .ranks = ranks_of(run.series.mesh),
               .run = run.id,
               .status = run.status,
               .reason = run.reason,
               .oversubscribed = run.oversubscribed,
               .peak_bytes = peak_of(reader, run.id),
               .bytes_sent = median_of(reader, run.id, bytes_sent()),
               .checks = count_checks(reader.database(), run.id)};
  if (run.status == RunStatus::complete)
    row.seconds = summarize(reader, run.id, step_seconds().name);
  return row;
}

}  // namespace

std::optional<Summary> summarize(const Reader& reader, RunId run, std::string_view metric) {
  Database& database = reader.database();
  Transaction transaction(database, Transaction::Kind::read);
  Statement get(database,
                "SELECT id, across_ranks, low, high, coverage, source FROM metric"
                " LEFT JOIN uncertainty"
                " ON uncertainty.metric = metric.id AND run = ? WHERE name = ?");
  if (!get.bind(run.value, metric).step()) return std::nullopt;
  const auto values =
      values_per_iteration(database, run, get.integer(0), across_ranks_from(get.text(1)));
  if (values.empty()) return std::nullopt;
  Summary summary{.median = median(values), .iterations = static_cast<std::int64_t>(values.size())};
  if (!get.is_null(2)) {
    summary.interval = {get.real(2), get.real(3)};
    summary.coverage = get.real(4);
    summary.source = get.text(5);
  } else if (values.size() > 1) {
    summary.interval = bootstrap_median(values);
  }
  return summary;
}

std::vector<double> iteration_values(const Reader& reader, RunId run, std::string_view metric) {
  Database& database = reader.database();
  Transaction transaction(database, Transaction::Kind::read);
  Statement get(database, "SELECT id, across_ranks FROM metric WHERE name = ?");
  if (!get.bind(metric).step()) return {};
  return values_per_iteration(database, run, get.integer(0), across_ranks_from(get.text(1)));
}

std::vector<Curve> scaling_curves(const Reader& reader, const RunFilter& filter) {
  Transaction transaction(reader.database(), Transaction::Kind::read);
  std::vector<Curve> curves;
  for (const RunInfo& run : list_runs(reader, filter)) {
    if (run.status == RunStatus::running || run.status == RunStatus::interrupted) continue;
    const SeriesKey series = without_mesh(run.series);
    const std::string environment = is_measured(series) ? run.environment : "";
    auto curve = std::ranges::find_if(
        curves, [&](const Curve& c) { return c.series == series && c.environment == environment; });
    if (curve == curves.end())
      curve = curves.insert(curves.end(), {.series = series, .environment = environment});
    if (std::ranges::find(curve->rows, run.series.mesh, &CurveRow::mesh) == curve->rows.end())
      curve->rows.push_back(row_of(reader, run));
  }
  for (Curve& curve : curves) {
    std::ranges::sort(curve.rows, {},
                      [](const CurveRow& row) { return std::tie(row.ranks, row.mesh); });
    compare_with_one_rank(curve);
  }
  return curves;
}

void compare_with_one_rank(Curve& curve) {
  const auto one = std::ranges::find_if(curve.rows, [](const CurveRow& row) {
    return row.ranks == 1 && row.seconds && row.seconds->median > 0;
  });
  if (one == curve.rows.end()) return;
  const double one_seconds = one->seconds->median;
  const bool is_one_oversubscribed = one->oversubscribed;
  for (CurveRow& row : curve.rows) {
    if (!row.seconds || row.seconds->median <= 0) continue;
    const auto ranks = static_cast<double>(row.ranks);
    row.speedup = one_seconds / row.seconds->median * (is_weak(curve.series) ? ranks : 1);
    if (!row.oversubscribed && !is_one_oversubscribed) row.efficiency = *row.speedup / ranks;
  }
}

bool is_measured(const SeriesKey& key) {
  return key.execution == Execution::cpu || key.execution == Execution::cuda;
}

bool same_problem(const SeriesKey& a, const SeriesKey& b) {
  return a.scenario == b.scenario && a.parameters == b.parameters && a.dtype == b.dtype &&
         a.train == b.train;
}

std::vector<Companion> companions(const Curve& measured, const CurveRow& row,
                                  const std::vector<Curve>& all) {
  std::vector<Companion> found;
  if (!is_measured(measured.series)) return found;
  for (const Curve& curve : all) {
    if (is_measured(curve.series) || !same_problem(curve.series, measured.series)) continue;
    const auto same = std::ranges::find(curve.rows, row.mesh, &CurveRow::mesh);
    if (same == curve.rows.end() || !same->seconds) continue;
    Companion companion{.curve = &curve, .row = &*same};
    if (row.seconds && row.seconds->median > 0 && !row.oversubscribed)
      companion.ratio = same->seconds->median / row.seconds->median;
    found.push_back(companion);
  }
  return found;
}

}  // namespace shardlab::results
