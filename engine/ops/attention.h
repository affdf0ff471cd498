#pragma once

#include "engine/core/op.h"

namespace shardlab {

/// softmax(scale q k^T) v over tokens, and the log-sum-exp of the scaled scores.
class Attention final : public Op {
 public:
  explicit Attention(double scale) : scale_(scale) {}
  [[nodiscard]] const char* name() const override { return "attention"; }
  [[nodiscard]] const Signature& signature() const override;
  [[nodiscard]] int outputs() const override { return 2; }
  [[nodiscard]] std::uint32_t strided_inputs() const override { return 7; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  [[nodiscard]] std::int64_t workspace_bytes(Views inputs, Views outputs) const override;
  [[nodiscard]] Saves saves() const override { return {7, 3}; }
  void gradient(GradientCall& call) const override;
  [[nodiscard]] double scale() const { return scale_; }

 private:
  double scale_;
};

/// Gradients of q, k, v from q, k, v, output, log-sum-exp, the output's cotangent and perhaps that
/// of the log-sum-exp. Output and log-sum-exp may be those over more keys than `k` holds: then the
/// results are the share of these keys.
class AttentionGradient final : public Op {
 public:
  AttentionGradient(double scale, bool through_log_sum_exp)
      : scale_(scale), through_log_sum_exp_(through_log_sum_exp) {}
  [[nodiscard]] const char* name() const override { return "attention_gradient"; }
  [[nodiscard]] const Signature& signature() const override;
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] int outputs() const override { return 3; }
  [[nodiscard]] std::uint32_t strided_inputs() const override { return 0b101111; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  [[nodiscard]] std::int64_t workspace_bytes(Views inputs, Views outputs) const override;
  [[nodiscard]] double scale() const { return scale_; }

 private:
  double scale_;
  bool through_log_sum_exp_;
};

/// Output and log-sum-exp of an attention.
struct Attended {
  Tensor output;
  Tensor log_sum_exp;
};

/// Attention of every query to every key; scores are never stored whole.
///
/// Shapes   q [b, q, h, d], k [b, k, h, d], v [b, k, h, e] -> [b, q, h, e] and [b, q, h]; keys must
///          be whole on a rank (ring attention takes cut ones). No keys give 0 and -inf.
/// Cost     2 b h q k (d + e) flop.
/// Source   Dao 2023, arXiv:2307.08691; Milakov and Gimelshein 2018, arXiv:1805.02867.
[[nodiscard]] Attended attention(const Tensor& q, const Tensor& k, const Tensor& v, double scale);

}  // namespace shardlab
