#pragma once

#include "engine/nn/parameters.h"
#include "engine/ops/elementwise.h"

namespace shardlab::nn {

/// x w^T + b; where the contracted dim is cut, the bias is added once, after the sum.
class Linear {
 public:
  Linear(const Parameters& parameters, std::int64_t in, std::int64_t out, bool bias = true);
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

 private:
  Tensor weight_;
  Tensor bias_;
};

/// Normalisation of the innermost dim with weight and bias.
class LayerNorm {
 public:
  LayerNorm(const Parameters& parameters, std::int64_t width, double epsilon = 1e-5);
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

 private:
  Tensor weight_;
  Tensor bias_;
  double epsilon_;
};

/// Two linear layers with GELU between.
class Mlp {
 public:
  Mlp(const Parameters& parameters, std::int64_t width, std::int64_t hidden);
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

 private:
  Linear up_;
  Linear down_;
};

/// Self-attention of several heads: one linear layer makes q, k and v, another joins the heads.
class MultiHeadAttention {
 public:
  MultiHeadAttention(const Parameters& parameters, std::int64_t width, std::int64_t heads);

  /// Shapes   x [b, t, width] -> [b, t, width].
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

 private:
  std::int64_t heads_;
  Linear qkv_;
  Linear out_;
};

/// x w^T + b with the bias added after the sum where the contracted dim is cut.
[[nodiscard]] Tensor apply_linear(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// Mean of the squared difference.
[[nodiscard]] Tensor mse_loss(const Tensor& a, const Tensor& b);

}  // namespace shardlab::nn
