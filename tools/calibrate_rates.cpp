#include "tools/calibrate_rates.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/check.h"
#include "engine/sim/attention_fill.h"
#include "engine/sim/machine_prices.h"

namespace shardlab {
namespace {

using sim::Family;

/// Seconds of a step, as the machine prices it now.
struct Parts {
  double fixed = 0;        ///< Of what is not adjusted.
  double kernel_flop = 0;  ///< Of one attention kernel of the family that is.
  double fill = 1;
  int kernels = 0;
};

Parts parts_of(const sim::Machine& machine, const sim::Profile& profile, Precision precision,
               std::span<const Step> steps, Family adjusted) {
  const sim::MachinePrices prices(machine, profile, precision.math);
  Parts parts;
  for (const Step& step : steps) {
    if (step.kind != Step::Kind::kernel) continue;
    const Family family = sim::family_of(step.op);
    if (family == adjusted) {
      parts.kernel_flop = static_cast<double>(step.flop);
      parts.fill = sim::attention_fill(machine, profile, step);
      ++parts.kernels;
      continue;
    }
    parts.fixed += prices.kernel(step);
  }
  return parts;
}

void replace(sim::Machine& machine, sim::Curve curve) {
  std::erase_if(machine.curves,
                [&](const sim::Curve& other) { return sim::same_subject(other, curve); });
  machine.curves.push_back(std::move(curve));
}

/// Attention in tf32 runs as exact where a machine has no curve of its own for it.
Precision attention_precision(Precision precision) {
  if (precision.dtype == Dtype::float32) precision.math = MathMode::exact;
  return precision;
}

sim::Curve empty_curve(Family family, Precision precision, const std::string& from) {
  sim::Curve curve;
  curve.family = family;
  curve.precision = precision;
  curve.source = sim::Source::public_measured;
  curve.from = from;
  curve.half_width = 0.05;
  return curve;
}

}  // namespace

std::vector<std::string> calibrate_rates(sim::Machine& machine, const sim::Profile& profile,
                                         Precision precision, const std::vector<RatedTrace>& steps,
                                         const std::string& from) {
  const double launch = machine.value("gpu.launch");
  bool backward = false;
  for (const Step& step : steps.front().steps)
    backward = backward || sim::family_of(step.op) == Family::attention_gradient;
  const Family adjusted = backward ? Family::attention_gradient : Family::attention;
  sim::Curve curve = empty_curve(adjusted, attention_precision(precision), from);
  for (const RatedTrace& step : steps) {
    const Parts parts = parts_of(machine, profile, precision, step.steps, adjusted);
    check(parts.kernels > 0, "calibrate: a step without {}", sim::name_of(adjusted));
    const double seconds = (step.seconds - parts.fixed) / parts.kernels - launch;
    check(seconds > 0, "calibrate: {} s leave no time for {}", step.seconds,
          sim::name_of(adjusted));
    curve.points.emplace_back(parts.kernel_flop, parts.kernel_flop / seconds / parts.fill);
  }
  std::sort(curve.points.begin(), curve.points.end());
  const auto [low, high] =
      std::minmax_element(curve.points.begin(), curve.points.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string line =
      fmt::format("{} runs at {:.1f} to {:.1f} TFLOP/s, a point a row", sim::name_of(adjusted),
                  low->second * 1e-12, high->second * 1e-12);
  replace(machine, std::move(curve));
  return {line};
}

}  // namespace shardlab
