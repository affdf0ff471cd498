#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sim/rate_line.h"

namespace shardlab::sim {

/// The work of one kernel.
struct Work {
  Family family = Family::pointwise;
  Precision precision;
  double flop = 0;
  double bytes = 0;          ///< Read and written.
  std::string_view op = {};  ///< Empty: any of the family.
};

/// What one kernel takes, and how well that is known.
struct OpTime {
  double seconds = 0;
  double half_width = 0;  ///< Relative half width of the 80 % interval.
  Source weakest = Source::user_measured;
  bool extrapolated = false;  ///< The size lies outside the curve, or there is no curve.
  bool by_memory = false;     ///< Bytes take longer than flop.
};

/// The family of an op by its name; an unknown op is pointwise.
[[nodiscard]] Family family_of(std::string_view op);

/// Prices kernels of one machine, each alone on an idle device.
class Rates {
 public:
  /// Errors   Error{invalid} if the machine lacks a peak or `gpu.launch`.
  explicit Rates(const Machine& machine);

  /// t = gpu.launch + max(flop / rate(flop), bytes / rate(bytes)).
  ///
  /// The rate of flop comes from the curve of family and precision, or of the op alone where there
  /// is one; tf32 without a curve of its own
  /// is the peak for matmul and as exact elsewhere; anything else without a curve is the peak of
  /// the precision. Pointwise kernels cost bytes only.
  ///
  /// Units    Seconds.
  /// Cost     Two logarithms.
  [[nodiscard]] OpTime time(const Work& work) const;

 private:
  static constexpr int precisions = 6;

  /// A line, or where there is none a peak for all sizes.
  struct Rate {
    RateLine line;
    Quantity peak;
    [[nodiscard]] Reading at(double size) const;
  };

  /// Of an op that has curves of its own.
  struct OpRate {
    std::string op;
    Precision precision;  ///< Of any for pointwise kernels.
    Rate rate;
  };

  [[nodiscard]] const Rate& flop_rate(const Work& work) const;
  [[nodiscard]] const Rate* own_rate(const Work& work) const;

  std::array<std::array<Rate, precisions>, 3> flop_;
  std::vector<OpRate> own_;
  Rate bytes_;
  Quantity launch_;
};

}  // namespace shardlab::sim
