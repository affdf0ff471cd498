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

}  // namespace

void add_results_verbs(const Verbs& verbs) { add_exact(verbs); }

}  // namespace shardlab
