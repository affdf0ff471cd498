#include "results/curve_fit.h"

#include "results/published.h"
#include "tests/results/fixture.h"
#include "tests/results/noise.h"

namespace shardlab::results {
namespace {

constexpr std::array sizes = {1., 2., 4., 8.};

/// 20 samples a size of a curve with this serial fraction and 2 % of noise.
std::vector<CurvePoint> curve_of(Noise& noise, double serial, bool weak = false) {
  std::vector<CurvePoint> points;
  for (const double ranks : sizes)
    points.push_back({ranks, noise.steps(20, CurveFit{1, serial, weak}.relative(ranks), 0.02)});
  return points;
}

// 0.1 + 0.9 / 4 = 0.325; weak: 0.9 + 0.1 * 4 = 1.3.
TEST(CurveFit, RecoversAPlantedSerialFractionExactlyWithoutNoise) {
  for (const bool weak : {false, true}) {
    const CurveFit planted{3, 0.1, weak};
    EXPECT_DOUBLE_EQ(planted.relative(4), weak ? 1.3 : 0.325);
    std::vector<CurvePoint> points;
    for (const double ranks : sizes) points.push_back({ranks, {3 * planted.relative(ranks)}});
    const CurveFit fitted = fit_curve(points, weak);
    EXPECT_NEAR(fitted.alone, 3, 1e-12);
    EXPECT_NEAR(fitted.serial, 0.1, 1e-12);
  }
}

// Published training of the ViT at 2048 x 2048: 31.4 s alone, 5.02 s on 8; by these two alone
// 5.02 / 31.4 = s + (1 - s) / 8 gives s = 0.040. At 1024 x 1024, 0.54 / 2.2 gives s = 0.138.
TEST(CurveFit, OfPublishedRowsIsWhatTheirEndsSay) {
  const auto files = published_files();
  const auto vit = std::ranges::find_if(
      files, [](const PublishedFile& file) { return std::string(file.name) == "vit"; });
  ASSERT_NE(vit, files.end());
  const PublishedRows rows = read_published(vit->text, vit->name);
  const auto fit_of = [&](const std::string& size) {
    std::vector<CurvePoint> points;
    for (const PublishedRow& row : rows.rows)
      if (row.train && row.seconds && row.parameters.at("size") == size)
        points.push_back({static_cast<double>(row.gpus), {*row.seconds}});
    EXPECT_EQ(points.size(), 4U);
    return fit_curve(points, false);
  };
  EXPECT_NEAR(fit_of("2048x2048").serial, 0.040, 0.01);
  EXPECT_NEAR(fit_of("1024x1024").serial, 0.138, 0.02);
}

TEST(CurveChange, IntervalsHoldThePlantedSerialFraction) {
  int held = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Noise noise(seed);
    const CurveChange change =
        curve_change_of(curve_of(noise, 0.05), curve_of(noise, 0.05), false, {.resamples = 400});
    held += change.base_serial.low <= 0.05 && 0.05 <= change.base_serial.high ? 1 : 0;
  }
  std::cout << "intervals of 200 that hold the serial fraction: " << held << '\n';
  EXPECT_GE(held, 190 - 13);  // 4 deviations of 3.1
}

TEST(CurveChange, FindsAGrowthOfTheSerialFractionAndNoneWhereThereIsNone) {
  int found = 0, alarms = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Noise noise(seed);
    const Bootstrap options{.resamples = 400};
    const auto is_worse = [](const CurveChange& change) {
      return change.relative.interval.low > 1.02 && change.relative_p < 0.02 ? 1 : 0;
    };
    found +=
        is_worse(curve_change_of(curve_of(noise, 0.05), curve_of(noise, 0.08), false, options));
    alarms +=
        is_worse(curve_change_of(curve_of(noise, 0.05), curve_of(noise, 0.05), false, options));
  }
  std::cout << "of 100: growth of the serial fraction from 0.05 to 0.08 found " << found
            << ", false alarms " << alarms << '\n';
  EXPECT_GE(found, 90);
  EXPECT_LE(alarms, 1);
}

TEST(CurveChange, RefusesCurvesThatAreNone) {
  const std::vector<CurvePoint> one = {{1, {1}}}, two = {{1, {1}}, {2, {0}}},
                                other = {{1, {1}}, {4, {1}}}, fine = {{1, {1}}, {2, {1}}};
  for (const auto& points : {one, two})
    EXPECT_EQ(error_of([&] { static_cast<void>(fit_curve(points, false)); }).fault(),
              Fault::invalid);
  EXPECT_EQ(error_of([&] { static_cast<void>(curve_change_of(fine, other, false)); }).fault(),
            Fault::invalid);
}

}  // namespace
}  // namespace shardlab::results
