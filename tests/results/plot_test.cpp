#include "results/plot.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/error.h"
#include "results/plot_scaling.h"
#include "results/plot_timeline.h"
#include "results/plot_waterfall.h"
#include "results/svg.h"

namespace shardlab::results {
namespace {

std::vector<std::string> texts_of(const Axis& axis) {
  std::vector<std::string> texts;
  for (const Tick& tick : axis.ticks) texts.push_back(tick.text);
  return texts;
}

CurveRow row_of(std::int64_t ranks, double seconds) {
  CurveRow row{.mesh = "domain=" + std::to_string(ranks), .ranks = ranks, .run = {ranks}};
  row.seconds = Summary{.median = seconds, .interval = Interval{seconds * 0.9, seconds * 1.1}};
  return row;
}

Curve curve_of(std::vector<CurveRow> rows, Execution execution = Execution::cpu) {
  Curve curve{.series = {.scenario = "vit", .mesh = "", .execution = execution},
              .rows = std::move(rows)};
  if (execution != Execution::cpu) curve.series.machine = "dgx-a100";
  compare_with_one_rank(curve);
  return curve;
}

const Trail* trail_named(const Plot& plot, const std::string& name) {
  for (const Trail& trail : plot.trails)
    if (trail.name == name) return &trail;
  return nullptr;
}

TEST(Plot, LogarithmicTicksAreAtOneTwoAndFiveInTheUnitOfTheLargest) {
  const Axis axis = logarithmic_axis("time", Quantity::seconds, {0.004, 0.09});
  EXPECT_EQ(axis.title, "time, ms");
  EXPECT_EQ(texts_of(axis), (std::vector<std::string>{"5", "10", "20", "50", "100"}));
  EXPECT_NEAR(axis.place_of(axis.low), 0, 1e-12);
  EXPECT_NEAR(axis.place_of(std::sqrt(axis.low * axis.high)), 0.5, 1e-12);
}

TEST(Plot, OfManyDecadesOnlyPowersOfTenAreWrittenEachInItsUnit) {
  const Axis axis = logarithmic_axis("time", Quantity::seconds, {1e-5, 1});
  EXPECT_EQ(texts_of(axis),
            (std::vector<std::string>{"10 us", "100 us", "1 ms", "10 ms", "100 ms", "1 s"}));
}

TEST(Plot, ALogarithmicAxisRefusesZero) {
  EXPECT_THROW(static_cast<void>(logarithmic_axis("time", Quantity::seconds, {0, 1})), Error);
}

TEST(Plot, LinearTicksAreRoundAndHoldZeroAndWhatIsBelow) {
  const Axis bytes = linear_axis("peak", Quantity::bytes, {3.5 * 1024 * 1024});
  EXPECT_EQ(bytes.title, "peak, MiB");
  EXPECT_EQ(texts_of(bytes),
            (std::vector<std::string>{"0", "0.5", "1", "1.5", "2", "2.5", "3", "3.5"}));
  const Axis below = linear_axis("time", Quantity::seconds, {-1, 4});
  EXPECT_EQ(texts_of(below), (std::vector<std::string>{"-1", "0", "1", "2", "3", "4"}));
}

TEST(Plot, PlacesBeyondTheEndsAreClipped) {
  const Axis axis = logarithmic_axis("time", Quantity::seconds, {1, 100});
  EXPECT_EQ(axis.place_of(0), 0);
  EXPECT_EQ(axis.place_of(-5), 0);
  EXPECT_EQ(axis.place_of(1e9), 1);
}

TEST(ScalingPlot, ExecutionsDifferByMarkerAndDash) {
  const std::vector<Curve> curves{curve_of({row_of(1, 1), row_of(2, 0.6)}),
                                  curve_of({row_of(1, 1), row_of(2, 0.5)}, Execution::predict),
                                  curve_of({row_of(1, 1), row_of(2, 0.7)}, Execution::published)};
  const std::vector<Problem> problems = problems_of(curves);
  ASSERT_EQ(problems.size(), 1U);
  const Plot plot = *scaling_plot(problems[0]);
  EXPECT_EQ(trail_named(plot, "cpu")->marker, Marker::disc);
  EXPECT_EQ(trail_named(plot, "cpu")->dash, Dash::solid);
  EXPECT_EQ(trail_named(plot, "~dgx-a100")->marker, Marker::square);
  EXPECT_EQ(trail_named(plot, "~dgx-a100")->dash, Dash::dashed);
  EXPECT_EQ(trail_named(plot, "published dgx-a100")->marker, Marker::circle);
  EXPECT_EQ(trail_named(plot, "published dgx-a100")->dash, Dash::none);
}

TEST(ScalingPlot, ALineBreaksWhereOnlyAnotherCurveHasARankNumber) {
  const std::vector<Curve> curves{
      curve_of({row_of(1, 1), row_of(2, 0.6), row_of(8, 0.2)}),
      curve_of({row_of(1, 1), row_of(4, 0.3), row_of(8, 0.2)}, Execution::predict)};
  const Plot plot = *scaling_plot(problems_of(curves)[0]);
  const std::vector<PlotPoint>& marks = trail_named(plot, "cpu")->marks;
  ASSERT_EQ(marks.size(), 3U);
  EXPECT_TRUE(marks[1].joined);
  EXPECT_FALSE(marks[2].joined);  // 4 is missing.
}

TEST(ScalingPlot, AFailedRunIsAGapAndARemark) {
  CurveRow failed{.mesh = "domain=2",
                  .ranks = 2,
                  .run = {9},
                  .status = RunStatus::failed,
                  .reason = "loss is not finite"};
  const std::vector<Curve> curves{curve_of({row_of(1, 1), failed, row_of(4, 0.3)})};
  const Plot plot = *scaling_plot(problems_of(curves)[0]);
  EXPECT_FALSE(trail_named(plot, "cpu")->marks[1].joined);
  EXPECT_EQ(plot.twin.rows[1].back(), "failed: loss is not finite");
}

// 1 s on one rank and 1.2 s on 64, where the ideal is 1/64 s: it goes down to a fourth of the least
// time, 0.225 s, less the margin of the axis, and ends there on its slope.
TEST(ScalingPlot, IdealLinesKeepTheirSlopeAndLeavePointsHalfTheHeight) {
  const Curve curve = curve_of({row_of(1, 1), row_of(64, 1.2)});
  const Plot plot = *scaling_plot(problems_of({curve}).front());
  const Trail* ideal = trail_named(plot, "ideal: time by ranks");
  ASSERT_NE(ideal, nullptr);
  const PlotPoint& end = ideal->marks.back();
  EXPECT_GE(end.y, plot.y.low);
  EXPECT_NEAR(end.x * end.y, 1, 1e-9);
  EXPECT_NEAR(plot.y.low * 1.15, 0.225, 0.02);
  EXPECT_GE(plot.y.ticks.size(), 3U);
}

TEST(Plot, OfNarrowRangesTicksAreRoundToo) {
  EXPECT_EQ(texts_of(logarithmic_axis("time", Quantity::seconds, {0.095, 0.125})),
            (std::vector<std::string>{"90", "100", "120", "140"}));
}

TEST(ScalingPlot, OnlyAnIntervalThatBeatsTheIdealAsAWholeIsFlagged) {
  CurveRow wide = row_of(4, 0.24);
  wide.seconds->interval = Interval{0.1, 0.3};  // Up to 0.3, the ideal is 0.25.
  // 2 ranks: 0.4 to 0.44 of an ideal 0.5.
  const std::vector<Curve> curves{curve_of({row_of(1, 1), row_of(2, 0.4), wide})};
  const std::vector<PlotPoint> marks =
      trail_named(*scaling_plot(problems_of(curves)[0]), "cpu")->marks;
  EXPECT_TRUE(marks[1].flagged);
  EXPECT_FALSE(marks[2].flagged);
}

TEST(ScalingPlot, EfficiencyIsTheTimeOfOneByNTimesThatOfN) {
  const std::vector<Curve> curves{curve_of({row_of(1, 1), row_of(2, 0.8)})};
  const Plot plot = *efficiency_plot(problems_of(curves)[0]);
  const PlotPoint mark = trail_named(plot, "cpu")->marks[1];
  EXPECT_NEAR(mark.y, 1 / 1.6, 1e-12);
  EXPECT_NEAR(mark.interval->low, 1 / (2 * 0.88), 1e-12);
  EXPECT_NEAR(mark.interval->high, 1 / (2 * 0.72), 1e-12);
}

TEST(ScalingPlot, ProblemsAlikeAreNamedByWhatDiffers) {
  std::vector<Curve> curves{curve_of({row_of(1, 1)}), curve_of({row_of(1, 2)})};
  curves[0].series.parameters = R"({"heads":2,"size":"8x8"})";
  curves[1].series.parameters = R"({"heads":2,"size":"16x16"})";
  const std::vector<Problem> problems = problems_of(curves);
  EXPECT_EQ(problems[0].title, "vit, float32, inference, size 8x8");
  EXPECT_EQ(problems[1].title, "vit, float32, inference, size 16x16");
}

TEST(TimelinePlot, NarrowStepsAreFoldedAndCounted) {
  Timeline timeline;
  const auto step = [&](const char* op, double begin, double end) {
    timeline.steps.push_back({.ordinal = static_cast<std::int64_t>(timeline.steps.size()),
                              .op = op,
                              .lane = "compute",
                              .begin_seconds = begin,
                              .end_seconds = end});
  };
  for (int i = 0; i < 100'000; ++i) step("add", i * 1e-5, i * 1e-5 + 0.9e-5);
  step("matmul", 1, 3);
  const Plot plot = *timeline_plot("one step", StoredRun{}, timeline);
  EXPECT_LE(plot.boxes.size(), 301U);
  EXPECT_EQ(plot.boxes.back().text, "matmul");
  EXPECT_EQ(plot.twin.rows[1][1], "100000");
  ASSERT_EQ(plot.notes.size(), 1U);
  EXPECT_EQ(plot.notes[0], "100000 steps narrower than 10 ms are folded with their neighbours.");
}

TEST(TimelinePlot, WithoutStepsThereIsNone) {
  EXPECT_FALSE(timeline_plot("one step", StoredRun{}, Timeline{}));
}

TEST(WaterfallPlot, PartsBeginWhereTheOneBeforeEnds) {
  const Plot plot =
      waterfall_plot("run", {{"ideal", 4}, {"launch", 3}, {"less", -1}}, {"this run", 6}, true);
  ASSERT_EQ(plot.boxes.size(), 4U);
  EXPECT_EQ(plot.boxes[1].x0, 4);
  EXPECT_EQ(plot.boxes[2].x0, 7);
  EXPECT_EQ(plot.boxes[2].x1, 6);
  EXPECT_EQ(plot.boxes[3].x1, 6);
  EXPECT_EQ(plot.twin.rows[2][1], "~-1.000 s");
  EXPECT_EQ(plot.twin.rows[2][2], "~-16.7 %");
}

TEST(Svg, TextIsEscapedAndIntervalsEndAtTheAxes) {
  Plot plot{.title = "<script>"};
  plot.x = ranks_axis({1, 2});
  plot.y = logarithmic_axis("time", Quantity::seconds, {1, 10});
  plot.trails = {{.name = "<script>|", .marks = {{.x = 1, .y = 2, .interval = Interval{0, 5}}}}};
  const std::string svg = svg_file(plot, Theme::both);
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  // The bar, and a cap at its upper end only: the lower one lies beyond the axis.
  std::size_t lines = 0;
  for (std::size_t at = svg.find("class=\"l0\""); at != std::string::npos;
       at = svg.find("class=\"l0\"", at + 1))
    ++lines;
  EXPECT_EQ(lines, 2U + 2U);  // The line of the legend and of the trail.
}

}  // namespace
}  // namespace shardlab::results
