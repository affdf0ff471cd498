#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/core/scenario.h"
#include "results/published.h"
#include "tools/predict.h"

namespace shardlab {

/// One published row beside its prediction.
struct Reproduced {
  const results::PublishedRow* row = nullptr;
  Prediction prediction;
  sim::Breakdown breakdown;
  double one_rank_seconds = 0;             ///< Published, or predicted where it is not.
  sim::Breakdown one_rank;                 ///< Of the prediction on one rank.
  std::optional<double> baseline_seconds;  ///< T1 / N + c N.

  /// Relative error of the prediction, and of the baseline.
  [[nodiscard]] std::optional<double> error() const;
  [[nodiscard]] std::optional<double> baseline_error() const;
  [[nodiscard]] std::optional<double> memory_error() const;
};

/// All rows of a file, predicted from those marked `calibrate` only.
struct Reproduction {
  const results::PublishedRows* published = nullptr;
  std::vector<Reproduced> rows;
  std::vector<std::string> calibrated;  ///< What was fitted, one line each.
};

/// Calibrates the machine that the file names on its rows marked so, one mode after the other, and
/// predicts every row.
///
/// On one rank kernels of a family keep the shape of the machine's curve and get a factor: two
/// families share a row's time where both matter, solved by least squares of relative errors; where
/// attention is all there is, each row gives one point of its curve. A row on several ranks fixes
/// what a step of the ring costs the host.
[[nodiscard]] Reproduction reproduce(const Scenarios& scenarios,
                                     const results::PublishedRows& published);

}  // namespace shardlab
