#include "tools/calibrate_verb.h"
#include "tools/explain_verb.h"
#include "tools/plan_verb.h"
#include "tools/predict_verb.h"
#include "tools/probe_verb.h"
#include "tools/reproduce_verb.h"
#include "tools/verbs.h"

namespace shardlab {
namespace {

/// What a machine that need not be there is, and what runs on it.
template <typename Options>
void add_machine_options(CLI::App& verb, Options& options) {
  verb.add_option("--machine", options.machine, "dgx-h100:8 (8 hosts), a .toml, or this-cpu");
  verb.add_option("--profile", options.profile, "software that runs it; `list profiles`")
      ->capture_default_str();
}

/// Predictions are of the paper's sizes unless asked otherwise.
void paper_unless_typed(CLI::App& verb, Request& request) {
  if (verb.get_option("--preset")->count() == 0) request.preset = "paper";
}

void add_predict(const Verbs& verbs) {
  auto [predict, options] = verbs.add<PredictRequest>(
      "predict", "time, memory and bytes of a step on a machine that need not be there",
      [verbs](const PredictRequest& typed) {
        paper_unless_typed(*verbs.app.get_subcommand("predict"), verbs.request);
        return predict_verb(verbs.scenarios, verbs.request, typed);
      });
  verbs.add_problem(predict, "paper");
  verbs.add_meshes(predict);
  verbs.add_database(predict);
  add_machine_options(predict, options);
  predict.add_option("--what-if", options.what_if,
                     "bandwidth=2x,latency=0.5x,peak=2x,launch=20us,overlap=off,slow-rank=1.2x");
  predict.add_option("--jitter", options.jitter, "relative spread of kernel times; 0: none")
      ->check(CLI::Range(0.0, 1.0));
  predict.add_flag("--no-timeline", verbs.typed.no_timeline, "do not store the steps");
}

void add_reproduce(const Verbs& verbs) {
  CLI::App& reproduce = verbs.add(
      "reproduce", "published results beside predictions calibrated on some of their rows",
      [verbs] { return reproduce_verb(verbs.scenarios, verbs.request); });
  reproduce.add_option("name", verbs.request.names, "ring_attention, vit, collectives, ... or all");
  verbs.add_database(reproduce);
}

void add_explain(const Verbs& verbs) {
  struct Options {
    int at = 0;
  };
  auto [explain, options] = verbs.add<Options>(
      "explain", "why so many ranks take longer than one divided by their number",
      [verbs](const Options& typed) {
        return explain_verb(verbs.scenarios, verbs.request, typed.at);
      });
  explain
      .add_option("run", verbs.request.names, "numbers or uuids of runs, or published rows: vit")
      ->required();
  explain.add_option("--at", options.at, "published rows of so many GPUs; 0: of the most");
  verbs.add_database(explain);
}

void add_calibrate(const Verbs& verbs) {
  auto [calibrate, options] = verbs.add<CalibrateOptions>(
      "calibrate", "predicted beside measured, and a machine corrected by logs or stored runs",
      calibrate_verb);
  calibrate.add_option("machine", options.machine, "whose logs they are")->required();
  calibrate
      .add_option("--from", options.from,
                  "logs of nccl-tests: FILE[@RANKS[xHOSTS][:COLLECTIVE]]; a results file; or a "
                  "topology: output of `nvidia-smi topo -m`, XML of NCCL")
      ->required();
  calibrate.add_option("-o,--output", options.output, "machine file to write");
  calibrate.add_option("--run", options.runs, "runs of the results file; else all usable ones")
      ->delimiter(',');
  calibrate.add_flag("--shared", options.shared,
                     "logs of other machines with the same wires: one alone is shown, not fitted");
  calibrate.add_flag("--json", options.json, "print JSON for programs");
}

void add_probe(const Verbs& verbs) {
  auto [probe, options] = verbs.add<ProbeVerbOptions>(
      "probe", "measures this machine, which becomes `this-cpu`", probe_verb);
  options.command_line = verbs.request.command_line;
  probe.add_option("-o,--output", options.output, "machine file; without it the probe is stored");
  probe.add_option("--db", options.database, "the results file")->capture_default_str();
  probe.add_option("--point-seconds", options.point_seconds, "spent on each size of each kernel")
      ->capture_default_str();
  probe.add_flag("--json", options.json, "print JSON for programs");
}

void add_plan(const Verbs& verbs) {
  auto [plan, options] = verbs.add<PlanRequest>(
      "plan", "the best ways to run a problem on a machine, and why the others do not go",
      [verbs](const PlanRequest& typed) {
        paper_unless_typed(*verbs.app.get_subcommand("plan"), verbs.request);
        if (verbs.typed.dtypes.empty()) verbs.request.dtypes = {"float32", "bfloat16"};
        return plan_verb(verbs.scenarios, verbs.request, typed);
      });
  verbs.add_problem(plan, "paper");
  verbs.add_database(plan);
  add_machine_options(plan, options);
  plan.add_option("--memory", options.memory, "of a device, such as 80GiB; else the machine's");
  plan.add_option("--max-ranks", options.max_ranks, "most ranks")->capture_default_str();
  plan.add_option("--offload", options.offload,
                  "may lie in host memory, predicted only: none, optimizer, activations, both");
  plan.add_option("--objective", options.objective, "time, gpu-hours or memory")
      ->capture_default_str();
  plan.add_flag("--strategies", options.strategies,
                "the alternatives to domain parallelism side by side");
}

}  // namespace

void add_predicting_verbs(const Verbs& verbs) {
  add_predict(verbs);
  add_reproduce(verbs);
  add_explain(verbs);
  add_calibrate(verbs);
  add_probe(verbs);
  add_plan(verbs);
}

}  // namespace shardlab
