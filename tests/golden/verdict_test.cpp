#include "tests/golden/verdict.h"

#include <gtest/gtest.h>

#include <fstream>

#include "engine/dispatch/intrinsic.h"
#include "engine/ops/arithmetic.h"

namespace shardlab::golden {
namespace {

/// y = 2 x over [3, 2], with the gradient 2 g.
Case doubling() {
  Case golden;
  golden.id = "double-x";
  golden.op = "double";
  golden.attributes = nlohmann::json::object();
  const auto array = [](double factor) {
    return Array{Array::Kind::float64, {3, 2}, {factor, 0, -factor, 3 * factor, 5, -5}};
  };
  golden.inputs["x"] = array(1);
  golden.cotangents["y"] = array(7);
  golden.outputs["y"] = {Array::Kind::float64, {3, 2}, {2, 0, -2, 6, 10, -10}};
  golden.gradients["x"] = {Array::Kind::float64, {3, 2}, {14, 0, -14, 42, 10, -10}};
  return golden;
}

/// An absent list of these lines.
Absent listing(const std::string& lines) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("shardlab-absent-" + std::to_string(::getpid()) + ".txt");
  std::ofstream(path) << lines;
  const Absent absent(path);
  std::filesystem::remove(path);
  return absent;
}

Verdict verdict_of(void (*apply)(Trial&), const Case& golden, const std::string& absent = "") {
  const Family family{"double", 1, 0, apply, every_cut};
  return judge(family, golden, listing(absent));
}

void expect_failed(const Verdict& verdict, std::size_t times, const std::string& words) {
  EXPECT_EQ(verdict.kind, Verdict::Kind::failed);
  std::size_t found = 0;
  for (const std::string& reason : verdict.reasons)
    found += reason.find(words) != std::string::npos ? 1 : 0;
  EXPECT_EQ(found, times) << "'" << words
                          << "' in: " << fmt::format("{}", fmt::join(verdict.reasons, "\n"));
}

void double_it(Trial& trial) { trial.give("y", scale(trial.operand("x"), 2)); }

void refuse_causal(Trial&) { fail(Fault::unsupported, "attribute causal is not there"); }

Case causal() {
  Case golden = doubling();
  golden.attributes["causal"] = true;
  return golden;
}

// Two executions on one rank, and four arrangements of three ranks.
constexpr std::size_t results = 2 + 4 * 3;

TEST(Verdict, OfRightValuesIsRun) {
  const Verdict verdict = verdict_of(double_it, doubling());
  EXPECT_EQ(verdict.kind, Verdict::Kind::run);
  EXPECT_TRUE(verdict.reasons.empty());
}

TEST(Verdict, OfAnOutputThatIsALittleOffIsFailedInFloat64Only) {
  Case golden = doubling();
  golden.outputs["y"].values[5] *= 1 + 1e-9;
  expect_failed(verdict_of(double_it, golden), results - 1,
                "output y: error 1.00e-09, at most 1e-10");
}

TEST(Verdict, OfAGradientThatIsALittleOffIsFailed) {
  Case golden = doubling();
  golden.gradients["x"].values[3] *= 1 + 1e-3;
  expect_failed(verdict_of(double_it, golden), results, "gradient x: error 9.99e-04");
}

TEST(Verdict, AllowsThreeTimesTheErrorOfAnotherLibraryInFloat32) {
  Case golden = doubling();
  golden.forward_error32 = 1e-3;
  golden.outputs["y"].values[5] *= 1 + 2e-3;
  expect_failed(verdict_of(double_it, golden), results - 1, "float64");
  golden.forward_error32 = 1e-4;
  expect_failed(verdict_of(double_it, golden), 1, "float32");
}

TEST(Verdict, OfAnOutputThatIsMissingOrUnknownOrMisshapenIsFailed) {
  Case golden = doubling();
  golden.outputs["z"] = golden.outputs["y"];
  expect_failed(verdict_of(double_it, golden), results, "output z: not given");
  golden = doubling();
  golden.outputs["z"] = golden.outputs["y"];
  golden.outputs.erase("y");
  golden.cotangents.clear();
  golden.gradients.clear();
  expect_failed(verdict_of(double_it, golden), 6, "no output 'y'");
  golden = doubling();
  golden.outputs["y"].shape = {2, 3};
  expect_failed(verdict_of(double_it, golden), 6, "output y is [3, 2], expected [2, 3]");
}

TEST(Verdict, OfARefusalThatNamesAnAbsentAttributeIsSkipped) {
  const Verdict verdict = verdict_of(refuse_causal, causal(), "double causal\n");
  EXPECT_EQ(verdict.kind, Verdict::Kind::skipped);
  ASSERT_EQ(verdict.reasons.size(), 1U);
  EXPECT_NE(verdict.reasons[0].find("attribute causal"), std::string::npos);
}

TEST(Verdict, OfAnyOtherRefusalIsFailed) {
  expect_failed(verdict_of(refuse_causal, causal()), 6, "nothing absent is asked");
  expect_failed(verdict_of(refuse_causal, doubling(), "double causal\n"), 6,
                "nothing absent is asked");
  const auto refuse = [](Trial&) { fail(Fault::unsupported, "no such kernel"); };
  expect_failed(verdict_of(refuse, causal(), "double causal\n"), 6, "without naming causal");
}

TEST(Verdict, OfACaseThatMayBeRefusedIsSkippedWhateverTheText) {
  Case golden = doubling();
  golden.may_refuse = true;
  const auto refuse = [](Trial&) { fail(Fault::unsupported, "no such kernel"); };
  EXPECT_EQ(verdict_of(refuse, golden).kind, Verdict::Kind::skipped);
}

TEST(Verdict, OfARefusalOnSomeMeshesOnlyIsFailed) {
  const auto refuse = [](Trial& trial) {
    if (trial.arrangement().ranks > 1) refuse_causal(trial);
    double_it(trial);
  };
  expect_failed(verdict_of(refuse, causal(), "double causal\n"), 1, "refused in 4 of 6 executions");
}

TEST(Verdict, OfAnErrorThatIsNoRefusalIsFailed) {
  const auto wrong = [](Trial&) { check(false, "sizes differ"); };
  expect_failed(verdict_of(wrong, doubling()), 6, "sizes differ");
}

TEST(Arrangements, CutEveryDimInUnevenPartsSomeOfThemEmpty) {
  EXPECT_EQ(with_hole(7), (std::vector<std::int64_t>{2, 0, 5}));
  EXPECT_EQ(with_hole(1), (std::vector<std::int64_t>{0, 0, 1}));
  EXPECT_EQ(ragged(7), (std::vector<std::int64_t>{3, 3, 1}));
  EXPECT_EQ(ragged(1), (std::vector<std::int64_t>{0, 1, 0}));
  const std::vector<Arrangement> all = every_cut(doubling());
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[1].text(), "3 ranks, x dim 1 in 0,0,2");
  EXPECT_EQ(all[2].text(), "3 ranks, x dim 0 in 1,2,0");
}

TEST(AbsentList, RefusesALineGivenTwice) {
  EXPECT_THROW(listing("a\nb\na\n"), Error);
  EXPECT_TRUE(listing("a\nb c\n").has("b c"));
}

}  // namespace
}  // namespace shardlab::golden
