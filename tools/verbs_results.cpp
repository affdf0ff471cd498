#include "tools/compare_verb.h"
#include "tools/exact_verb.h"
#include "tools/verbs.h"

namespace shardlab {
namespace {

void add_exact(const Verbs& verbs) {
  auto [verb, options] = verbs.add<ExactVerbOptions>(
      "exact", "hold bytes, flop, calls and memory of all tiny presets against committed ones",
      [&scenarios = verbs.scenarios](const ExactVerbOptions& typed) {
        return exact_verb(scenarios, typed);
      });
  verb.add_option("folder", options.folder, "of the committed quantities")->capture_default_str();
  verb.add_flag("--accept", options.accept, "write what is now; commit it with the change");
}

void add_compare(const Verbs& verbs) {
  auto [verb, typed] = verbs.add<CompareVerbOptions>(
      "compare",
      "what is worse, better or the same between two sides, each a database file, a run, a commit, "
      "a branch or a date",
      compare_verb);
  verb.add_option("sides", typed.sides, "base and new");
  verb.add_option("--floor", typed.options.floor, "changes below are the same: 0.02 is 2 %")
      ->capture_default_str();
  verb.add_option("--least", typed.options.least_seconds,
                  "changes of fewer seconds are not reported")
      ->capture_default_str();
  verb.add_option("--apart-floor", typed.options.apart_floor,
                  "the floor where one side ran after the other")
      ->capture_default_str();
  verb.add_flag("--iterations", typed.options.iterations,
                "iterations of one run a side are enough for a verdict");
  verb.add_option("--allow", typed.options.allowed,
                  "a field of series or environment that may differ; may be repeated")
      ->allow_extra_args(false);
  verb.add_flag("--strict", typed.options.strict, "undecided exits with 3");
  verb.add_flag("--committed", typed.options.committed,
                "the base is a committed baseline: what it counts exactly may not vanish");
  verb.add_option("--seed", typed.options.seed, "of resampling")->capture_default_str();
  verb.add_option("--db", typed.database, "the results file")->capture_default_str();
  verb.add_flag("--json", typed.json, "print JSON for programs");
}

}  // namespace

void add_results_verbs(const Verbs& verbs) {
  add_exact(verbs);
  add_compare(verbs);
}

}  // namespace shardlab
