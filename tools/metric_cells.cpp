#include "tools/metric_cells.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/query.h"
#include "results/series_text.h"

namespace shardlab {

using results::CurveRow;

std::vector<std::string> metric_heads() {
  return {"metric", "unit", "median", "iterations", "interval"};
}

std::vector<std::string> metric_cells(const results::Reader& reader,
                                      const results::SeriesKey& series, results::RunId run,
                                      const results::Metric& metric) {
  const auto summary = results::summarize(reader, run, metric.name);
  // Bytes and flop of a prediction are counted, not predicted.
  const char* mark = metric.exact ? "" : results::mark_of(series);
  return {metric.name, metric.unit, summary ? fmt::format("{}{:.6g}", mark, summary->median) : "-",
          summary ? std::to_string(summary->iterations) : "-",
          summary && summary->interval
              ? fmt::format("{}{:.4g} .. {:.4g}, {:.3g} %", mark, summary->interval->low,
                            summary->interval->high, summary->coverage * 100)
              : ""};
}

bool is_untimed(const results::Curve& curve) {
  return !results::is_probe(curve.series) &&
         std::ranges::none_of(curve.rows, [](const CurveRow& row) { return !!row.seconds; }) &&
         std::ranges::any_of(curve.rows, [](const CurveRow& row) {
           return row.status == results::RunStatus::complete;
         });
}

std::vector<std::vector<std::string>> metric_rows(const results::Reader& reader,
                                                  const results::Curve& curve) {
  std::vector<std::vector<std::string>> rows;
  for (const CurveRow& row : curve.rows)
    for (const results::Metric& metric : results::metrics_of(reader, row.run)) {
      rows.push_back(metric_cells(reader, curve.series, row.run, metric));
      rows.back().insert(rows.back().begin(), row.mesh);
    }
  return rows;
}

}  // namespace shardlab
