#include "engine/ops/permute.h"

#include <numeric>

#include "engine/core/check.h"
#include "engine/dispatch/dispatch.h"

namespace shardlab {

void Permute::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  const Shape& shape = inputs[0]->shape;
  check(static_cast<int>(order_.size()) == shape.ndim(), "permute: {} dims in order, {} in {}",
        order_.size(), shape.ndim(), to_string(shape));
  outputs[0].shape = shape;
  for (int d = 0; d < shape.ndim(); ++d) outputs[0].shape[d] = shape[order_[d]];
  outputs[0].dtype = inputs[0]->dtype;
}

Placing Permute::placing(InputSpecs inputs) const {
  const Shape& shape = inputs[0]->shape;
  Placing placing;
  for (int d = 0; d < shape.ndim(); ++d) placing.input[0][d].letter = placing.add(shape[d]);
  for (int d = 0; d < shape.ndim(); ++d)
    placing.output[0][d].letter = placing.input[0][order_[d]].letter;
  placing.pass = PartialPass::any;
  return placing;
}

std::uint64_t Permute::attributes() const {
  std::uint64_t hash = hash_start;
  for (const int dim : order_) hash = hash_join(hash, static_cast<std::uint64_t>(dim));
  return hash;
}

bool Permute::look(const View& input, const Shape& /*start*/, int /*output*/, View& view) const {
  view.data = input.data;
  for (std::size_t d = 0; d < order_.size(); ++d) view.strides[d] = input.strides[order_[d]];
  return true;
}

void Permute::gradient(GradientCall& call) const {
  std::vector<int> back(order_.size());
  for (std::size_t d = 0; d < order_.size(); ++d) back[order_[d]] = static_cast<int>(d);
  call.results[0] = permute(call.incoming[0], back);
}

Tensor permute(const Tensor& x, std::vector<int> order) {
  std::uint32_t seen = 0;
  for (int& dim : order) {
    dim = resolve_dim(dim, x.ndim(), "permute");
    check((seen >> dim & 1U) == 0, "permute: dim {} is named twice", dim);
    seen |= 1U << dim;
  }
  return dispatch(make_ref<Permute>(std::move(order)), {x});
}

Tensor transpose(const Tensor& x, int a, int b) {
  std::vector<int> order(static_cast<std::size_t>(x.ndim()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[resolve_dim(a, x.ndim(), "transpose")],
            order[resolve_dim(b, x.ndim(), "transpose")]);
  return permute(x, std::move(order));
}

}  // namespace shardlab
