#include "engine/sim/rates.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace shardlab::sim {
namespace {

constexpr std::array families{
    std::pair{std::string_view("matmul"), Family::matmul},
    std::pair{std::string_view("linear"), Family::matmul},
    std::pair{std::string_view("outer_sum"), Family::matmul},
    std::pair{std::string_view("conv"), Family::matmul},
    std::pair{std::string_view("attention"), Family::attention},
    std::pair{std::string_view("attention_gradient"), Family::attention_gradient},
};

constexpr std::array flop_families{Family::matmul, Family::attention, Family::attention_gradient};

constexpr std::array known_precisions{
    Precision{Dtype::float64, MathMode::exact},  Precision{Dtype::float32, MathMode::exact},
    Precision{Dtype::bfloat16, MathMode::exact}, Precision{Dtype::float16, MathMode::exact},
    Precision{Dtype::int64, MathMode::exact},    Precision{Dtype::float32, MathMode::tf32}};

std::size_t index_of(Precision precision) {
  if (precision.dtype != Dtype::float32) precision.math = MathMode::exact;
  const auto found =
      std::find_if(known_precisions.begin(), known_precisions.end(), [precision](Precision known) {
        return known.dtype == precision.dtype && known.math == precision.math;
      });
  return static_cast<std::size_t>(found - known_precisions.begin());
}

RateLine line_of(const Machine& machine, Family family, Precision precision,
                 const std::string& op = {}) {
  Curve subject;
  subject.family = family;
  subject.op = op;
  subject.precision = precision;
  std::vector<const Curve*> curves;
  for (const Curve& curve : machine.curves)
    if (same_subject(curve, subject)) curves.push_back(&curve);
  std::stable_sort(curves.begin(), curves.end(),
                   [](const Curve* a, const Curve* b) { return a->source < b->source; });
  RateLine line;
  for (const Curve* curve : curves) line.complete(curve->points, curve->source, curve->half_width);
  return line;
}

}  // namespace

Family family_of(std::string_view op) {
  const auto found = std::find_if(families.begin(), families.end(),
                                  [op](const auto& known) { return known.first == op; });
  return found == families.end() ? Family::pointwise : found->second;
}

Rates::Rates(const Machine& machine) : launch_(machine.number("gpu.launch")) {
  static_assert(known_precisions.size() == precisions);
  for (const Family family : flop_families)
    for (const Precision precision : known_precisions) {
      Rate& rate = flop_[static_cast<std::size_t>(family)][index_of(precision)];
      rate.line = line_of(machine, family, precision);
      const std::string peak = peak_path(family, precision);
      if (machine.has(peak) || precision.math == MathMode::exact) rate.peak = machine.number(peak);
    }
  bytes_.line = line_of(machine, Family::pointwise, {});
  bytes_.peak = machine.number(peak_path(Family::pointwise, {}));
  for (const Curve& curve : machine.curves) {
    if (curve.op.empty()) continue;
    Work work;
    work.family = curve.family;
    work.op = curve.op;
    work.precision = curve.precision;
    if (own_rate(work) == nullptr)
      own_.push_back({curve.op,
                      curve.precision,
                      {line_of(machine, curve.family, curve.precision, curve.op), {}}});
  }
}

Reading Rates::Rate::at(double size) const {
  if (!line.empty()) return line.at(size);
  return {peak.value, peak.half_width, peak.source, true};
}

const Rates::Rate* Rates::own_rate(const Work& work) const {
  const std::size_t precision = index_of(work.precision);
  for (const OpRate& own : own_)
    if (own.op == work.op &&
        (work.family == Family::pointwise || index_of(own.precision) == precision))
      return &own.rate;
  return nullptr;
}

const Rates::Rate& Rates::flop_rate(const Work& work) const {
  const auto& rates = flop_[static_cast<std::size_t>(work.family)];
  const Rate& rate = rates[index_of(work.precision)];
  const bool as_exact =
      rate.line.empty() && (work.family != Family::matmul || rate.peak.value == 0);
  if (work.precision.math == MathMode::tf32 && as_exact)
    return rates[index_of({work.precision.dtype, MathMode::exact})];
  return rate;
}

OpTime Rates::time(const Work& work) const {
  double seconds = 0;
  bool by_memory = false;
  Reading bound;
  const auto take = [&](const Rate& rate, double size, bool memory) {
    const Reading reading = rate.at(size);
    if (size / reading.value <= seconds) return;
    seconds = size / reading.value;
    by_memory = memory;
    bound = reading;
  };
  const Rate* own = own_rate(work);
  if (work.family == Family::pointwise) {
    if (work.bytes > 0) take(own != nullptr ? *own : bytes_, work.bytes, true);
  } else {
    if (work.bytes > 0) take(bytes_, work.bytes, true);
    if (work.flop > 0) take(own != nullptr ? *own : flop_rate(work), work.flop, false);
  }

  OpTime time;
  time.seconds = seconds + launch_.value;
  time.weakest = weakest(bound.weakest, launch_.source);
  time.extrapolated = bound.extrapolated;
  time.by_memory = by_memory;
  if (time.seconds > 0)
    time.half_width =
        std::hypot(seconds * bound.half_width, launch_.value * launch_.half_width) / time.seconds;
  return time;
}

}  // namespace shardlab::sim
