#include "tools/compare_verb.h"
#include "tools/db_verb.h"
#include "tools/exact_verb.h"
#include "tools/export_verb.h"
#include "tools/gate_test_verb.h"
#include "tools/history_verb.h"
#include "tools/import_verb.h"
#include "tools/report_verb.h"
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
  verb.add_flag("--json", options.json, "print JSON for programs");
}

void add_compare(const Verbs& verbs) {
  auto [verb, typed] = verbs.add<CompareVerbOptions>(
      "compare",
      "what is worse, better or the same between two sides, each a database file, a run, a commit, "
      "a branch or a date",
      compare_verb);
  verb.add_option("sides", typed.sides, "base and new");
  verb.add_option("--ab", typed.commands,
                  "two commands that are run in turns instead; of `shardlab run ...` its runs are "
                  "compared, else wall times")
      ->expected(2);
  verb.add_option("--pairs", typed.pairs, "how often --ab runs both")->capture_default_str();
  verb.add_option("--keep", typed.keep, "two new files for what --ab measured of each command")
      ->expected(2);
  verb.add_flag("--confirm", typed.confirm, "--ab runs again what looks worse");
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
  verb.add_option("--markdown", typed.markdown, "a file for a comment of a pull request");
  verb.add_option("--junit", typed.junit, "a file of JUnit XML");
  verb.add_flag("--annotations", typed.annotations, "print lines that GitHub shows beside code");
}

void add_history(const Verbs& verbs) {
  auto [history, options] = verbs.add<HistoryOptions>(
      "history", "a metric over commits: where it shifted, by how much, what to look at",
      history_verb);
  history
      .add_option("metric", options.metric,
                  "step, bytes, peak, flop, collectives, dispatches, loss, or any stored name")
      ->required();
  history.add_option("--scenario", options.scenario, "only series of this scenario");
  history.add_option("--mesh", options.mesh, "only series on this mesh: data=2,domain=4");
  history.add_option("--where", options.where,
                     "only series with FIELD=VALUE: dtype, train, execution, machine, profile");
  history.add_option("--db", options.database, "the results file")->capture_default_str();
  history.add_option("--accept", options.accept,
                     "the shift at this commit is meant and no regression; writes to the file");
  history.add_option("--note", options.note, "why it is accepted");
  history.add_option("--reopen", options.reopen, "takes back what was accepted at this commit");
  history
      .add_option("--order", options.order,
                  "git: as the repository of this folder has them; time: by their first runs")
      ->capture_default_str();
  history
      .add_option("--floor", options.floor,
                  "a shift of something measured below this is no regression: 0.02 is 2 %")
      ->capture_default_str();
  history.add_flag("--all", options.all, "draw series without a shift too");
  history.add_flag("--ascii", options.ascii, "draw with ASCII letters only");
  history.add_flag("--json", options.json, "print JSON for programs");
}

void add_report(const Verbs& verbs) {
  auto [report, options] = verbs.add<ReportOptions>(
      "report", "a page of all runs that needs no network, or pictures of single plots",
      [verbs](const ReportOptions& typed) {
        return report_verb(verbs.scenarios, verbs.request, typed);
      });
  report.add_option("-o,--output", options.output, "the page, such as report.html");
  report.add_option("--svg", options.svg, "a drawing of one plot, for papers and pages");
  report.add_option("--png", options.png, "a picture of one plot");
  report.add_option("--plot", options.plot, "scaling, efficiency, memory, timeline or waterfall")
      ->capture_default_str();
  report.add_option("--series", options.series,
                    "words that its problem has: \"vit training\"; else all, or the newest");
  report.add_option("--run", options.run, "whose timeline or waterfall; else one of most ranks");
  report.add_option("--compare", options.compare,
                    "verdicts of the file against this: a file, commit, branch or date");
  report.add_flag("--published", options.published,
                  "published problems also where no run is of them");
  verbs.add_database(report);
}

void add_import(const Verbs& verbs) {
  auto [import, options] = verbs.add<ImportVerbOptions>(
      "import", "stores results of other programs as runs, told by the content of their files",
      import_verb);
  options.command_line = verbs.request.command_line;
  import.add_option("file", options.files, "results of other programs, told by their content")
      ->required();
  import.footer(
      "Known are the JSON of Google Benchmark, nvbench, hyperfine and of the ring-attention\n"
      "benchmark of PhysicsNeMo, the CSV of its ViT benchmark, what nccl-tests prints or writes "
      "as\n"
      "JSON, and `shardlab export --json`. The same file again changes nothing.");
  import.add_option("--db", options.database, "the results file")->capture_default_str();
  import.add_option("--mesh", options.says.mesh, "where files do not say it: data=2,domain=4");
  import.add_option("--dtype", options.says.dtype, "where files do not say it: float32");
  import.add_option("--processor", options.says.processor,
                    "CPU or GPU model, where files do not name it");
  import.add_option("--commit", options.says.commit, "that was measured, for compare and history");
  import.add_option("--branch", options.says.branch, "that was measured");
  import.add_flag("--json", options.json, "print JSON for programs");
}

void add_export(const Verbs& verbs) {
  auto [exporting, options] = verbs.add<ExportVerbOptions>(
      "export", "writes runs for spreadsheets, data frames and other databases", export_verb);
  exporting.add_option("run", options.runs, "numbers or uuids of runs; none: all");
  exporting.add_option("--csv", options.csv, "FILE with a row an iteration and rank; - prints");
  exporting.add_option("--json", options.json, "FILE that `import` reads back; - prints");
  exporting.add_option("--db", options.database, "the results file")->capture_default_str();
}

void add_db(const Verbs& verbs) {
  auto [db, options] = verbs.add<DbVerbOptions>(
      "db", "merges and checks results files, prints their schema", db_verb);
  db.add_option("action", options.action, "merge, check or schema")->required();
  db.footer(
      "shardlab db merge OUT IN...   the runs of all in one file, each once, all or nothing\n"
      "shardlab db check FILE...     looks at every row and says what is wrong\n"
      "shardlab db schema            the tables, with units");
  db.add_option("file", options.files, "results files; of merge the first is written");
  db.add_flag("--json", options.json, "print JSON for programs");
}

void add_gate_test(const Verbs& verbs) {
  auto [gate, options] = verbs.add<GateTestOptions>(
      "gate-test",
      "how often the verdicts of `compare` are wrong on this machine, and what they find",
      [verbs](const GateTestOptions& typed) {
        GateTestOptions options = typed;
        options.command_line = verbs.request.command_line;
        return gate_test_verb(verbs.scenarios, options);
      });
  gate.add_option("--scenario", options.scenario, "what runs, in its preset `tiny` on one rank")
      ->capture_default_str();
  gate.add_option("--pairs", options.pairs, "of interleaved blocks in a report")
      ->capture_default_str();
  gate.add_option("--steps", options.steps, "of about 20 ms in a block")->capture_default_str();
  gate.add_option("--reports", options.reports, "resampled for each slow-down of 0, 1, 2, 5, 10 %")
      ->capture_default_str();
  gate.add_option("--seconds", options.seconds, "of recording; longer holds more of the noise")
      ->capture_default_str();
  gate.add_option("--seed", options.seed, "of the resampling")->capture_default_str();
  gate.add_option("--db", options.database, "the results file, where the rates are stored")
      ->capture_default_str();
  gate.add_flag("--json", options.json, "print JSON for programs");
}

}  // namespace

void add_results_verbs(const Verbs& verbs) {
  add_exact(verbs);
  add_compare(verbs);
  add_history(verbs);
  add_report(verbs);
  add_import(verbs);
  add_export(verbs);
  add_db(verbs);
  add_gate_test(verbs);
}

}  // namespace shardlab
