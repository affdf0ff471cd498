#pragma once

#include <initializer_list>
#include <span>
#include <string>

#include "engine/dispatch/worker.h"

namespace shardlab {

/// Cuts a dim along the mesh axis of this name, in parts as equal as can be in units of `multiple`.
struct Cut {
  std::string axis;
  int dim = 0;
  std::int64_t multiple = 1;
};

/// A whole tensor on the worker's mesh; axes that the mesh has not are skipped.
///
/// Errors   Error{invalid} if `multiple` does not divide the extent.
[[nodiscard]] Spec spread(Worker& worker, const Shape& shape, Dtype dtype,
                          std::span<const Cut> cuts = {});

/// A tensor of these values, given whole in C order on every rank; each keeps its part.
[[nodiscard]] Tensor from_values(Worker& worker, const Spec& spec, std::span<const double> whole);

/// Makes `x` a leaf: gradients with respect to it are wanted.
Tensor make_leaf(Tensor x);

/// Makes `values` a trainable parameter, kept where it lies and read where `used` says.
Tensor make_parameter(const std::string& name, Tensor values, const Layout* used);

/// The whole value as float64 in C order, the same on every rank.
///
/// Errors   Error{unsupported} under meta.
[[nodiscard]] std::vector<double> values_of(const Tensor& x);

/// The one value of a tensor of one element; a Partial one is reduced first.
[[nodiscard]] double value_of(const Tensor& x);

}  // namespace shardlab
