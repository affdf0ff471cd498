#include "results/curve_fit.h"

#include <algorithm>
#include <cmath>

#include "engine/core/check.h"
#include "results/resample.h"

namespace shardlab::results {
namespace {

struct Point {
  double ranks = 1;
  double seconds = 0;
};

// seconds = fixed + scaled * x with x = 1 / ranks or ranks; every equation divided by its seconds.
CurveFit fit(const std::vector<Point>& points, bool weak) {
  double ww = 0, wx = 0, xx = 0, w = 0, x = 0;
  for (const Point& point : points) {
    const double a = 1 / point.seconds;
    const double b = (weak ? point.ranks : 1 / point.ranks) / point.seconds;
    ww += a * a;
    wx += a * b;
    xx += b * b;
    w += a;
    x += b;
  }
  const double determinant = ww * xx - wx * wx;
  const double fixed = (w * xx - x * wx) / determinant;
  const double scaled = (x * ww - w * wx) / determinant;
  const double alone = fixed + scaled;
  return {alone, (weak ? scaled : fixed) / alone, weak};
}

double efficiency_of(const std::vector<Point>& points, bool weak) {
  const Point& first = points.front();
  const Point& last = points.back();
  const double speed = first.seconds / last.seconds;
  return weak ? speed : speed * first.ranks / last.ranks;
}

/// The medians of a side, or of a resample of it.
class Curve {
 public:
  explicit Curve(const std::vector<CurvePoint>& points) {
    check(points.size() >= 2, "a curve of {} sizes; at least 2 are needed", points.size());
    for (const CurvePoint& point : points) {
      for (const double seconds : point.seconds)
        check(seconds > 0 && std::isfinite(seconds), "a curve with a time of {} s", seconds);
      medians_.push_back({point.ranks, median(point.seconds)});
      resamples_.emplace_back(point.seconds, block_length(point.seconds));
    }
  }

  [[nodiscard]] const std::vector<Point>& medians() const { return medians_; }

  [[nodiscard]] std::vector<Point> draw(Random& random) {
    std::vector<Point> points = medians_;
    for (std::size_t i = 0; i < points.size(); ++i)
      points[i].seconds = resamples_[i].median(random);
    return points;
  }

 private:
  std::vector<Point> medians_;
  std::vector<Resample> resamples_;
};

// How often resamples lie on the other side of no change, both ways.
double p_of(const std::vector<double>& ratios) {
  const auto below =
      static_cast<double>(std::ranges::count_if(ratios, [](double ratio) { return ratio <= 1; }));
  const auto all = static_cast<double>(ratios.size());
  return std::min(1.0, 2 * (std::min(below, all - below) + 1) / (all + 1));
}

}  // namespace

double CurveFit::relative(double ranks) const {
  return weak ? 1 - serial + serial * ranks : serial + (1 - serial) / ranks;
}

CurveFit fit_curve(const std::vector<CurvePoint>& points, bool weak) {
  return fit(Curve(points).medians(), weak);
}

CurveChange curve_change_of(const std::vector<CurvePoint>& base,
                            const std::vector<CurvePoint>& next, bool weak,
                            const Bootstrap& options) {
  check(std::ranges::equal(base, next, {}, &CurvePoint::ranks, &CurvePoint::ranks),
        "curves of {} and {} sizes that differ", base.size(), next.size());
  Curve bases(base), nexts(next);
  const double most = base.back().ranks;
  CurveChange change;
  change.base = fit(bases.medians(), weak);
  change.next = fit(nexts.medians(), weak);
  change.relative.value = change.next.relative(most) / change.base.relative(most);
  change.base_efficiency = efficiency_of(bases.medians(), weak);
  change.next_efficiency = efficiency_of(nexts.medians(), weak);
  change.efficiency.value = change.next_efficiency / change.base_efficiency;
  Random random(options.seed);
  std::vector<double> base_serial, next_serial, relative, efficiency;
  for (std::int32_t i = 0; i < options.resamples; ++i) {
    const std::vector<Point> b = bases.draw(random), n = nexts.draw(random);
    const CurveFit b_fit = fit(b, weak), n_fit = fit(n, weak);
    base_serial.push_back(b_fit.serial);
    next_serial.push_back(n_fit.serial);
    relative.push_back(n_fit.relative(most) / b_fit.relative(most));
    efficiency.push_back(efficiency_of(n, weak) / efficiency_of(b, weak));
  }
  change.relative_p = p_of(relative);
  change.efficiency_p = p_of(efficiency);
  change.base_serial = percentiles(std::move(base_serial), options.coverage);
  change.next_serial = percentiles(std::move(next_serial), options.coverage);
  change.relative.interval = percentiles(std::move(relative), options.coverage);
  change.efficiency.interval = percentiles(std::move(efficiency), options.coverage);
  return change;
}

}  // namespace shardlab::results
