#pragma once

#include <optional>
#include <vector>

#include "results/plot.h"
#include "results/scaling.h"

namespace shardlab::results {

/// Curves of the same work: measured, predicted, published.
struct Problem {
  SeriesKey series;   ///< Of its first curve.
  std::string title;  ///< With the parameters in which it differs from problems like it.
  std::vector<const Curve*> curves;
};

/// Curves by what they do, in the order of their first ones; probes are left out.
[[nodiscard]] std::vector<Problem> problems_of(const std::vector<Curve>& curves);

/// What tells a curve from the others of its problem: `cpu`, `~dgx-h100:8`, `published dgx-a100`.
[[nodiscard]] std::string name_of(const Problem& problem, const Curve& curve);

/// Step time over ranks on two logarithmic axes, each curve beside its ideal line.
///
/// Measured points are filled discs on a line, predicted ones squares on a dashed line, published
/// ones hollow. Nothing joins points over a number of ranks that another curve has and this one
/// has not, or at which it failed. Nothing is returned where no run has a time.
[[nodiscard]] std::optional<Plot> scaling_plot(const Problem& problem);

/// Speedup by ranks, over the same axis; only of curves that have one rank.
[[nodiscard]] std::optional<Plot> efficiency_plot(const Problem& problem);

}  // namespace shardlab::results
