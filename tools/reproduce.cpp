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
      : scenarios_(scenarios),
        published_(published),
        scenario_(scenarios.find(published.scenario)) {
    result_.published = &published;
    options_[0].machine = options_[1].machine = sim::find_machine(published.machine);
    options_[0].profile = options_[1].profile = sim::find_profile(published.profile);
  }

  Reproduction run() {
    calibrate_mode(false);
    options_[1].machine = options_[0].machine;
    calibrate_mode(true);
    for (const PublishedRow& row : published_.rows)
      row.use == PublishedRow::Use::show ? show_row(row) : predict_row(row);
    return std::move(result_);
  }

 private:
  [[nodiscard]] Params params_of(const PublishedRow& row) const {
    return shardlab::params_of(scenarios_, published_, row);
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

  /// Seconds of a step on one rank in which its device has nothing to do yet.
  double host_alone(const PublishedRow& row, const PredictOptions& options) {
    const Prediction one = predicted(row, 1, options);
    return one.simulated.seconds - sim::breakdown(spans_of(one.simulated)).kernels;
  }

  void calibrate_mode(bool train) {
    PredictOptions& options = options_[train ? 1 : 0];
    std::vector<RatedTrace> single;
    for (const PublishedRow& row : published_.rows)
      if (calibrates(row, train) && row.gpus == 1)
        single.push_back(
            {traced(row, 1)->folded.front().steps(), *row.seconds - host_alone(row, options)});
    if (!single.empty())
      for (const std::string& line :
           calibrate_rates(options.machine, options.profile, parse_precision(published_.dtype),
                           single, fmt::format("{} on one GPU", published_.name)))
        result_.calibrated.push_back(fmt::format("{}: {}", train ? "training" : "inference", line));
    for (const PublishedRow& row : published_.rows)
      if (calibrates(row, train) && row.gpus > 1) calibrate_ring(options, row, train);
  }

  /// The cost of a ring's message with which the prediction of `row` is what was published.
  void calibrate_ring(PredictOptions& options, const PublishedRow& row, bool train) {
    double low = 0;
    double high = 10e-3;
    for (int i = 0; i < 40; ++i) {
      options.profile.ring_message.value = (low + high) / 2;
      const bool slow = predicted(row, row.gpus, options).simulated.seconds > *row.seconds;
      (slow ? high : low) = options.profile.ring_message.value;
    }
    result_.calibrated.push_back(fmt::format("{}: a message of the ring costs the host {:.3f} ms",
                                             train ? "training" : "inference",
                                             options.profile.ring_message.value * 1e3));
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
    reproduced.breakdown = sim::breakdown(spans_of(reproduced.prediction.simulated), 0);
    const Prediction one = predicted(row, 1, options);
    reproduced.one_rank = sim::breakdown(spans_of(one.simulated), 0);
    const PublishedRow* published_one = same_on(row, 1);
    reproduced.one_rank_seconds =
        published_one != nullptr ? *published_one->seconds : one.simulated.seconds;
    if (published_one != nullptr)
      reproduced.baseline_seconds = *published_one->seconds / row.gpus +
                                    (row.gpus > 1 ? baseline_slope(row.train) * row.gpus : 0);
    result_.rows.push_back(std::move(reproduced));
  }

  /// The row on every machine and in every dtype that it is shown for.
  void show_row(const PublishedRow& row) {
    const auto or_one = [](std::vector<std::string> all, const std::string& one) {
      if (all.empty()) all.push_back(one);
      return all;
    };
    PredictOptions options;
    options.profile = sim::find_profile(published_.profile);
    for (const std::string& machine : or_one(published_.show_machines, published_.machine))
      for (const std::string& dtype : or_one(published_.show_dtypes, published_.dtype)) {
        options.machine = sim::find_machine(machine);
        Params params = params_of(row);
        params.precision = parse_precision(dtype);
        const auto on = [&](int gpus) {
          return predict(scenario_, params, Mesh({{"domain", gpus}}), options);
        };
        const Prediction one = on(1);
        const double seconds =
            row.gpus == 1 ? one.simulated.seconds : on(row.gpus).simulated.seconds;
        result_.shown.push_back(
            {&row, machine, dtype, seconds, one.simulated.seconds, one.fit.fits});
      }
  }

  const Scenarios& scenarios_;
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

std::optional<double> crossing(const Reproduction& reproduction, bool train, int gpus,
                               bool predicted) {
  const std::string& parameter = reproduction.published->regime_parameter;
  std::optional<std::pair<double, double>> before;  // Logarithms of the parameter and the ratio.
  for (const Reproduced& each : reproduction.rows) {
    const auto found = each.row->parameters.find(parameter);
    if (each.row->train != train || each.row->gpus != gpus || !each.row->seconds ||
        found == each.row->parameters.end())
      continue;
    const double seconds = predicted ? each.prediction.simulated.seconds : *each.row->seconds;
    const std::pair here{std::log(std::stod(found->second)),
                         std::log(seconds / each.one_rank_seconds)};
    if (before && before->second > 0 && here.second <= 0)
      return std::exp(before->first + before->second / (before->second - here.second) *
                                          (here.first - before->first));
    before = here;
  }
  return std::nullopt;
}

Params params_of(const Scenarios& scenarios, const PublishedRows& published,
                 const PublishedRow& row) {
  Params params = scenarios.find(published.scenario).preset("paper");
  for (const auto& [name, value] : published.fixed) params.set(name, value);
  for (const auto& [name, value] : row.parameters) params.set(name, value);
  params.precision = parse_precision(published.dtype);
  params.train = row.train;
  return params;
}

Reproduction reproduce(const Scenarios& scenarios, const PublishedRows& published) {
  if (published.rows.empty()) {
    Reproduction waiting;
    waiting.published = &published;
    return waiting;
  }
  return Reproducer(scenarios, published).run();
}

}  // namespace shardlab
