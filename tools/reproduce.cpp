#include "tools/reproduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "engine/core/check.h"
#include "engine/sim/machines.h"
#include "tools/calibrate_rates.h"

namespace shardlab {
namespace {

using results::PublishedRow;
using results::PublishedRows;

std::optional<double> relative(double predicted, const std::optional<double>& published) {
  if (!published) return std::nullopt;
  return predicted / *published - 1;
}

/// Everything that is known while the rows of one file are predicted.
class Reproducer {
 public:
  Reproducer(const Scenarios& scenarios, const PublishedRows& published)
      : published_(published), scenario_(scenarios.find(published.scenario)) {
    result_.published = &published;
    options_[0].machine = options_[1].machine = sim::find_machine(published.machine);
    options_[0].profile = options_[1].profile = sim::find_profile(published.profile);
  }

  Reproduction run() {
    calibrate_mode(false);
    options_[1].machine = options_[0].machine;
    calibrate_mode(true);
    for (const PublishedRow& row : published_.rows) predict_row(row);
    return std::move(result_);
  }

 private:
  [[nodiscard]] Params params_of(const PublishedRow& row) const {
    Params params = scenario_.preset("paper");
    for (const auto& [name, value] : published_.fixed) params.set(name, value);
    for (const auto& [name, value] : row.parameters) params.set(name, value);
    params.precision = parse_precision(published_.dtype);
    params.train = row.train;
    return params;
  }

  /// Traces are made once a row and priced many times.
  const std::shared_ptr<const TracedRanks>& traced(const PublishedRow& row, int gpus) {
    std::string key = fmt::format("{} {}", row.train, gpus);
    for (const auto& [name, value] : row.parameters) key += fmt::format(" {}={}", name, value);
    const auto found = traces_.find(key);
    if (found != traces_.end()) return found->second;
    return traces_
        .emplace(key, std::make_shared<const TracedRanks>(
                          trace_ranks(scenario_, params_of(row), Mesh({{"domain", gpus}}))))
        .first->second;
  }

  Prediction predicted(const PublishedRow& row, int gpus, const PredictOptions& options) {
    return predict(traced(row, gpus), params_of(row), Mesh({{"domain", gpus}}), options);
  }

  [[nodiscard]] bool calibrates(const PublishedRow& row, bool train) const {
    return row.train == train && row.use == PublishedRow::Use::calibrate && row.seconds;
  }

  void calibrate_mode(bool train) {
    std::vector<RatedTrace> single;
    for (const PublishedRow& row : published_.rows)
      if (calibrates(row, train) && row.gpus == 1)
        single.push_back({traced(row, 1)->folded.front().steps(), *row.seconds});
    PredictOptions& options = options_[train ? 1 : 0];
    if (!single.empty())
      for (const std::string& line :
           calibrate_rates(options.machine, parse_precision(published_.dtype), single,
                           fmt::format("{} on one GPU", published_.name)))
        result_.calibrated.push_back(fmt::format("{}: {}", train ? "training" : "inference", line));
    for (const PublishedRow& row : published_.rows)
      if (calibrates(row, train) && row.gpus > 1) calibrate_ring(options, row, train);
  }

  /// The cost of a ring's step with which the prediction of `row` is what was published.
  void calibrate_ring(PredictOptions& options, const PublishedRow& row, bool train) {
    double low = 0;
    double high = 10e-3;
    for (int i = 0; i < 40; ++i) {
      options.profile.ring_step.value = (low + high) / 2;
      const bool slow = predicted(row, row.gpus, options).simulated.seconds > *row.seconds;
      (slow ? high : low) = options.profile.ring_step.value;
    }
    result_.calibrated.push_back(fmt::format("{}: a step of the ring costs the host {:.3f} ms",
                                             train ? "training" : "inference",
                                             options.profile.ring_step.value * 1e3));
  }

  [[nodiscard]] const PublishedRow* same_on(const PublishedRow& row, int gpus) const {
    for (const PublishedRow& other : published_.rows)
      if (other.train == row.train && other.gpus == gpus && other.parameters == row.parameters &&
          other.seconds)
        return &other;
    return nullptr;
  }

  /// c of T1 / N + c N, from the calibration row on several ranks; 0 if there is none.
  [[nodiscard]] double baseline_slope(bool train) const {
    for (const PublishedRow& row : published_.rows) {
      if (!calibrates(row, train) || row.gpus == 1) continue;
      const PublishedRow* one = same_on(row, 1);
      if (one != nullptr) return (*row.seconds - *one->seconds / row.gpus) / row.gpus;
    }
    return 0;
  }

  void predict_row(const PublishedRow& row) {
    const PredictOptions& options = options_[row.train ? 1 : 0];
    Reproduced reproduced;
    reproduced.row = &row;
    reproduced.prediction = predicted(row, row.gpus, options);
    reproduced.breakdown = sim::breakdown(spans_of(reproduced.prediction.simulated));
    const Prediction one = predicted(row, 1, options);
    reproduced.one_rank = sim::breakdown(spans_of(one.simulated));
    const PublishedRow* published_one = same_on(row, 1);
    reproduced.one_rank_seconds =
        published_one != nullptr ? *published_one->seconds : one.simulated.seconds;
    if (published_one != nullptr)
      reproduced.baseline_seconds = *published_one->seconds / row.gpus +
                                    (row.gpus > 1 ? baseline_slope(row.train) * row.gpus : 0);
    result_.rows.push_back(std::move(reproduced));
  }

  const PublishedRows& published_;
  const Scenario& scenario_;
  std::array<PredictOptions, 2> options_;  ///< Inference, training.
  std::map<std::string, std::shared_ptr<const TracedRanks>> traces_;
  Reproduction result_;
};

}  // namespace

std::optional<double> Reproduced::error() const {
  return relative(prediction.simulated.seconds, row->seconds);
}

std::optional<double> Reproduced::baseline_error() const {
  return baseline_seconds ? relative(*baseline_seconds, row->seconds) : std::nullopt;
}

std::optional<double> Reproduced::memory_error() const {
  return relative(prediction.memory.allocated / 0x1p30, row->peak_gib);
}

Reproduction reproduce(const Scenarios& scenarios, const PublishedRows& published) {
  return Reproducer(scenarios, published).run();
}

}  // namespace shardlab
