#include "tools/calibrate_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/core/check.h"
#include "engine/sim/rates.h"

namespace shardlab {
namespace {

using sim::Family;

/// Seconds of a step by family, as the machine prices them now.
struct Parts {
  double fixed = 0;  ///< Pointwise, and what is not adjusted.
  double products = 0;
  double attention = 0;    ///< Of the family that is adjusted.
  double kernel_flop = 0;  ///< Of one attention kernel.
  int kernels = 0;
};

Parts parts_of(const sim::Rates& rates, Precision precision, std::span<const Step> steps,
               Family adjusted) {
  Parts parts;
  for (const Step& step : steps) {
    if (step.kind != Step::Kind::kernel) continue;
    const Family family = sim::family_of(step.op);
    const Precision how{step.dtype,
                        step.dtype == Dtype::float32 ? precision.math : MathMode::exact};
    const double seconds = rates
                               .time({family, how, static_cast<double>(step.flop),
                                      static_cast<double>(step.bytes), step.op})
                               .seconds;
    if (family == Family::matmul) {
      parts.products += seconds;
    } else if (family == adjusted) {
      parts.attention += seconds;
      parts.kernel_flop = static_cast<double>(step.flop);
      ++parts.kernels;
    } else {
      parts.fixed += seconds;
    }
  }
  return parts;
}

void replace(sim::Machine& machine, sim::Curve curve) {
  std::erase_if(machine.curves,
                [&](const sim::Curve& other) { return sim::same_subject(other, curve); });
  machine.curves.push_back(std::move(curve));
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

/// The machine's own curve with another speed.
void scale(sim::Machine& machine, Family family, Precision precision, double time_factor,
           const std::string& from) {
  const sim::Rates rates(machine);
  const double launch = machine.value("gpu.launch");
  sim::Curve curve = empty_curve(family, precision, from);
  for (double flop = 1e6; flop < 2e16; flop *= 10) {
    const double seconds = rates.time({family, precision, flop, 0}).seconds - launch;
    curve.points.emplace_back(flop, flop / seconds / time_factor);
  }
  replace(machine, std::move(curve));
}

}  // namespace

std::vector<std::string> calibrate_rates(sim::Machine& machine, Precision precision,
                                         const std::vector<RatedTrace>& steps,
                                         const std::string& from) {
  const sim::Rates rates(machine);
  const double launch = machine.value("gpu.launch");
  bool backward = false;
  for (const Step& step : steps.front().steps)
    backward = backward || sim::family_of(step.op) == Family::attention_gradient;
  const Family adjusted = backward ? Family::attention_gradient : Family::attention;
  std::vector<Parts> parts;
  bool attention_alone = true;
  for (const RatedTrace& step : steps) {
    parts.push_back(parts_of(rates, precision, step.steps, adjusted));
    attention_alone = attention_alone && parts.back().products < 0.05 * step.seconds;
  }
  if (attention_alone) {
    sim::Curve curve = empty_curve(adjusted, precision, from);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      check(parts[i].kernels > 0, "calibrate: a step without {}", sim::name_of(adjusted));
      const double seconds = (steps[i].seconds - parts[i].fixed) / parts[i].kernels - launch;
      check(seconds > 0, "calibrate: {} s leave no time for {}", steps[i].seconds,
            sim::name_of(adjusted));
      curve.points.emplace_back(parts[i].kernel_flop, parts[i].kernel_flop / seconds);
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
  // Normal equations of the relative errors (p + m x + a y - t) / t.
  double mm = 0, ma = 0, aa = 0, mt = 0, at = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double t = steps[i].seconds;
    const double m = parts[i].products / t;
    const double a = parts[i].attention / t;
    const double rest = 1 - parts[i].fixed / t;
    mm += m * m;
    ma += m * a;
    aa += a * a;
    mt += m * rest;
    at += a * rest;
  }
  const double determinant = mm * aa - ma * ma;
  check(determinant > 1e-9 * mm * aa, "calibrate: {} rows do not tell products from attention",
        steps.size());
  const double x = (mt * aa - at * ma) / determinant;
  const double y = (at * mm - mt * ma) / determinant;
  check(x > 0 && y > 0, "calibrate: the rows ask for negative time of products or attention");
  scale(machine, Family::matmul, precision, x, from);
  scale(machine, adjusted, precision, y, from);
  return {fmt::format("products take {:.2f} times what {} says, {} {:.2f} times", x, machine.name,
                      sim::name_of(adjusted), y)};
}

}  // namespace shardlab
