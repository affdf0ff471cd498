#include "tools/published_curves.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/published.h"
#include "tools/record.h"
#include "tools/reproduce.h"

namespace shardlab {

std::vector<results::Curve> published_curves(const Scenarios& scenarios) {
  std::vector<results::Curve> curves;
  for (const results::PublishedFile& file : results::published_files()) {
    const results::PublishedRows published = results::read_published(file.text, file.name);
    for (const results::PublishedRow& row : published.rows) {
      if (!row.seconds) continue;
      const Params params = params_of(scenarios, published, row);
      const results::SeriesKey series = results::canonical(
          {.scenario = published.scenario,
           .parameters = parameters_json(scenarios.find(published.scenario), params),
           .dtype = published.dtype,
           .train = row.train,
           .mesh = fmt::format("domain={}", row.gpus),
           .execution = results::Execution::published,
           .machine = published.machine,
           .profile = published.profile});
      const results::SeriesKey key = results::without_mesh(series);
      auto curve = std::ranges::find(curves, key, &results::Curve::series);
      if (curve == curves.end()) curve = curves.insert(curves.end(), {.series = key});
      results::CurveRow point{.mesh = series.mesh, .ranks = row.gpus};
      point.seconds = results::Summary{.median = *row.seconds, .source = row.kind};
      if (row.peak_gib) point.peak_bytes = *row.peak_gib * 1024 * 1024 * 1024;
      curve->rows.push_back(std::move(point));
    }
  }
  for (results::Curve& curve : curves) {
    std::ranges::sort(curve.rows, {}, &results::CurveRow::ranks);
    results::compare_with_one_rank(curve);
  }
  return curves;
}

}  // namespace shardlab
