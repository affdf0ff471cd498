#include "results/change_points.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "engine/core/error.h"
#include "tests/results/noise.h"

namespace shardlab::results {
namespace {

std::vector<std::size_t> indices(const std::vector<ChangePoint>& changes) {
  std::vector<std::size_t> all;
  for (const ChangePoint& change : changes) all.push_back(change.index);
  return all;
}

/// Draws of deviation 1: normal, with double exponential tails, or normal and correlated by 0.3
/// from one to the next.
class Draws {
 public:
  explicit Draws(std::uint64_t seed, int kind = 0) : noise_(seed), kind_(kind) {}

  double operator()() {
    if (kind_ == 1)
      return (noise_.uniform() < 0.5 ? -1 : 1) * std::log(noise_.uniform()) / std::sqrt(2.0);
    if (kind_ == 2) return last_ = 0.3 * last_ + std::sqrt(1 - 0.09) * noise_.normal();
    return noise_.normal();
  }

 private:
  Noise noise_;
  int kind_;
  double last_ = 0;
};

// Everything a second time and as plainly as can be: all cuts, sorted segments, weights by
// counting.
double distance(std::vector<std::pair<double, double>> part) {
  std::ranges::sort(part);
  double total = 0;
  for (const auto& [value, weight] : part) total += weight;
  double reached = 0;
  double level = 0;
  for (const auto& [value, weight] : part) {
    reached += weight;
    level = value;
    if (reached >= total / 2) break;
  }
  double sum = 0;
  for (const auto& [value, weight] : part) sum += weight * std::abs(value - level);
  return sum;
}

double badness(const std::vector<double>& values, const std::vector<double>& weights, unsigned cuts,
               std::size_t shortest, double resolution) {
  const std::size_t n = values.size();
  double total_weight = 0;
  for (const double weight : weights) total_weight += weight;
  double sum = 0;
  int changes = 0;
  std::vector<std::pair<double, double>> part;
  for (std::size_t i = 0; i < n; ++i) {
    part.emplace_back(values[i], weights[i] / total_weight * static_cast<double>(n));
    const bool is_cut = (cuts >> i & 1) != 0;
    if (i + 1 < n && !is_cut) continue;
    if (part.size() < shortest) return std::numeric_limits<double>::infinity();
    sum += distance(part);
    part.clear();
    changes += i + 1 < n;
  }
  const auto count = static_cast<double>(n);
  return count * std::log(sum / count + resolution) + changes * change_penalty(n);
}

TEST(ChangePoints, AreThoseOfTheBestOfAllCuts) {
  std::mt19937_64 random(5);
  int with_changes = 0;
  for (int round = 0; round < 400; ++round) {
    const std::size_t n = 1 + random() % 10;
    const std::size_t shortest = 1 + random() % 3;
    Draws noise(random());
    std::vector<double> values, weights;
    double level = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (random() % 4 == 0) level += 100 * noise();
      values.push_back(level + noise());
      weights.push_back(round % 2 == 0 ? 1 : 0.5 + static_cast<double>(random() % 8));
    }
    const double resolution = 1e-3;
    double least = std::numeric_limits<double>::infinity();
    if (n >= shortest)
      for (unsigned cuts = 0; cuts < 1U << (n - 1); ++cuts)
        least = std::min(least, badness(values, weights, cuts, shortest, resolution));
    const auto found =
        change_points(values, {.shortest = shortest, .resolution = resolution, .weights = weights});
    unsigned cuts = 0;
    for (const ChangePoint& change : found) cuts |= 1U << (change.index - 1);
    with_changes += !found.empty();
    if (n >= 2 * shortest) {
      EXPECT_NEAR(badness(values, weights, cuts, shortest, resolution), least, 1e-9) << round;
    } else {
      EXPECT_TRUE(found.empty());
    }
  }
  EXPECT_GT(with_changes, 100);
}

TEST(ChangePoints, PlantedStepsAreFoundInNoise) {
  int right = 0;
  for (int seed = 0; seed < 100; ++seed) {
    Draws noise(static_cast<std::uint64_t>(seed), seed % 3);
    std::vector<double> values;
    for (int i = 0; i < 80; ++i) values.push_back((i < 25 ? 0 : i < 60 ? 8 : 3) + noise());
    const auto found = indices(change_points(values));
    right += found.size() == 2 && found[0] + 1 >= 25 && found[0] <= 26 && found[1] + 1 >= 60 &&
             found[1] <= 61;
  }
  EXPECT_GE(right, 95);
}

TEST(ChangePoints, NoiseAloneHasNoneInNinetyNineOfAHundred) {
  for (const int n : {4, 7, 12, 30, 60})
    for (int kind = 0; kind < 3; ++kind) {
      int alarms = 0;
      for (std::uint64_t seed = 0; seed < 500; ++seed) {
        Draws noise(seed * 7 + 1, kind);
        std::vector<double> values;
        for (int i = 0; i < n; ++i) values.push_back(20 + noise());
        alarms += !change_points(values).empty();
      }
      EXPECT_LE(alarms, 10) << "of 500 series of " << n << " values, noise " << kind;
    }
}

TEST(ChangePoints, OfAConstantSeriesThereAreNone) {
  for (const std::size_t n : {1, 2, 3, 50})
    EXPECT_TRUE(change_points(std::vector<double>(n, 0.1)).empty()) << n;
}

TEST(ChangePoints, TwoCleanLevelsAreFoundFromFourValues) {
  EXPECT_EQ(indices(change_points(std::vector<double>{1, 1, 2, 2})), std::vector<std::size_t>{2});
  EXPECT_TRUE(change_points(std::vector<double>{1, 2, 2}).empty());
}

TEST(ChangePoints, LevelsWithoutNoiseAreNotCutFurther) {
  for (const double level : {0.1, 1 / 3.0, 1e9 / 7}) {
    std::vector<double> values(21, level);
    values.insert(values.end(), 14, level * 1.1);
    EXPECT_EQ(indices(change_points(values)), std::vector<std::size_t>{21}) << level;
  }
}

TEST(ChangePoints, OneSpikeIsNoChange) {
  for (const std::size_t place : {0, 10, 29}) {
    Draws noise(3);
    std::vector<double> values;
    for (int i = 0; i < 30; ++i) values.push_back(100 + noise());
    values[place] += 500;
    EXPECT_TRUE(change_points(values).empty()) << place;
  }
}

TEST(ChangePoints, FewerThanTwoLevelsOfValuesHaveNone) {
  EXPECT_TRUE(change_points(std::vector<double>{}).empty());
  EXPECT_TRUE(change_points(std::vector<double>{7}).empty());
  EXPECT_TRUE(change_points(std::vector<double>{7, 9}).empty());
}

TEST(ChangePoints, AClearStepHasOnePlaceAndADimOneARange) {
  std::vector<double> values;
  Draws noise(1);
  for (int i = 0; i < 40; ++i) values.push_back((i < 20 ? 0 : 50) + noise());
  const auto clear = change_points(values);
  ASSERT_EQ(clear.size(), 1U);
  EXPECT_EQ(clear[0].first, 20U);
  EXPECT_EQ(clear[0].last, 20U);
  // A value between the levels may belong to the farther one, too.
  for (const double between : {26.0, 24.0}) {
    values[20] = between;
    const auto dim = change_points(values);
    ASSERT_EQ(dim.size(), 1U);
    EXPECT_EQ(dim[0].index, between > 25 ? 20U : 21U);
    EXPECT_EQ(dim[0].first, 20U);
    EXPECT_EQ(dim[0].last, 21U);
  }
}

TEST(ChangePoints, ValuesOfLittleWeightDoNotMakeAStep) {
  std::vector<double> values, weights(24, 1);
  Draws noise(9);
  for (int i = 0; i < 24; ++i) values.push_back((i < 18 ? 0 : 9) + noise());
  EXPECT_EQ(change_points(values, {.weights = weights}).size(), 1U);
  std::fill(weights.begin() + 18, weights.end(), 0.01);
  EXPECT_TRUE(change_points(values, {.weights = weights}).empty());
}

TEST(ChangePoints, StepsBelowTheResolutionAreNone) {
  const std::vector<double> values{1, 1, 1, 1, 1.001, 1.001, 1.001, 1.001};
  EXPECT_EQ(change_points(values).size(), 1U);
  EXPECT_TRUE(change_points(values, {.resolution = 0.001}).empty());
}

TEST(ChangePoints, RefuseWhatIsNoSeries) {
  const std::vector<double> bad{1, std::nan(""), 2, 3};
  EXPECT_THROW(static_cast<void>(change_points(bad)), Error);
  const std::vector<double> good{1, 2, 3, 4}, weights{1, 1, 0, 1}, few{1, 1};
  EXPECT_THROW(static_cast<void>(change_points(good, {.weights = weights})), Error);
  EXPECT_THROW(static_cast<void>(change_points(good, {.weights = few})), Error);
  EXPECT_THROW(static_cast<void>(change_points(std::vector<double>(most_values + 1, 1))), Error);
}

}  // namespace
}  // namespace shardlab::results
