#include "results/sample_shape.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "engine/core/check.h"
#include "results/statistics.h"

namespace shardlab::results {
namespace {

constexpr std::size_t least_for_outliers = 8;
constexpr std::size_t least_for_modes = 20;
constexpr double least_relative = 0.02;

double quantile(std::span<const double> sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

double range_of(std::span<const double> sorted) {
  return quantile(sorted, 0.75) - quantile(sorted, 0.25);
}

/// Where the upper of two modes begins; 0: there is one.
std::size_t split_of(std::span<const double> sorted, double least) {
  const std::size_t n = sorted.size();
  if (n < least_for_modes) return 0;
  const std::size_t smallest = std::max<std::size_t>(3, (n + 9) / 10);
  std::size_t split = smallest;
  const auto gap = [&](std::size_t at) { return sorted[at] - sorted[at - 1]; };
  for (std::size_t at = smallest; at <= n - smallest; ++at)
    if (gap(at) > gap(split)) split = at;
  const double range = std::max(range_of(sorted.first(split)), range_of(sorted.subspan(split)));
  return gap(split) >= std::max(2 * range, least) && gap(split) > 0 ? split : 0;
}

}  // namespace

SampleShape shape_of(std::span<const double> samples) {
  SampleShape shape;
  shape.samples = samples.size();
  for (std::size_t i = 0; i < samples.size(); ++i)
    check(std::isfinite(samples[i]), "sample {} of {} is {}", i, samples.size(), samples[i]);
  if (samples.empty()) return shape;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  shape.median = median(sorted);
  if (samples.size() < least_for_outliers) return shape;
  const double least = least_relative * std::abs(shape.median);
  const std::span<const double> all = sorted;
  const std::size_t split = split_of(all, least);
  const std::span<const double> low = split == 0 ? all : all.first(split);
  const std::span<const double> high = split == 0 ? all : all.subspan(split);
  if (split != 0) shape.modes = TwoModes{median(low), median(high), low.size(), high.size()};

  const double fence = std::max(3 * std::max(range_of(low), range_of(high)), least);
  const auto outside = [&](std::span<const double> group, double value) {
    return value < quantile(group, 0.25) - fence || value > quantile(group, 0.75) + fence;
  };
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!outside(low, samples[i]) || !outside(high, samples[i])) continue;
    if (shape.outliers.empty() ||
        std::abs(samples[i] - shape.median) > std::abs(shape.farthest - shape.median))
      shape.farthest = samples[i];
    shape.outliers.push_back(i);
    if (shape.modes) --(samples[i] < high.front() ? shape.modes->below : shape.modes->above);
  }
  return shape;
}

std::string to_text(const SampleShape& shape, const std::function<std::string(double)>& show) {
  const auto shown = [&](double value) {
    return show ? show(value) : fmt::format("{:.3g}", value);
  };
  std::string text;
  if (shape.modes)
    text =
        fmt::format("samples fall into two groups, {} near {} and {} near {}", shape.modes->below,
                    shown(shape.modes->low), shape.modes->above, shown(shape.modes->high));
  if (!shape.outliers.empty())
    text += fmt::format("{}{} of {} samples {}, the farthest {:.2f} times the median",
                        text.empty() ? "" : "; ", shape.outliers.size(), shape.samples,
                        shape.outliers.size() == 1 ? "is an outlier" : "are outliers",
                        shape.farthest / shape.median);
  return text;
}

}  // namespace shardlab::results
