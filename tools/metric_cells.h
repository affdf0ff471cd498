#pragma once

#include <string>
#include <vector>

#include "results/reader.h"
#include "results/run.h"
#include "results/scaling.h"

namespace shardlab {

/// The heads of metric_cells.
[[nodiscard]] std::vector<std::string> metric_heads();

/// One metric of a run in short: its name, unit, median, iterations and interval.
///
/// What is predicted and not counted begins with `~`.
[[nodiscard]] std::vector<std::string> metric_cells(const results::Reader& reader,
                                                    const results::SeriesKey& series,
                                                    results::RunId run,
                                                    const results::Metric& metric);

/// Whether a curve holds runs that are done, and none of them timed steps: a scaling table shows
/// nothing of them.
[[nodiscard]] bool is_untimed(const results::Curve& curve);

/// All metrics of the runs of a curve, the mesh before the cells of each.
[[nodiscard]] std::vector<std::vector<std::string>> metric_rows(const results::Reader& reader,
                                                                const results::Curve& curve);

}  // namespace shardlab
