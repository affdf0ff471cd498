#include <optional>

#include "engine/core/check.h"
#include "results/store.h"
#include "tools/check.h"
#include "tools/executions.h"
#include "tools/measure.h"
#include "tools/record.h"
#include "tools/request.h"
#include "tools/show.h"

namespace shardlab {
namespace {

/// All runs of one command.
class Runs {
 public:
  Runs(const Scenarios& scenarios, const Request& request)
      : request_(request),
        execution_(execution_named(request.execution)),
        // All of it is read before the first run, so that a typing error costs nothing.
        cases_(sweep(scenarios, request)) {}

  Exit run() {
    store_.emplace(request_.database);
    for (const Case& each : cases_) one(each);
    return exit_;
  }

  [[nodiscard]] const std::vector<results::RunId>& ids() const { return ids_; }

 private:
  void one(const Case& planned) {
    const results::RunId id = store_->start_run(header_of(planned, execution_.name, request_));
    ids_.push_back(id);
    progress("{} ...", planned.title());
    try {
      const Exit result = measured(planned, id);
      if (store_->finish_run(id, results::RunStatus::complete) == results::RunStatus::failed)
        exit_ = graver(exit_, Exit::broken);
      exit_ = graver(exit_, result);
    } catch (const Error& error) {
      ended_by(id, error);
    }
  }

  Exit measured(const Case& planned, results::RunId id) {
    MeasureOptions options;
    options.launch.mesh = planned.mesh;
    options.launch.precision = planned.params.precision;
    options.launch.seed = planned.params.seed;
    options.warmup = request_.warmup;
    options.iterations = request_.iterations;
    options.values = request_.check;
    options.timeline = request_.timeline;
    const Measurement measurement = measure(execution_, *planned.scenario, planned.params, options);
    for (const std::string& note : measurement.notes) progress("warning: {}", note);
    results::Rows rows = rows_of(measurement);
    Exit result = Exit::fine;
    if (request_.check) {
      find_reference(planned);
      rows.checks =
          compare_values(measurement.values, reference_, one_rank_, planned.params.precision.dtype);
      for (const results::Check& check : rows.checks)
        if (!check.passed()) {
          progress("check failed: {} is off by {:.2e}, allowed are {:.0e}", check.name, check.error,
                   check.bound);
          result = Exit::failed;
        }
    }
    store_->append(id, rows);
    if (request_.timeline) store_->append(id, timeline_of(measurement));
    return result;
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
    fmt::print(stderr, format, std::forward<Args>(args)...);
    fmt::print(stderr, "\n");
  }

  const Request& request_;
  Execution execution_;
  std::vector<Case> cases_;
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
