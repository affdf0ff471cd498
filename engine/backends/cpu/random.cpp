#include "engine/ops/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/backends/cpu/kernels.h"
#include "engine/core/check.h"

namespace shardlab::cpu {
namespace {

/// Box and Muller's normal value from two 32-bit numbers.
double normal(std::uint64_t bits) {
  constexpr double unit = 0x1p-32;
  const double radius = (static_cast<double>(bits >> 32) + 1) * unit;
  const double turn = static_cast<double>(bits & 0xffffffffU) * unit;
  return std::sqrt(-2 * std::log(radius)) * std::cos(2 * std::numbers::pi * turn);
}

/// A float in [0, bound).
float uniform(std::uint64_t bits, double bound) {
  const auto value = static_cast<float>(static_cast<double>(bits >> 40) * 0x1p-24 * bound);
  return static_cast<double>(value) < bound ? value : std::nextafter(value, 0.0F);
}

std::int64_t integer(std::uint64_t bits, double bound) {
  const auto value = static_cast<std::int64_t>(static_cast<double>(bits >> 11) * 0x1p-53 * bound);
  return std::min(value, static_cast<std::int64_t>(std::ceil(bound)) - 1);
}

template <typename T>
T value_of(const Random::Options& options, std::uint64_t bits) {
  switch (options.kind) {
    case Random::Kind::normal:
      return static_cast<T>(static_cast<float>(options.scale * normal(bits)));
    case Random::Kind::uniform:
      return static_cast<T>(uniform(bits, options.scale));
    case Random::Kind::integer:
      return static_cast<T>(integer(bits, options.scale));
  }
  return T(0);
}

}  // namespace

template <typename T>
void random(const Call& call, Tools&) {
  const Random::Options& options = static_cast<const Random*>(call.op)->options();
  if (std::is_same_v<T, std::int64_t> && options.kind != Random::Kind::integer)
    fail(Fault::unsupported, "cpu: random numbers of int64 that are not whole");
  const View& out = *call.outputs[0];
  const int last = out.shape.ndim() - 1;
  const std::int64_t run = last < 0 ? 1 : out.shape[last];
  const std::int64_t count = out.shape.count();
  const Strides whole = dense_strides(call.whole);
  Shape at = call.start;
  T* data = out.as<T>();
  for (std::int64_t done = 0; done < count; done += run) {
    std::int64_t index = 0;
    for (int d = 0; d <= last; ++d) index += at[d] * whole[d];
    for (std::int64_t i = 0; i < run; ++i)
      *data++ = value_of<T>(options, random_bits(options.seed, options.call,
                                                 static_cast<std::uint64_t>(index + i)));
    for (int d = last - 1; d >= 0; --d) {
      if (++at[d] < call.start[d] + out.shape[d]) break;
      at[d] = call.start[d];
    }
  }
}

template void random<float>(const Call&, Tools&);
template void random<double>(const Call&, Tools&);
template void random<std::int64_t>(const Call&, Tools&);

}  // namespace shardlab::cpu
