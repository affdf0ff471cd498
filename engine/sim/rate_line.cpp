#include "engine/sim/rate_line.h"

#include <algorithm>
#include <cmath>

#include "engine/core/check.h"

namespace shardlab::sim {

void RateLine::complete(const Points& points, Source source, double half_width) {
  std::vector<Point> below;
  std::vector<Point> above;
  for (const auto& [size, rate] : points) {
    const Point point{size, rate, std::log(size), std::log(rate), source, half_width};
    if (points_.empty() || size > points_.back().size)
      above.push_back(point);
    else if (size < points_.front().size)
      below.push_back(point);
  }
  points_.insert(points_.begin(), below.begin(), below.end());
  points_.insert(points_.end(), above.begin(), above.end());
  if (points_.size() < 2) return;
  const double slope =
      (points_[1].log_rate - points_[0].log_rate) / (points_[1].log_size - points_[0].log_size);
  first_slope_ = std::clamp(slope, 0.0, 1.0);
}

Reading RateLine::at(double size) const {
  expect(!points_.empty() && size > 0, "a rate at size {} from {} points", size, points_.size());
  const auto outside = [](const Point& point, double rate) {
    return Reading{rate, point.half_width, point.source, true};
  };
  const Point& first = points_.front();
  const Point& last = points_.back();
  if (size < first.size)
    return outside(first,
                   std::exp(first.log_rate + first_slope_ * (std::log(size) - first.log_size)));
  if (size > last.size) return outside(last, last.rate);
  const auto after =
      std::lower_bound(points_.begin(), points_.end(), size,
                       [](const Point& point, double at) { return point.size < at; });
  if (after->size == size) return {after->rate, after->half_width, after->source, false};
  const Point& a = *(after - 1);
  const Point& b = *after;
  const double part = (std::log(size) - a.log_size) / (b.log_size - a.log_size);
  return {std::exp(a.log_rate + part * (b.log_rate - a.log_rate)),
          std::max(a.half_width, b.half_width), weakest(a.source, b.source), false};
}

}  // namespace shardlab::sim
