#include "engine/ops/pieces.h"

#include <numeric>

#include "engine/core/check.h"
#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/intrinsic.h"

namespace shardlab {

void Pieces::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  const std::int64_t total = std::accumulate(sizes_.begin(), sizes_.end(), std::int64_t{0});
  check(total == inputs[0]->shape[dim_], "pieces: {} make {}, dim {} is {}",
        fmt::join(sizes_, " + "), total, dim_, inputs[0]->shape[dim_]);
  for (std::size_t o = 0; o < sizes_.size(); ++o) {
    outputs[o].shape = inputs[0]->shape;
    outputs[o].shape[dim_] = sizes_[o];
    outputs[o].dtype = inputs[0]->dtype;
  }
}

Placing Pieces::placing(InputSpecs inputs) const {
  const Shape& shape = inputs[0]->shape;
  Placing placing;
  for (int d = 0; d < shape.ndim(); ++d) {
    const int letter = placing.add(shape[d], d == dim_);
    placing.input[0][d].letter = letter;
    for (std::size_t o = 0; o < sizes_.size(); ++o) placing.output[o][d].letter = letter;
  }
  placing.pass = PartialPass::any;
  return placing;
}

std::uint64_t Pieces::attributes() const {
  std::uint64_t hash = hash_join(hash_start, static_cast<std::uint64_t>(dim_));
  for (const std::int64_t size : sizes_) hash = hash_join(hash, static_cast<std::uint64_t>(size));
  return hash;
}

bool Pieces::look(const View& input, const Shape& /*start*/, int output, View& view) const {
  std::int64_t begin = 0;
  for (int o = 0; o < output; ++o) begin += sizes_[o];
  view.strides = input.strides;
  view.data = input.data;
  if (view.data != nullptr)
    view.data = input.as<std::byte>() + begin * input.strides[dim_] * width_of(input.dtype);
  return true;
}

void Pieces::gradient(GradientCall& call) const {
  std::vector<Tensor> parts;
  for (std::size_t o = 0; o < sizes_.size(); ++o) {
    Tensor part = call.incoming[o];
    if (!part) {
      Spec zero = cotangent_spec(*call.worker, call.specs[0]);
      zero.shape[dim_] = sizes_[o];
      part = full(*call.worker, zero, 0);
    }
    parts.push_back(part);
  }
  call.results[0] = concat(parts, dim_);
}

std::vector<Tensor> pieces(const Tensor& x, int dim, std::vector<std::int64_t> sizes) {
  dim = resolve_dim(dim, x.ndim(), "pieces");
  check(!sizes.empty() && sizes.size() <= max_outputs, "pieces: {} sizes; 1 to {} are possible",
        sizes.size(), max_outputs);
  std::vector<Tensor> outputs(sizes.size());
  dispatch(make_ref<Pieces>(dim, std::move(sizes)), std::span(&x, 1), outputs);
  return outputs;
}

}  // namespace shardlab
