#include "engine/core/shape.h"

#include "engine/core/check.h"

namespace shardlab {

Shape::Shape(std::initializer_list<std::int64_t> extents)
    : Shape(std::span(extents.begin(), extents.size())) {}

Shape::Shape(std::span<const std::int64_t> extents) {
  for (const std::int64_t extent : extents) push_back(extent);
}

void Shape::push_back(std::int64_t extent) {
  check(ndim_ < max_ndim, "a tensor has at most {} dims", max_ndim);
  check(extent >= 0, "extent {} of dim {} is negative", extent, ndim_);
  extents_[ndim_++] = extent;
}

Strides dense_strides(const Shape& shape) {
  Strides strides{};
  std::int64_t step = 1;
  for (int d = shape.ndim() - 1; d >= 0; --d) {
    strides[d] = step;
    step *= shape[d];
  }
  return strides;
}

bool is_dense(const Shape& shape, const Strides& strides) {
  std::int64_t step = 1;
  bool dense = true;
  for (int d = shape.ndim() - 1; d >= 0; --d) {
    if (shape[d] == 0) return true;
    if (shape[d] != 1 && strides[d] != step) dense = false;
    step *= shape[d];
  }
  return dense;
}

int resolve_dim(int dim, int ndim, const char* what) {
  check(dim >= -ndim && dim < ndim, "{}: no dim {} in a tensor of {} dims", what, dim, ndim);
  return dim < 0 ? dim + ndim : dim;
}

std::string to_string(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ", "));
}

}  // namespace shardlab
