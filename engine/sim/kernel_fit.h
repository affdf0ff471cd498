#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/sim/rates.h"

namespace shardlab::sim {

/// Kernels of equal work with what each took.
struct MeasuredKernel {
  Work work;
  std::vector<double> seconds;
};

/// Kernels of nearly one size: within half an octave.
struct FittedSize {
  double size = 0;  ///< Flop, or bytes of pointwise kernels; the geometric mean.
  int samples = 0;
  double seconds = 0;              ///< The median of what they took.
  double ratio = 1;                ///< The median of measured by predicted time, launches apart.
  std::string left;                ///< Why it corrects nothing; empty: it does.
  double before = 0;               ///< Median relative error of the machine as it was.
  double after = 0;                ///< And with the correction.
  std::optional<double> left_out;  ///< And with the correction by the other sizes.
};

/// What measured kernels make of the rates of one family and precision.
struct KernelFit {
  Family family = Family::pointwise;
  Precision precision;
  std::vector<FittedSize> sizes;  ///< Rising.
  std::string refused;            ///< Why nothing is corrected; empty: `curves` replace others.
  std::vector<Curve> curves;      ///< The measured one first, then what the machine knew outside.
  double before = 0;              ///< Median relative error over the kernels that correct.
  double after = 0;
  std::optional<double> left_out;  ///< Each size by the others; none below three sizes.
};

/// Corrects the rates of a machine within the sizes that were measured.
///
/// The rate at a size is what the machine says by the median ratio of measured to predicted time,
/// ratios lying on log-log lines between sizes. Sizes are left out with fewer than `least_samples`
/// kernels, shorter than 2 launches, off by more than a factor of 8, bound by the memory where flop
/// are rated, or with a time more than 15 % below that of a smaller size; smaller falls are
/// levelled. A family is refused if more than a quarter of its kernels is against a rising time.
///
/// Returns  One fit for each family and precision, whether or not it corrects.
[[nodiscard]] std::vector<KernelFit> fit_kernels(const Machine& machine,
                                                 const std::vector<MeasuredKernel>& kernels,
                                                 int least_samples, const std::string& from);

/// The machine with the curves of the fits that correct.
[[nodiscard]] Machine corrected(Machine machine, const std::vector<KernelFit>& fits);

}  // namespace shardlab::sim
