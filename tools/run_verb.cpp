#include <algorithm>
#include <cstdio>
#include <optional>

#include "engine/core/check.h"
#include "results/store.h"
#include "results/turns.h"
#include "tools/check.h"
#include "tools/executions.h"
#include "tools/interleave.h"
#include "tools/machine_state.h"
#include "tools/measure.h"
#include "tools/record.h"
#include "tools/request.h"
#include "tools/show.h"
#include "tools/stopping.h"
#include "tools/turn_gate.h"

namespace shardlab {
namespace {

constexpr int block_iterations = 5;

/// A run that is measured in blocks.
struct Slot {
  const Case* planned = nullptr;
  results::RunId id;
  Stopping stopping;
  Measurement measurement = {};
  std::vector<TimedBlock> blocks = {};
  bool failed = false;

  [[nodiscard]] bool is_open() const { return !failed && !stopping.enough(); }
};

/// All runs of one command.
class Runs {
 public:
  Runs(const Scenarios& scenarios, const Request& request)
      : request_(request),
        execution_(execution_named(request.execution)),
        // All of it is read before the first run, so that a typing error costs nothing.
        cases_(sweep(scenarios, request)),
        rule_{request.iterations, request.precision, request.budget_seconds},
        gate_(TurnGate::of_environment()) {
    (void)Stopping(rule_);
  }

  Exit run() {
    store_.emplace(request_.database);
    if (request_.interleave)
      interleaved();
    else
      for (const Case& each : cases_) one(each);
    return exit_;
  }

  [[nodiscard]] const std::vector<results::RunId>& ids() const { return ids_; }

 private:
  results::RunId start(const Case& planned) {
    ids_.push_back(store_->start_run(header_of(planned, execution_.name, request_)));
    return ids_.back();
  }

  void one(const Case& planned) {
    const results::RunId id = start(planned);
    progress("{} ...", planned.title());
    guarded(id, [&] {
      const MachineState before = machine_state();
      const Measurement measurement =
          measure(execution_, *planned.scenario, planned.params, options_of(planned));
      if (!measurement.stopped.empty()) progress("{}", measurement.stopped);
      const std::vector<std::string> doubts =
          set_state(id, planned, measurement, before, machine_state(), {});
      for (const std::string& doubt : doubts) progress("warning: {}: times are doubtful", doubt);
      keep(planned, id, measurement);
    });
  }

  /// Every open run has one block a round, so that a machine that changes changes all of them.
  void interleaved() {
    std::vector<Slot> slots;
    for (const Case& planned : cases_) slots.push_back({&planned, start(planned), Stopping(rule_)});
    progress("{} runs in blocks of {} iterations, in an order from seed {}", slots.size(),
             block_iterations, request_.seed);
    const MachineState before = machine_state();
    int order = 0;
    for (int round = 0; std::ranges::any_of(slots, &Slot::is_open); ++round) {
      for (const std::size_t which :
           shuffled(slots.size(), static_cast<std::uint64_t>(request_.seed), round))
        if (slots[which].is_open()) block(slots[which], round, order++);
    }
    const MachineState after = machine_state();
    std::vector<std::string> doubts;
    for (Slot& slot : slots) {
      if (slot.failed) continue;
      if (const std::string text = slot.stopping.text(); !text.empty())
        progress("{}: {}", slot.planned->title(), text);
      guarded(slot.id, [&] {
        doubts = set_state(slot.id, *slot.planned, slot.measurement, before, after, slot.blocks);
        keep(*slot.planned, slot.id, slot.measurement);
      });
    }
    for (const std::string& doubt : doubts) progress("warning: {}: times are doubtful", doubt);
  }

  void block(Slot& slot, int round, int order) {
    try {
      MeasureOptions options = options_of(*slot.planned);
      const int left = slot.stopping.left();
      options.iterations = left < 0 ? block_iterations : std::min(left, block_iterations);
      options.values = options.values && slot.blocks.empty();
      options.timeline = options.timeline && slot.blocks.empty();
      const Case& planned = *slot.planned;
      Measurement measurement = measure(execution_, *planned.scenario, planned.params, options);
      const std::vector<double> seconds = slowest(measurement);
      const int first =
          slot.blocks.empty() ? 0 : slot.blocks.back().first + slot.blocks.back().iterations;
      slot.blocks.push_back({order, round, first, static_cast<int>(seconds.size())});
      for (const double each : seconds) slot.stopping.add(each);
      if (slot.blocks.size() == 1)
        slot.measurement = std::move(measurement);
      else
        append_block(slot.measurement, measurement);
    } catch (const Error& error) {
      slot.failed = true;
      ended_by(slot.id, error);
    }
  }

  MeasureOptions options_of(const Case& planned) const {
    MeasureOptions options;
    options.launch.mesh = planned.mesh;
    options.launch.precision = planned.params.precision;
    options.launch.seed = planned.params.seed;
    options.warmup = request_.warmup;
    options.iterations = rule_.iterations;
    options.precision = rule_.precision;
    options.budget_seconds = rule_.budget_seconds;
    options.values = request_.check;
    options.timeline = request_.timeline;
    options.gate = gate_.get();
    return options;
  }

  /// Stores what the machine did and says why times are doubtful.
  std::vector<std::string> set_state(results::RunId id, const Case& planned,
                                     const Measurement& measurement, const MachineState& before,
                                     const MachineState& after,
                                     const std::vector<TimedBlock>& blocks) {
    const int ranks = planned.mesh.size();
    std::string state = state_json(before, after, ranks);
    if (!blocks.empty())
      state = with_blocks(state, blocks, static_cast<std::uint64_t>(request_.seed));
    if (gate_) state = results::with_turns(state, {gate_->pair(), measurement.turns});
    store_->set_state(id, state);
    // The other program of a pair is no stranger.
    return gate_ ? std::vector<std::string>{} : doubts_of(before, after, ranks);
  }

  /// Ends a run as what is done with it says.
  template <typename Work>
  void guarded(results::RunId id, const Work& work) {
    try {
      work();
      if (store_->finish_run(id, results::RunStatus::complete) == results::RunStatus::failed)
        exit_ = graver(exit_, Exit::broken);
    } catch (const Error& error) {
      ended_by(id, error);
    }
  }

  /// Checks a measurement and stores it.
  void keep(const Case& planned, results::RunId id, const Measurement& measurement) {
    for (const std::string& note : measurement.notes) progress("warning: {}", note);
    results::Rows rows = rows_of(measurement);
    if (request_.check) {
      find_reference(planned);
      rows.checks =
          compare_values(measurement.values, reference_, one_rank_, planned.params.precision.dtype);
      for (const results::Check& check : rows.checks)
        if (!check.passed()) {
          progress("check failed: {} is off by {:.2e}, allowed are {:.0e}", check.name, check.error,
                   check.bound);
          exit_ = graver(exit_, Exit::failed);
        }
    }
    store_->append(id, rows);
    if (request_.timeline) store_->append(id, timeline_of(measurement, planned.mesh));
  }

  /// Computes what one problem is compared with, once for all meshes.
  void find_reference(const Case& planned) {
    const Dtype dtype = planned.params.precision.dtype;
    std::string key = planned.scenario->name + (planned.params.train ? " train" : "");
    for (const auto& [name, value] : planned.params.all()) key += " " + name + "=" + value;
    key += std::string(" ") + name_of(dtype);
    if (key == reference_key_) return;
    const Scenario& scenario = *planned.scenario;
    reference_ = one_rank_values(execution_, scenario, planned.params, Dtype::float64);
    one_rank_ = dtype == Dtype::float64
                    ? reference_
                    : one_rank_values(execution_, scenario, planned.params, dtype);
    reference_key_ = key;
    // One rank against itself in float64 shows what its dtype alone is off by.
    for (const results::Check& own : compare_values(one_rank_, reference_, reference_, dtype))
      if (!own.passed())
        progress("note: {} of one rank in {} is off by {:.1e} itself; ranks are held to that rank",
                 own.name, name_of(dtype), own.error);
  }

  void ended_by(results::RunId id, const Error& error) {
    const bool skipped = error.fault() == Fault::unsupported;
    store_->finish_run(id, skipped ? results::RunStatus::skipped : results::RunStatus::failed,
                       error.what());
    progress("{}: {}{}", skipped ? "skipped" : "failed", error.what(),
             error.fault() == Fault::internal ? " (" + error.where() + ")" : "");
    exit_ = graver(exit_, exit_of(error.fault()));
  }

  template <typename... Args>
  static void progress(fmt::format_string<Args...> format, Args&&... args) {
    // A measurement goes on where nobody can hear it, where fmt::print would throw.
    (void)std::fputs((fmt::format(format, std::forward<Args>(args)...) + "\n").c_str(), stderr);
  }

  const Request& request_;
  Execution execution_;
  std::vector<Case> cases_;
  StoppingRule rule_;
  std::unique_ptr<TurnGate> gate_;
  std::optional<results::Store> store_;
  std::vector<results::RunId> ids_;
  Exit exit_ = Exit::fine;
  std::string reference_key_;
  std::vector<NamedValues> reference_;
  std::vector<NamedValues> one_rank_;
};

}  // namespace

Exit run_verb(const Scenarios& scenarios, const Request& request) {
  Runs runs(scenarios, request);
  const Exit exit = runs.run();
  print_runs(request, runs.ids());
  return exit;
}

}  // namespace shardlab
