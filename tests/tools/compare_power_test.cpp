#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "results/change.h"
#include "results/holm.h"
#include "tests/results/noise.h"

namespace shardlab::results {
namespace {

struct Rate {
  int hits = 0;
  int of = 0;

  /// The interval of Wilson, 1927, which holds the true rate in 95 of 100 cases.
  [[nodiscard]] Interval interval() const {
    const double n = of, part = hits / n, z = 1.95996;
    const double middle = (part + z * z / (2 * n)) / (1 + z * z / n);
    const double half =
        z / (1 + z * z / n) * std::sqrt(part * (1 - part) / n + z * z / (4 * n * n));
    return {middle - half, middle + half};
  }

  void print(const std::string& what) const {
    std::cout << what << ": " << hits << " of " << of << ", " << 100 * interval().low << " .. "
              << 100 * interval().high << " %\n";
  }
};

/// Twenty pairs of blocks of a step of 20 ms, drawn from noise as machines have it: a drift that
/// both sides share, noise of each, and now and then a step that takes a half longer.
Samples pairs_of(Noise& noise, double factor, double spread) {
  Samples samples;
  const auto block = [&](double machine) {
    std::vector<double> steps = noise.steps(5, machine, spread);
    for (double& step : steps) step *= noise.uniform() < 0.05 ? 1.5 : 1;
    return median(steps);
  };
  for (const double machine : noise.drifting(20, 0.02, 0.1, 0.9)) {
    samples.base.push_back(block(machine));
    samples.next.push_back(factor * block(machine));
  }
  return samples;
}

bool is_worse(const std::vector<Change>& report) {
  std::vector<double> p;
  for (const Change& change : report) p.push_back(change.p);
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < report.size(); ++i)
    if (judge(report[i], step_seconds(), adjusted[i], {}).verdict == Verdict::worse) return true;
  return false;
}

TEST(ComparePower, FalseAlarmsAreAtMostOneOfHundredReportsAtAnyNoise) {
  for (const double spread : {0.02, 0.1, 0.3}) {
    Noise noise(1);
    Rate rate{0, 2000};
    for (int i = 0; i < rate.of; ++i)
      rate.hits += is_worse({change_of(pairs_of(noise, 1, spread))}) ? 1 : 0;
    rate.print("false alarms of equal sides, noise of a step " + std::to_string(100 * spread) +
               " %");
    EXPECT_LE(rate.hits, 32);  // 1 % are 20; 2.7 deviations of 4.5
  }
}

TEST(ComparePower, AReportOfTenSeriesRaisesNoMoreAlarmsThanOneOfOne) {
  Noise noise(2);
  Rate rate{0, 500};
  for (int i = 0; i < rate.of; ++i) {
    std::vector<Change> report;
    for (int series = 0; series < 10; ++series)
      report.push_back(change_of(pairs_of(noise, 1, 0.3)));
    rate.hits += is_worse(report) ? 1 : 0;
  }
  rate.print("false alarms of reports of ten series");
  EXPECT_LE(rate.hits, 11);  // 1 % are 5; 2.7 deviations of 2.2
}

TEST(ComparePower, FivePercentOfTwentyMillisecondsAreFoundInNineOfTen) {
  for (const double slower : {1.01, 1.02, 1.05, 1.1}) {
    Noise noise(3);
    Rate rate{0, 2000};
    for (int i = 0; i < rate.of; ++i)
      rate.hits += is_worse({change_of(pairs_of(noise, slower, 0.03))}) ? 1 : 0;
    rate.print("found of steps " + std::to_string(slower) + " times as long");
    EXPECT_GE(rate.hits, slower >= 1.05 ? 1800 : 0) << slower;
    EXPECT_LE(rate.hits, slower <= 1.01 ? 32 : rate.of) << slower;
  }
}

}  // namespace
}  // namespace shardlab::results
