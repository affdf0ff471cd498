#include "tools/verbs.h"

namespace shardlab {
namespace {

void add_run(const Verbs& verbs) {
  Request& request = verbs.request;
  CLI::App& run = verbs.add("run", "measure scenarios on real ranks and store the runs",
                            [verbs] { return run_verb(verbs.scenarios, verbs.request); });
  verbs.add_problem(run, "small");
  verbs.add_meshes(run);
  verbs.add_database(run);
  run.add_option("--on", request.execution, "cpu or cuda")->capture_default_str();
  run.add_flag("--check", request.check, "compare with one rank in float64");
  run.add_option("--warmup", request.warmup, "iterations that are not timed")
      ->capture_default_str();
  run.add_option("--iterations", request.iterations, "timed ones; 0: what fits the budget, 3 to 20")
      ->capture_default_str();
  run.add_option(
      "--precision", verbs.typed.precision,
      "1%: until the 95 % interval of the median is so narrow to each side, or the budget is used");
  run.add_option("--budget", verbs.typed.budget,
                 "time of a run's timed iterations: 10s, 500ms, 2min")
      ->default_str("10s");
  run.add_flag("--interleave", request.interleave,
               "all runs in blocks of 5 iterations, in an order that --seed decides");
  run.add_flag("--no-timeline", verbs.typed.no_timeline, "do not trace one more iteration");
}

void add_list(const Verbs& verbs) {
  CLI::App& list =
      verbs.add("list", "scenarios, `machines`, `profiles`, or the parameters of one scenario",
                [verbs] { return list_verb(verbs.scenarios, verbs.request); });
  list.add_option("scenario", verbs.request.names, "whose parameters are shown");
  list.add_flag("--json", verbs.request.json, "print JSON for programs");
}

void add_show(const Verbs& verbs) {
  CLI::App& show = verbs.add(
      "show", "scaling tables of all stored runs, `runs`, one run by its number, or `machine NAME`",
      [verbs] { return show_verb(verbs.request); });
  show.add_option("run", verbs.request.names,
                  "numbers or uuids of runs; `runs` lists all; `machine NAME|FILE.toml`");
  show.add_option("--perfetto", verbs.request.perfetto,
                  "write the timeline of one run as a Perfetto trace");
  verbs.add_database(show);
}

void add_layout(const Verbs& verbs) {
  CLI::App& layout =
      verbs.add("layout", "where every parameter and activation lies on a mesh, and what moves",
                [verbs] { return layout_verb(verbs.scenarios, verbs.request); });
  verbs.add_problem(layout, "small");
  verbs.add_meshes(layout);
  layout.add_flag("--full", verbs.request.full,
                  "also looks at memory that hold nothing of their own");
}

}  // namespace

void add_measuring_verbs(const Verbs& verbs) {
  add_run(verbs);
  add_list(verbs);
  add_show(verbs);
  add_layout(verbs);
  verbs.add("doctor", "what this machine and build offer",
            [verbs] { return doctor_verb(verbs.request); });
}

}  // namespace shardlab
