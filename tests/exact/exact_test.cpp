#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "engine/engine.h"
#include "scenarios/all.h"
#include "tests/support/command.h"
#include "tools/exact_compare.h"
#include "tools/exact_file.h"
#include "tools/executions.h"

namespace shardlab::test {
namespace {

const std::string committed = SHARDLAB_SOURCE_DIR "/tests/exact";
const std::string command = "build/shardlab exact --accept && git add tests/exact";

/// Four rows of so many numbers, gathered from the parts of all ranks.
class Gather final : public Program {
 public:
  Gather(Worker& worker, const Params& params) : worker_(worker) {
    const std::vector<Cut> cuts{{"domain", 0}};
    x_ = random_normal(worker, spread(worker, {4, params.integer("numbers")}, worker.dtype(), cuts),
                       1.0);
  }

  [[nodiscard]] std::vector<Named> step(bool /*with_gradients*/) override {
    const Scope scope(worker_.trace(), "layer3");
    return {{Named::Kind::output, "whole", gather(x_)}};
  }

 private:
  Worker& worker_;
  Tensor x_;
};

std::vector<ExactSeries> planted(const char* numbers) {
  Scenarios scenarios;
  scenarios.add({"planted",
                 "one gather",
                 {{"numbers", "of a row", numbers, numbers, numbers}},
                 [](Worker& worker, const Params& params) -> std::unique_ptr<Program> {
                   return std::make_unique<Gather>(worker, params);
                 },
                 [](const Params&) { return 1.0; }});
  return exact_series(scenarios, meta_execution());
}

Scenarios all_scenarios() {
  Scenarios scenarios;
  add_all_scenarios(scenarios);
  return scenarios;
}

bool is_on(const ExactSeries& series, const std::string& mesh, bool train) {
  return series.key.mesh == mesh && series.key.train == train;
}

std::vector<ExactSeries> only(std::vector<ExactSeries> all, const std::string& mesh) {
  std::erase_if(all, [&](const ExactSeries& each) { return !is_on(each, mesh, false); });
  return all;
}

TEST(ExactQuantities, EqualTheCommittedOnes) {
  const results::Comparison comparison =
      compare_exact(read_exact(committed), exact_series(all_scenarios(), meta_execution()));
  EXPECT_TRUE(comparison.findings.empty()) << exact_text(comparison, command);
}

TEST(ExactQuantities, AreTheSameOnRealRanks) {
  const results::Comparison comparison =
      compare_exact(read_exact(committed), exact_series(all_scenarios(), cpu_execution()));
  EXPECT_TRUE(comparison.findings.empty()) << exact_text(comparison, command);
}

TEST(ExactQuantities, AreOfEveryScenarioAndEverySwitch) {
  const Scenarios scenarios = all_scenarios();
  const std::vector<ExactSeries> series = exact_series(scenarios, meta_execution());
  for (const auto& [name, scenario] : scenarios.all()) {
    EXPECT_TRUE(std::ranges::any_of(
        series, [&, name = name](const ExactSeries& each) { return each.key.scenario == name; }))
        << name << " has no series";
    // A parameter with a value that no series names is a switch that was added to a scenario.
    for (const ParamSpec& spec : scenario.params)
      EXPECT_TRUE(spec.unwritten.empty() ||
                  std::ranges::any_of(exact_switches(),
                                      [&](const Switch& each) { return each.name == spec.name; }))
          << "--" << spec.name << " of " << name << " is missing in exact_switches()";
  }
}

// Float32: a rank of domain=2 sends its two rows to the other, 2 * 8 * 4 = 64 bytes, then
// 2 * 16 * 4 = 128. The payload of a gather is the whole: 128 and 256 bytes.
TEST(ExactQuantities, AMessageThatGrewBy64BytesIsNamedWithItsPlace) {
  const results::Comparison comparison =
      compare_exact(only(planted("8"), "domain=2"), only(planted("16"), "domain=2"));
  EXPECT_EQ(exact_text(comparison, "type this"),
            R"(exact quantities of 1 series differ from the committed ones:

planted, inference, domain=2
  bytes_sent   128 -> 256 B, +128 B (+100.00 %)
      all_gather in layer*: 2 calls of 128 B -> 2 calls of 256 B
  peak_bytes   192 -> 384 B, +192 B (+100.00 %)
      activation: 192 -> 384 B
      highest after all_gather in layer* as before

Calls, payload and flop are of all ranks together. If this is meant:
  type this
)");
}

TEST(ExactQuantities, AVanishedSeriesAndANewScenarioAreNamed) {
  const std::vector<ExactSeries> one = only(planted("8"), "domain=2");
  const results::Comparison vanished = compare_exact(one, {});
  ASSERT_EQ(vanished.findings.size(), 1U);
  EXPECT_EQ(vanished.findings[0].verdict, results::Verdict::vanished);
  EXPECT_EQ(exact_text(vanished, "type this"),
            R"(exact quantities of 1 series differ from the committed ones:

planted, inference, domain=2: has a line, but is not measured any more

Calls, payload and flop are of all ranks together. If this is meant:
  type this
)");
  const results::Comparison added = compare_exact({}, one);
  ASSERT_EQ(added.findings.size(), 1U);
  EXPECT_EQ(added.findings[0].verdict, results::Verdict::added);
  EXPECT_NE(exact_text(added, "").find("planted, inference, domain=2: is new and has no line\n"),
            std::string::npos);
}

TEST(ExactQuantities, SumsThatOnlyMovedToAnotherPlaceAreNamed) {
  const std::vector<ExactSeries> base = only(planted("8"), "domain=2");
  std::vector<ExactSeries> next = base;
  next[0].parts[0].scope = "elsewhere";
  const results::Comparison comparison = compare_exact(base, next);
  ASSERT_EQ(comparison.findings.size(), 1U);
  EXPECT_EQ(comparison.findings[0].reason, "equal sums from other places");
  EXPECT_EQ(comparison.findings[0].causes[0], "all_gather in layer*: 2 calls of 128 B -> nothing");
  EXPECT_EQ(comparison.findings[0].causes[1],
            "all_gather in elsewhere: nothing -> 2 calls of 128 B");
}

class ExactFile : public testing::Test {
 protected:
  void change(const std::string& file, const std::string& from, const std::string& to) {
    const std::string path = folder_.path() / file;
    std::ifstream stream(path);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in\n" << text;
    std::ofstream(path) << text.replace(at, from.size(), to);
  }

  std::string refusal() {
    try {
      (void)read_exact(folder_.path());
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::invalid);
      const std::string text = error.what();
      return text.substr(text.find_last_of('/') + 1);
    }
    return {};
  }

  Folder folder_;
};

TEST_F(ExactFile, IsReadAsItWasWritten) {
  const std::vector<ExactSeries> all = exact_series(all_scenarios(), meta_execution());
  write_exact(folder_.path(), all);
  EXPECT_TRUE(compare_exact(read_exact(folder_.path()), all).findings.empty());
  EXPECT_TRUE(read_exact(folder_.path() / "nothing").empty());
}

TEST_F(ExactFile, NamesTheLineThatIsWrong) {
  const auto written = [&] { write_exact(folder_.path(), only(planted("8"), "domain=2")); };
  written();
  change("quantities.tsv", "\t128\t", "\t12x\t");
  EXPECT_EQ(refusal(), "quantities.tsv, line 4: expected a whole number, found '12x'");
  written();
  change("quantities.tsv", "inference", "resting");
  EXPECT_EQ(refusal(), "quantities.tsv, line 4: expected inference or training, found 'resting'");
  written();
  change("quantities.tsv", "\t128\t", "\t");
  EXPECT_EQ(refusal(), "quantities.tsv, line 4: expected 16 fields, found 15");
  written();
  change("parts.tsv", "domain=2", "domain=5");
  EXPECT_EQ(refusal(), "parts.tsv, line 4: planted, inference, domain=5 is not in quantities.tsv");
  written();
  change("parts.tsv", "\tmoves\t", "\twalks\t");
  EXPECT_EQ(refusal(), "parts.tsv, line 5: expected moves or computes, found 'walks'");
}

}  // namespace
}  // namespace shardlab::test
