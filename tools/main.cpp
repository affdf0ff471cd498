#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "engine/core/check.h"
#include "scenarios/all.h"
#include "tools/calibrate_verb.h"
#include "tools/explain_verb.h"
#include "tools/plan_verb.h"
#include "tools/predict_verb.h"
#include "tools/probe_verb.h"
#include "tools/reproduce_verb.h"
#include "tools/request.h"

namespace shardlab {
namespace {

/// Options as typed, before they are read.
struct Typed {
  std::string ranks;
  std::vector<std::string> meshes;
  std::string dtypes;
  std::string scaling = "strong";
  bool no_timeline = false;
};

std::vector<Mesh> meshes_of(const Typed& typed) {
  std::vector<Mesh> meshes;
  std::string_view rest = typed.ranks;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    int ranks = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), ranks);
    check(error == std::errc() && end == part.data() + part.size(),
          "--ranks: expected numbers such as 1,2,4, found '{}'", typed.ranks);
    check(ranks >= 1, "--ranks: {} ranks; at least 1 is needed", ranks);
    meshes.push_back(Mesh({{"domain", ranks}}));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  for (const std::string& text : typed.meshes) meshes.push_back(Mesh::parse(text));
  if (meshes.empty()) meshes.push_back(Mesh({{"domain", 1}}));
  return meshes;
}

/// What a machine that need not be there is, and what runs on it.
template <typename Options>
void add_machine_options(CLI::App& verb, Options& options) {
  verb.add_option("--machine", options.machine, "dgx-h100:8 (8 hosts), a .toml, or this-cpu");
  verb.add_option("--profile", options.profile, "software that runs it; `list profiles`")
      ->capture_default_str();
}

void add_meshes(CLI::App& verb, Typed& typed) {
  verb.add_option("--ranks", typed.ranks, "ranks on one axis `domain`; commas sweep: 1,2,4");
  verb.add_option("--mesh", typed.meshes, "data=2,domain=4; may be repeated")
      ->allow_extra_args(false);
}

void add_problem_options(CLI::App& verb, const Scenarios& scenarios, Request& request, Typed& typed,
                         const char* preset = "small") {
  verb.add_option("scenario", request.names, "one or more scenarios; `shardlab list` names them")
      ->required();
  verb.add_option("--preset", request.preset, "paper, small or tiny")->default_str(preset);
  verb.add_option("--dtype", typed.dtypes, "float32, float64, tf32, bfloat16, float16");
  verb.add_flag("--train", request.train, "a training step instead of inference");
  verb.add_option("--scaling", typed.scaling, "strong, or weak: sizes are those of one rank")
      ->capture_default_str();
  verb.add_option("--seed", request.seed, "of parameters and inputs")->capture_default_str();
  std::map<std::string, std::string> params;
  for (const auto& [name, scenario] : scenarios.all())
    for (const ParamSpec& spec : scenario.params) {
      std::string& text = params[spec.name];
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name, spec.help);
    }
  for (const auto& [name, help] : params)
    verb.add_option_function<std::string>(
            "--" + name,
            [&request, name = name](const std::string& v) { request.values[name] = v; }, help)
        ->group("Parameters of scenarios (commas sweep)");
}

std::string all_words(int argc, char** argv) {
  std::string text = "shardlab";
  for (int i = 1; i < argc; ++i) text += std::string(" ") + argv[i];
  return text;
}

/// What CLI11 says, and the nearest option where one is unknown.
std::string explain(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  std::string text = error.what();
  const CLI::App* verb = &app;
  std::vector<std::string> verbs;
  for (const CLI::App* each : app.get_subcommands(nullptr)) verbs.push_back(each->get_name());
  if (argc > 1) {
    const CLI::App* found = nullptr;
    for (const CLI::App* each : app.get_subcommands(nullptr))
      if (each->get_name() == argv[1]) found = each;
    if (found == nullptr && argv[1][0] != '-')
      return fmt::format("unknown verb '{}': did you mean '{}'?", argv[1], nearest(argv[1], verbs));
    if (found != nullptr) verb = found;
  }
  std::vector<std::string> known;
  for (const CLI::Option* option : verb->get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (int i = 2; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (word.starts_with("--") && std::find(known.begin(), known.end(), word) == known.end())
      return fmt::format("unknown option {}: did you mean {}?", word, nearest(word, known));
  }
  return text;
}

int run(int argc, char** argv) {
  Scenarios scenarios;
  add_all_scenarios(scenarios);
  Request request;
  Typed typed;
  request.command_line = all_words(argc, argv);
  CLI::App app{"shardlab: benchmarks and simulates sharded tensors"};
  app.require_subcommand(1);
  const auto database = [&request](CLI::App& verb) {
    verb.add_option("--db", request.database, "the results file")->capture_default_str();
    verb.add_flag("--json", request.json, "print JSON for programs");
  };
  CLI::App& run = *app.add_subcommand("run", "measure scenarios on real ranks and store the runs");
  add_problem_options(run, scenarios, request, typed);
  add_meshes(run, typed);
  database(run);
  run.add_option("--on", request.execution, "cpu or cuda")->capture_default_str();
  run.add_flag("--check", request.check, "compare with one rank in float64");
  run.add_option("--warmup", request.warmup, "iterations that are not timed")
      ->capture_default_str();
  run.add_option("--iterations", request.iterations, "timed ones; 0: what fits 10 s, 3 to 20")
      ->capture_default_str();
  run.add_flag("--no-timeline", typed.no_timeline, "do not trace one more iteration");
  PredictRequest predicted;
  CLI::App& predict = *app.add_subcommand(
      "predict", "time, memory and bytes of a step on a machine that need not be there");
  add_problem_options(predict, scenarios, request, typed, "paper");
  add_meshes(predict, typed);
  database(predict);
  add_machine_options(predict, predicted);
  predict.add_option("--what-if", predicted.what_if,
                     "bandwidth=2x,latency=0.5x,peak=2x,launch=20us,overlap=off,slow-rank=1.2x");
  predict.add_option("--jitter", predicted.jitter, "relative spread of kernel times; 0: none")
      ->check(CLI::Range(0.0, 1.0));
  predict.add_flag("--no-timeline", typed.no_timeline, "do not store the steps");
  CLI::App& reproduce = *app.add_subcommand(
      "reproduce", "published results beside predictions calibrated on some of their rows");
  reproduce.add_option("name", request.names, "ring_attention, vit, or all");
  reproduce.add_flag("--json", request.json, "print JSON for programs");
  int at = 0;
  CLI::App& explain_time = *app.add_subcommand(
      "explain", "why so many ranks take longer than one divided by their number");
  explain_time.add_option("run", request.names, "numbers or uuids of runs, or published rows: vit")
      ->required();
  explain_time.add_option("--at", at, "published rows of so many GPUs; 0: of the most");
  database(explain_time);
  CalibrateOptions calibrated;
  CLI::App& calibrate = *app.add_subcommand(
      "calibrate", "predicted beside measured, and a machine corrected by logs or stored runs");
  calibrate.add_option("machine", calibrated.machine, "whose logs they are")->required();
  calibrate
      .add_option("--from", calibrated.from,
                  "logs of nccl-tests: FILE[@RANKS[xHOSTS][:COLLECTIVE]]; or a results file")
      ->required();
  calibrate.add_option("-o,--output", calibrated.output, "machine file to write");
  calibrate.add_option("--run", calibrated.runs, "runs of the results file; else all usable ones")
      ->delimiter(',');
  calibrate.add_flag("--shared", calibrated.shared,
                     "logs of other machines with the same wires: one alone is shown, not fitted");
  calibrate.add_flag("--json", calibrated.json, "print JSON for programs");
  ProbeVerbOptions probed;
  probed.command_line = request.command_line;
  CLI::App& probe = *app.add_subcommand("probe", "measures this machine, which becomes `this-cpu`");
  probe.add_option("-o,--output", probed.output, "machine file; without it the probe is stored");
  probe.add_option("--db", probed.database, "the results file")->capture_default_str();
  probe.add_option("--point-seconds", probed.point_seconds, "spent on each size of each kernel")
      ->capture_default_str();
  probe.add_flag("--json", probed.json, "print JSON for programs");
  PlanRequest planned;
  CLI::App& plan = *app.add_subcommand(
      "plan", "the best ways to run a problem on a machine, and why the others do not go");
  add_problem_options(plan, scenarios, request, typed, "paper");
  database(plan);
  add_machine_options(plan, planned);
  plan.add_option("--memory", planned.memory, "of a device, such as 80GiB; else the machine's");
  plan.add_option("--max-ranks", planned.max_ranks, "most ranks")->capture_default_str();
  plan.add_option("--offload", planned.offload,
                  "may lie in host memory, predicted only: none, optimizer, activations, both");
  plan.add_option("--objective", planned.objective, "time, gpu-hours or memory")
      ->capture_default_str();
  plan.add_flag("--strategies", planned.strategies,
                "the alternatives to domain parallelism side by side");
  CLI::App& list = *app.add_subcommand(
      "list", "scenarios, `machines`, `profiles`, or the parameters of one scenario");
  list.add_option("scenario", request.names, "whose parameters are shown");
  list.add_flag("--json", request.json, "print JSON for programs");
  CLI::App& show = *app.add_subcommand(
      "show",
      "scaling tables of all stored runs, `runs`, one run by its number, or `machine NAME`");
  show.add_option("run", request.names,
                  "numbers or uuids of runs; `runs` lists all; `machine NAME|FILE.toml`");
  show.add_option("--perfetto", request.perfetto,
                  "write the timeline of one run as a Perfetto trace");
  database(show);
  CLI::App& layout = *app.add_subcommand(
      "layout", "where every parameter and activation lies on a mesh, and what moves");
  add_problem_options(layout, scenarios, request, typed);
  add_meshes(layout, typed);
  layout.add_flag("--full", request.full, "also looks at memory that hold nothing of their own");
  CLI::App& doctor = *app.add_subcommand("doctor", "what this machine and build offer");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "shardlab: {}\n", explain(app, error, argc, argv));
    return static_cast<int>(Exit::usage);
  }
  Exit exit = Exit::fine;
  try {
    request.meshes = meshes_of(typed);
    if (!typed.dtypes.empty()) {
      request.dtypes.clear();
      for (const std::string& each : CLI::detail::split(typed.dtypes, ','))
        request.dtypes.push_back(each);
    }
    request.scaling = parse_scaling(typed.scaling);
    request.timeline = !typed.no_timeline;
    if (run.parsed()) exit = run_verb(scenarios, request);
    for (CLI::App* verb : {&predict, &plan})
      if (verb->parsed() && verb->get_option("--preset")->count() == 0) request.preset = "paper";
    if (plan.parsed() && typed.dtypes.empty()) request.dtypes = {"float32", "bfloat16"};
    if (predict.parsed()) exit = predict_verb(scenarios, request, predicted);
    if (reproduce.parsed()) exit = reproduce_verb(scenarios, request);
    if (explain_time.parsed()) exit = explain_verb(scenarios, request, at);
    if (calibrate.parsed()) exit = calibrate_verb(calibrated);
    if (probe.parsed()) exit = probe_verb(probed);
    if (plan.parsed()) exit = plan_verb(scenarios, request, planned);
    if (list.parsed()) exit = list_verb(scenarios, request);
    if (show.parsed()) exit = show_verb(request);
    if (layout.parsed()) exit = layout_verb(scenarios, request);
    if (doctor.parsed()) exit = doctor_verb(request);
  } catch (const Error& error) {
    fmt::print(stderr, "shardlab: {}{}\n", error.what(),
               error.fault() == Fault::internal ? " (" + error.where() + ")" : "");
    exit = exit_of(error.fault());
  }
  return static_cast<int>(exit);
}

}  // namespace
}  // namespace shardlab

int main(int argc, char** argv) {
  try {
    return shardlab::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "shardlab: {}\n", error.what());
    return static_cast<int>(shardlab::Exit::broken);
  }
}
