#include "engine/nn/layers.h"

#include <algorithm>
#include <cmath>

#include "engine/core/check.h"
#include "engine/nn/attention.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/layer_norm.h"
#include "engine/ops/linear.h"
#include "engine/ops/pieces.h"
#include "engine/ops/reduce.h"
#include "engine/ops/reshape.h"

namespace shardlab::nn {
namespace {

bool cut_innermost(const Tensor& x) {
  if (x.layout() == nullptr || x.ndim() == 0) return false;
  const Layout* layout = x.state().parameter ? x.state().parameter->used : x.layout();
  return layout->dim(x.ndim() - 1).split != nullptr;
}

}  // namespace

Tensor apply_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (!bias) return linear(x, weight);
  if (cut_innermost(x) || cut_innermost(weight)) return add(linear(x, weight), bias);
  return linear(x, weight, bias);
}

Linear::Linear(const Parameters& parameters, std::int64_t in, std::int64_t out, bool bias)
    : weight_(
          parameters.normal("weight", {out, in},
                            1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, in))))),
      bias_(bias ? parameters.constant("bias", {out}, 0) : Tensor()) {}

Tensor Linear::operator()(const Tensor& x) const { return apply_linear(x, weight_, bias_); }

LayerNorm::LayerNorm(const Parameters& parameters, std::int64_t width, double epsilon)
    : weight_(parameters.constant("weight", {width}, 1)),
      bias_(parameters.constant("bias", {width}, 0)),
      epsilon_(epsilon) {}

Tensor LayerNorm::operator()(const Tensor& x) const {
  return layer_norm(x, weight_, bias_, epsilon_);
}

Mlp::Mlp(const Parameters& parameters, std::int64_t width, std::int64_t hidden)
    : up_(parameters.within("up"), width, hidden),
      down_(parameters.within("down"), hidden, width) {}

Tensor Mlp::operator()(const Tensor& x) const { return down_(gelu(up_(x))); }

MultiHeadAttention::MultiHeadAttention(const Parameters& parameters, std::int64_t width,
                                       std::int64_t heads)
    : heads_(heads),
      qkv_(parameters.within("qkv"), width, 3 * width),
      out_(parameters.within("out"), width, width) {
  check(heads >= 1 && width % heads == 0, "attention: width {} is no multiple of {} heads", width,
        heads);
}

Tensor MultiHeadAttention::operator()(const Tensor& x) const {
  const std::int64_t width = x.extent(-1);
  const std::vector<Tensor> parts = pieces(qkv_(x), -1, {width, width, width});
  const Shape split{x.extent(0), x.extent(1), heads_, width / heads_};
  const Attended attended = attention(reshape(parts[0], split), reshape(parts[1], split),
                                      reshape(parts[2], split), AttentionOptions{});
  return out_(reshape(attended.output, x.shape()));
}

Tensor mse_loss(const Tensor& a, const Tensor& b) {
  const Tensor difference = subtract(a, b);
  return mean(multiply(difference, difference));
}

}  // namespace shardlab::nn
