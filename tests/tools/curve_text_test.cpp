#include "tools/curve_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "results/store.h"
#include "tests/support/command.h"

namespace shardlab::test {
namespace {

using namespace results;

/// A database in which a problem was measured on one and two ranks, predicted and published.
class CurveText : public testing::Test {
 protected:
  CurveText() : path_(folder_.path("runs.sqlite").string()) {
    Store store(path_);
    add(store, Execution::cpu, "domain=1", 8e-3);
    add(store, Execution::cpu, "domain=2", 5e-3);
    add(store, Execution::predict, "domain=1", 4e-3);
    add(store, Execution::predict, "domain=2", 2e-3);
    add(store, Execution::published, "domain=2", 2.5e-3);
  }

  void add(Store& store, Execution execution, const std::string& mesh, double seconds) {
    RunHeader header;
    header.series = {.scenario = "vit", .parameters = R"({"heads":"8"})", .mesh = mesh};
    header.series.execution = execution;
    const bool measured = execution == Execution::cpu;
    if (!measured) {
      header.series.machine = "dgx-h100";
      header.series.profile = "pytorch-shardtensor-2025";
    }
    const RunId run = store.start_run(header);
    Rows rows;
    rows.metrics = {{step_seconds(), {{.value = seconds}}}, {flop(), {{.rank = 0, .value = 1e9}}}};
    if (!measured)
      rows.uncertainties = {{step_seconds(), 0.9 * seconds, 1.1 * seconds, 0.8,
                             execution == Execution::predict ? "vendor" : "digitised"}};
    if (execution == Execution::predict && mesh == "domain=2") rows.folds = {{0, 2, "0-1"}};
    store.append(run, rows);
    store.finish_run(run, RunStatus::complete);
  }

  std::string text_of(Execution execution) {
    const Reader reader = open_for_reading(path_);
    const std::vector<Curve> all = scaling_curves(reader);
    for (const Curve& curve : all)
      if (curve.series.execution == execution) return curve_text(reader, curve, all);
    return "none";
  }

  /// The first line that begins with a word, its spaces made single.
  static std::string line_of(const std::string& text, const std::string& word, int nth = 0) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(word) || nth-- > 0) continue;
      std::istringstream cells(line);
      std::string joined;
      for (std::string cell; cells >> cell;) joined += (joined.empty() ? "" : " ") + cell;
      return joined;
    }
    return "none";
  }

  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  Folder folder_;
  std::string path_;
};

// 2 ms and a tenth either side; twice as fast as one rank; 2 ranks of 1 GFLOP in 2 ms.
TEST_F(CurveText, PredictedTimesAreMarkedAndHaveTheIntervalOfThePrediction) {
  const std::string text = text_of(Execution::predict);
  EXPECT_TRUE(has(text, "~predicted on dgx-h100, profile pytorch-shardtensor-2025\n")) << text;
  EXPECT_TRUE(has(text, "80 % interval")) << text;
  EXPECT_TRUE(has(text, "weakest source of the times: vendor")) << text;
  EXPECT_EQ(line_of(text, "domain=2"),
            "domain=2 ~2 ms ~1.8 .. 2.2 ms ~2.00x ~100.0 % ~1.00 TFLOP/s - - -");
}

TEST_F(CurveText, PublishedTimesSayWhomTheyAreOf) {
  const std::string text = text_of(Execution::published);
  EXPECT_TRUE(has(text, "published for dgx-h100, profile pytorch-shardtensor-2025\n")) << text;
  EXPECT_TRUE(has(text, "80 % interval") && has(text, "intervals: digitised")) << text;
  EXPECT_FALSE(has(text, "~")) << text;
}

TEST_F(CurveText, WhatWasPredictedAndPublishedStandsBesideWhatWasMeasured) {
  const std::string text = text_of(Execution::cpu);
  EXPECT_TRUE(has(text, "on cpu\n")) << text;
  EXPECT_EQ(line_of(text, "domain=1", 1),
            "domain=1 8 ms ~4 ms ~3.6 .. 4.4 ms ~50.0 % predicted dgx-h100, "
            "pytorch-shardtensor-2025");
  EXPECT_EQ(line_of(text, "domain=2", 1),
            "domain=2 5 ms 2.5 ms 2.25 .. 2.75 ms 50.0 % published dgx-h100, "
            "pytorch-shardtensor-2025");
  EXPECT_TRUE(has(text, "~2 ms") && has(text, "~40.0 %")) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
}

TEST_F(CurveText, AloneAMeasuredCurveHasNothingBesideIt) {
  const Reader reader = open_for_reading(path_);
  for (const Curve& curve : scaling_curves(reader))
    if (is_measured(curve.series)) {
      EXPECT_FALSE(has(curve_text(reader, curve, {curve}), "beside it"));
    }
}

TEST_F(CurveText, RunsThatTimedNoStepShowTheirMetrics) {
  {
    Store store(path_);
    RunHeader header;
    header.series = {.scenario = "gate-test"};
    const RunId run = store.start_run(header);
    const Metric alarms{.name = "false_alarms", .unit = "1"};
    store.append(run, {.metrics = {{alarms, {{.value = 0.0125}}}},
                       .uncertainties = {{alarms, 0.01, 0.02, 0.95, "80 reports"}}});
    store.finish_run(run, RunStatus::complete);
  }
  const Reader reader = open_for_reading(path_);
  const std::vector<Curve> all = scaling_curves(reader);
  ASSERT_EQ(all.front().series.scenario, "gate-test");
  const std::string text = curve_text(reader, all.front(), all);
  EXPECT_EQ(line_of(text, "mesh"), "mesh metric unit median iterations interval") << text;
  EXPECT_EQ(line_of(text, "domain=1"), "domain=1 false_alarms 1 0.0125 1 0.01 .. 0.02, 95 %");
  EXPECT_FALSE(has(text, "speedup")) << text;
}

TEST_F(CurveText, ARunThatFailedKeepsItsRowAndItsReason) {
  {
    Store store(path_);
    RunHeader header;
    header.series = {.scenario = "gate-test"};
    store.finish_run(store.start_run(header), RunStatus::failed, "out of luck");
  }
  const Reader reader = open_for_reading(path_);
  const std::vector<Curve> all = scaling_curves(reader);
  const std::string text = curve_text(reader, all.front(), all);
  EXPECT_TRUE(has(text, "speedup") && has(text, "domain=1 failed: out of luck")) << text;
}

TEST_F(CurveText, JsonHoldsIntervalsAndWhatStandsBeside) {
  const Reader reader = open_for_reading(path_);
  const std::vector<Curve> all = scaling_curves(reader);
  std::vector<const Curve*> each;
  for (const Curve& curve : all) each.push_back(&curve);
  for (const nlohmann::json& curve : nlohmann::json::parse(curves_json(each, all))) {
    const nlohmann::json& row = curve["rows"].back();
    if (curve["execution"] == "cpu") {
      EXPECT_TRUE(row["interval"].is_null()) << "one sample has none";
      ASSERT_EQ(row["beside"].size(), 2U);
      EXPECT_EQ(row["beside"][1]["of_measured"], 2e-3 / 5e-3);
    } else {
      EXPECT_EQ(row["interval"]["coverage"], 0.8);
      EXPECT_EQ(curve["machine"], "dgx-h100");
      EXPECT_TRUE(row["beside"].empty());
    }
  }
}

}  // namespace
}  // namespace shardlab::test
