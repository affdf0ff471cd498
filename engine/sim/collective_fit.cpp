#include "engine/sim/collective_fit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/core/check.h"
#include "engine/sim/median.h"
#include "engine/sim/rate_line.h"

namespace shardlab::sim {
namespace {

constexpr double fall = 0.85;

std::string fall_of(const CollectiveCurve& curve) {
  double longest = 0;
  for (const auto& [bytes, seconds] : curve.points) {
    if (seconds < fall * longest)
      return fmt::format("{:.0f} B took {:.3g} us, less than the {:.3g} us of a smaller size",
                         bytes, seconds * 1e6, longest * 1e6);
    longest = std::max(longest, seconds);
  }
  return "";
}

/// Medians of the measurements at each size, levelled where they fall.
CollectiveCurve merged(const std::vector<const CollectiveCurve*>& all) {
  CollectiveCurve curve = *all.front();
  curve.half_width = 0;
  std::map<double, std::vector<double>> by_size;
  for (const CollectiveCurve* each : all) {
    curve.half_width = std::max(curve.half_width, each->half_width);
    for (const auto& [bytes, seconds] : each->points) by_size[bytes].push_back(seconds);
  }
  curve.points.clear();
  double longest = 0;
  for (const auto& [bytes, seconds] : by_size) {
    longest = std::max(longest, median(seconds));
    curve.points.emplace_back(bytes, longest);
  }
  return curve;
}

void add_errors(const CollectiveCurve& predicted, const CollectiveCurve& measured,
                std::vector<double>& errors) {
  RateLine line;
  Points rates;
  for (const auto& [bytes, seconds] : predicted.points) rates.emplace_back(bytes, bytes / seconds);
  line.complete(rates, predicted.source, predicted.half_width);
  for (const auto& [bytes, seconds] : measured.points)
    errors.push_back(std::abs(bytes / line.at(bytes).value / seconds - 1));
}

CollectiveFit fit_of(const Machine& machine, const std::vector<const CollectiveCurve*>& all,
                     const std::string& from) {
  CollectiveFit fit;
  fit.curve = *all.front();
  std::vector<const CollectiveCurve*> good;
  for (const CollectiveCurve* each : all) {
    const std::string reason = fall_of(*each);
    if (reason.empty())
      good.push_back(each);
    else
      fit.refused = reason;
  }
  if (good.empty()) return fit;
  fit.refused.clear();
  fit.measurements = static_cast<int>(good.size());
  fit.curve = merged(good);
  fit.curve.source = Source::user_measured;
  fit.curve.from = from;
  std::vector<double> before;
  std::vector<double> after;
  std::vector<double> left_out;
  const auto base =
      std::find_if(machine.collectives.begin(), machine.collectives.end(),
                   [&](const CollectiveCurve& curve) { return same_subject(curve, fit.curve); });
  for (const CollectiveCurve* each : good) {
    fit.samples += static_cast<int>(each->points.size());
    if (base != machine.collectives.end()) add_errors(*base, *each, before);
    add_errors(fit.curve, *each, after);
    if (good.size() < 2) continue;
    std::vector<const CollectiveCurve*> others = good;
    std::erase(others, each);
    add_errors(merged(others), *each, left_out);
  }
  if (!before.empty()) fit.before = median(std::move(before));
  fit.after = median(after);
  std::sort(after.begin(), after.end());
  fit.curve.half_width =
      std::clamp(after[(after.size() - 1) * 4 / 5],
                 std::max(fit.curve.half_width, half_width_of(fit.curve.source)), 10.0);
  if (!left_out.empty()) fit.left_out = median(std::move(left_out));
  return fit;
}

}  // namespace

std::vector<CollectiveFit> fit_collectives(const Machine& machine,
                                           const std::vector<CollectiveCurve>& measured,
                                           const std::string& from) {
  std::vector<std::vector<const CollectiveCurve*>> subjects;
  for (const CollectiveCurve& curve : measured) {
    const auto known = std::find_if(subjects.begin(), subjects.end(), [&curve](const auto& each) {
      return same_subject(*each.front(), curve);
    });
    if (known == subjects.end())
      subjects.push_back({&curve});
    else
      known->push_back(&curve);
  }
  std::vector<CollectiveFit> fits;
  for (const auto& all : subjects) fits.push_back(fit_of(machine, all, from));
  return fits;
}

}  // namespace shardlab::sim
