#include "tools/measure.h"

#include <algorithm>
#include <mutex>

#include "engine/engine.h"
#include "tools/turn_gate.h"

namespace shardlab {
namespace {

AxisList all_axes(const Mesh& mesh) {
  AxisList axes;
  for (int axis = 0; axis < mesh.ndim(); ++axis) axes.push_back(axis);
  return axes;
}

/// The largest of one number a rank.
double over_ranks(Worker& worker, double mine) {
  if (worker.mesh().size() == 1 || !worker.backend().has_values()) return mine;
  const NoGrad no_grad(worker);
  const Tensor part = allocate(worker, {{1}, Dtype::float64, nullptr}, Category::communication);
  write(part, &mine);
  Layout layout(worker.mesh(), 1);
  layout.set_partial(all_axes(worker.mesh()), Reduction::max);
  return value_of(whole(part, worker.layouts().intern(layout), {1}));
}

/// The measurement of one rank.
class RankRun {
 public:
  RankRun(Worker& worker, int rank, const Scenario& scenario, const Params& params,
          const MeasureOptions& options, Measurement& measurement, std::mutex& mutex)
      : worker_(worker),
        rank_(rank),
        options_(options),
        measurement_(measurement),
        mutex_(mutex),
        program_(scenario.start(worker, params)) {}

  void run() {
    first();
    for (int i = 1; i < options_.warmup; ++i) (void)iterate();
    Stopping stopping(options_.rule());
    while (!stopping.enough())
      if (options_.gate != nullptr)
        turn(stopping);
      else
        // All ranks decide from the same times.
        stopping.add(options_.iterations > 0 ? iterate() : over_ranks(worker_, iterate()));
    if (options_.timeline) {
      worker_.trace().keep(true);
      worker_.trace().clear();
      barrier();
      (void)program_->step(false);
      worker_.backend().synchronize();
      worker_.trace().keep(false);
    }
    program_.reset();
    const std::lock_guard lock(mutex_);
    mine_.trace = std::move(worker_.trace());
    mine_.answers = std::move(worker_.answers());
    if (rank_ == options_.launch.first_rank) measurement_.stopped = stopping.text();
    measurement_.tables[static_cast<std::size_t>(rank_ - options_.launch.first_rank)] =
        worker_.shared_layouts();
    measurement_.ranks[static_cast<std::size_t>(rank_ - options_.launch.first_rank)] =
        std::move(mine_);
  }

 private:
  void barrier() {
    if (worker_.mesh().size() > 1) worker_.communicator(all_axes(worker_.mesh())).barrier();
  }

  std::vector<Named> timed_step(bool with_gradients) {
    Ledger& ledger = worker_.backend().ledger();
    ledger.reset_peak();
    worker_.backend().reset_library_peak();
    worker_.trace().clear();
    barrier();
    const double begin = Trace::now_seconds();
    std::vector<Named> results = program_->step(with_gradients);
    worker_.backend().synchronize();
    mine_.seconds.push_back(Trace::now_seconds() - begin);
    mine_.totals = worker_.trace().totals();
    mine_.peak_bytes = ledger.peak();
    mine_.library_peak_bytes = worker_.backend().library_peak_bytes();
    for (int c = 0; c < category_count; ++c)
      mine_.at_peak[c] = ledger.at_peak(static_cast<Category>(c));
    return results;
  }

  void note_loss(const std::vector<Named>& results) {
    if (!worker_.backend().has_values()) return;
    for (const Named& named : results) {
      if (named.kind != Named::Kind::loss) continue;
      const double loss = value_of(named.value);
      if (rank_ == 0) measurement_.losses.push_back(loss);
    }
  }

  void first() {
    const std::vector<Named> results = timed_step(options_.values);
    note_loss(results);
    if (options_.values)
      for (const Named& named : results) {
        std::vector<double> values = values_of(named.value);
        if (rank_ == 0) measurement_.values.push_back({named.kind, named.name, std::move(values)});
      }
    if (rank_ != options_.launch.first_rank) return;
    for (const Tensor& parameter : worker_.parameters())
      measurement_.parameters += parameter.shape().count();
    measurement_.notes = worker_.notes();
  }

  double iterate() {
    note_loss(timed_step(false));
    mine_.live_bytes_after = worker_.backend().ledger().live();
    return mine_.seconds.back();
  }

  /// Where nobody said how many iterations, a turn counts as one of their middle length.
  void turn(Stopping& stopping) {
    options_.gate->pass();
    double sum = 0;
    std::int64_t count = 0;
    const bool fixed = options_.iterations > 0;
    while (count == 0 || (sum < options_.turn_seconds && !stopping.enough())) {
      const double seconds = over_ranks(worker_, iterate());
      sum += seconds;
      ++count;
      if (fixed) stopping.add(seconds);
    }
    if (!fixed) stopping.add(sum / static_cast<double>(count));
    if (rank_ == options_.launch.first_rank) measurement_.turns.push_back(count);
  }

  Worker& worker_;
  int rank_;
  const MeasureOptions& options_;
  Measurement& measurement_;
  std::mutex& mutex_;
  std::unique_ptr<Program> program_;
  RankMeasure mine_;
};

}  // namespace

Measurement measure(const Execution& execution, const Scenario& scenario, const Params& params,
                    const MeasureOptions& options) {
  check(options.warmup >= 1, "--warmup: at least 1 iteration is needed, got {}", options.warmup);
  (void)Stopping(options.rule());
  Measurement measurement;
  measurement.warmup = options.warmup;
  const int ranks = options.launch.ranks < 0 ? options.launch.mesh.size() : options.launch.ranks;
  measurement.ranks.resize(static_cast<std::size_t>(ranks));
  measurement.tables.resize(static_cast<std::size_t>(ranks));
  std::mutex mutex;
  if (options.gate != nullptr) options.gate->open(ranks);
  launch(execution, options.launch, [&](Worker& worker, int rank) {
    try {
      RankRun(worker, rank, scenario, params, options, measurement, mutex).run();
    } catch (...) {
      if (options.gate != nullptr) options.gate->abandon();
      throw;
    }
  });
  return measurement;
}

}  // namespace shardlab
