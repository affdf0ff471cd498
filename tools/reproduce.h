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

/// A published row that is not judged, predicted as one machine and dtype say, uncalibrated.
struct Shown {
  const results::PublishedRow* row = nullptr;
  std::string machine, dtype;
  double seconds = 0;
  double one_rank_seconds = 0;
  bool one_rank_fits = true;
};

/// All rows of a file, predicted from those marked `calibrate` only.
struct Reproduction {
  const results::PublishedRows* published = nullptr;
  std::vector<Reproduced> rows;         ///< Those that are judged.
  std::vector<Shown> shown;             ///< Each row to show, for every machine and dtype.
  std::vector<std::string> calibrated;  ///< What was fitted, one line each.
};

/// The value of the regime's parameter from which `gpus` are faster than one, on the straight lines
/// through the logarithms of the rows; empty where they always or never are.
[[nodiscard]] std::optional<double> crossing(const Reproduction& reproduction, bool train, int gpus,
                                             bool predicted);

/// The problem of a row.
[[nodiscard]] Params params_of(const Scenarios& scenarios, const results::PublishedRows& published,
                               const results::PublishedRow& row);

/// Calibrates the machine that the file names on its rows marked so, one mode after the other, and
/// predicts every row.
///
/// Rows on one rank give the curve of attention, a point a row, behind what the host takes before
/// the first kernel; all other kernels are priced as the machine says. A row on several ranks fixes
/// what a message round the ring costs the host.
[[nodiscard]] Reproduction reproduce(const Scenarios& scenarios,
                                     const results::PublishedRows& published);

}  // namespace shardlab
