#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "results/store.h"
#include "tests/tools/typed.h"

namespace shardlab::test {
namespace {

using results::Metric;

/// What a run holds: each metric with its samples, iteration by iteration.
using Samples = std::vector<std::pair<Metric, std::vector<double>>>;

/// Compares files of runs that never ran.
class CompareOptions : public Typed {
 protected:
  void store(const std::string& file, const std::string& scenario, const Samples& samples,
             const std::string& processor = "a CPU", const std::string& isa = "AVX2") {
    results::Store store(folder_.path(file).string());
    results::RunHeader header;
    header.series.scenario = scenario;
    header.environment.processor = processor;
    header.environment.isa = isa;
    const results::RunId run = store.start_run(header);
    results::Rows rows;
    for (const auto& [metric, values] : samples) {
      rows.metrics.push_back({metric, {}});
      for (std::size_t i = 0; i < values.size(); ++i)
        rows.metrics.back().samples.push_back(
            {.iteration = static_cast<std::int64_t>(i), .rank = 0, .value = values[i]});
    }
    store.append(run, rows);
    store.finish_run(run, results::RunStatus::complete);
  }

  void expect_exit(const std::string& words, int exit, const std::string& text) {
    const Ended ended = type("compare base new " + words);
    EXPECT_EQ(ended.exit, exit) << words << "\n" << ended.out << ended.err;
    EXPECT_TRUE(has(ended.out + ended.err, text)) << words << "\n" << ended.out << ended.err;
  }
};

const std::vector<double> times{0.020, 0.021, 0.020, 0.022, 0.020, 0.021, 0.020, 0.021};

TEST_F(CompareOptions, WhatACommittedBaseCountsMayNotVanish) {
  store("base", "vit", {{results::flop(), {8}}, {results::bytes_sent(), {64}}});
  store("new", "vit", {{results::flop(), {8}}});
  expect_exit("", 3, "bytes_sent");
  expect_exit("--committed", 1, "bytes_sent");
  expect_exit("--committed --json", 1, "\"vanished\": 1");
}

TEST_F(CompareOptions, WhatACommittedBaseTimedMayVanish) {
  store("base", "vit", {{results::flop(), {8}}, {results::step_seconds(), times}});
  store("new", "vit", {{results::flop(), {8}}});
  expect_exit("--committed", 3, "step_seconds");
}

TEST_F(CompareOptions, ASeriesThatACommittedBaseCountsMayNotVanish) {
  store("base", "vit", {{results::flop(), {8}}});
  store("base", "ring_attention", {{results::flop(), {8}}});
  store("new", "vit", {{results::flop(), {8}}});
  expect_exit("", 3, "ring_attention");
  expect_exit("--committed", 1, "ring_attention");
}

TEST_F(CompareOptions, UndecidedIsFineUnlessStrict) {
  store("base", "vit", {{results::step_seconds(), times}});
  store("new", "vit", {{results::step_seconds(), times}});
  expect_exit("", 0, "1 undecided");
  expect_exit("--strict", 3, "1 undecided");
}

TEST_F(CompareOptions, WorseIsGraverThanWhatVanished) {
  store("base", "vit", {{results::flop(), {8}}, {results::bytes_sent(), {64}}});
  store("new", "vit", {{results::flop(), {9}}});
  expect_exit("", 1, "1 flop more");
}

TEST_F(CompareOptions, TwoMachinesDoNotCompareByTheirTimesAndNameWhatDiffers) {
  store("base", "vit", {{results::flop(), {8}}, {results::step_seconds(), times}});
  store("new", "vit", {{results::flop(), {8}}, {results::step_seconds(), times}}, "other", "AVX3");
  const Ended ended = type("compare base new --json");
  EXPECT_EQ(ended.exit, 3) << ended.out;
  const auto found = nlohmann::json::parse(ended.out);
  ASSERT_GE(found["findings"].size(), 2U);
  for (const auto& finding : found["findings"])
    if (finding["metric"] == "flop")
      EXPECT_EQ(finding["verdict"], "same");
    else
      EXPECT_EQ(finding["differing"], (std::vector<std::string>{"processor", "isa"}));
  expect_exit("", 3, "processor, isa");
  expect_exit("--allow processor", 3, "isa");
  expect_exit("--allow processor --allow isa", 0, "1 same");
}

TEST_F(CompareOptions, AFieldThatThereIsNotIsRefusedWithTheNearest) {
  store("base", "vit", {{results::flop(), {8}}});
  store("new", "vit", {{results::flop(), {8}}});
  for (const auto& [typed, nearest] :
       std::map<std::string, std::string>{{"dtyp", "dtype"}, {"compile", "compiler"}})
    expect("compare base new --allow " + typed, 2,
           "--allow " + typed + ": no such field: did you mean '" + nearest + "'?");
}

TEST_F(CompareOptions, RunsWithoutSamplesAreNotCompared) {
  const char* const note = "vit domain=1, float32: both sides have runs of it";
  store("base", "vit", {});
  store("new", "vit", {});
  expect_exit("", 3, note);
  store("new", "vit", {{results::flop(), {8}}});
  expect_exit("", 3, note);
  store("base", "vit", {{results::flop(), {8}}});
  expect_exit("", 0, "1 same");
}

/// How often each verdict stands in a text, as the first group finds it.
std::map<std::string, int> verdicts_in(const std::string& text, const std::regex& pattern) {
  std::map<std::string, int> counts;
  for (std::sregex_iterator found(text.begin(), text.end(), pattern), end; found != end; ++found)
    ++counts[(*found)[1]];
  return counts;
}

TEST_F(CompareOptions, EveryFaceThatIsWrittenHasTheVerdictsOfTheJson) {
  // Worse, better, same, new, vanished, undecided; not comparable on another machine.
  store("base", "vit",
        {{results::flop(), {8}},
         {results::bytes_sent(), {64}},
         {results::collectives(), {4}},
         {results::dispatches(), {40}},
         {results::step_seconds(), times}});
  store("new", "vit",
        {{results::flop(), {9}},
         {results::bytes_sent(), {32}},
         {results::collectives(), {4}},
         {results::peak_bytes("activation"), {100}},
         {results::step_seconds(), times}});
  store("base", "ring_attention", {{results::step_seconds(), times}});
  store("new", "ring_attention", {{results::step_seconds(), times}}, "other");
  const Ended json = type("compare base new --json --markdown 'a b.md' --junit 'a\nb.xml'");
  ASSERT_EQ(json.exit, 1) << json.err;
  const auto found = nlohmann::json::parse(json.out);
  std::map<std::string, int> verdicts;
  for (const auto& finding : found["findings"]) ++verdicts[finding["verdict"]];
  ASSERT_EQ(verdicts.size(), 7U) << json.out;
  const std::regex property("name=\"verdict\" value=\"([^\"]+)\"");
  EXPECT_EQ(verdicts_in(text_of(folder_.path("a\nb.xml")), property), verdicts);
  const std::regex row("\n\\| \\*{0,2}([a-z ]+[a-z])\\*{0,2} \\|");
  std::map<std::string, int> rows = verdicts_in(text_of(folder_.path("a b.md")), row);
  rows.erase("verdict");
  EXPECT_EQ(rows, verdicts) << text_of(folder_.path("a b.md"));
  const Ended lines = type("compare base new --annotations");
  EXPECT_EQ(lines.exit, 1);
  std::map<std::string, int> shown =
      verdicts_in(lines.out, std::regex("::(?:error|warning|notice) title=([a-z ]+)%3A [^ ]+ of "));
  shown["same"] = verdicts["same"];
  EXPECT_EQ(shown, verdicts) << lines.out;
}

TEST_F(CompareOptions, RefuseWhatWouldSpoilTheirOutput) {
  expect("compare a b --json --annotations", 2, "both print to stdout");
}

}  // namespace
}  // namespace shardlab::test
