#pragma once

#include "engine/ops/attention.h"

namespace shardlab {

/// Joins two attentions over different keys by their log-sum-exp.
class AttentionMerge final : public Op {
 public:
  [[nodiscard]] const char* name() const override { return "attention_merge"; }
  [[nodiscard]] const Signature& signature() const override;
  [[nodiscard]] int outputs() const override { return 2; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  [[nodiscard]] Saves saves() const override { return {15, 3}; }
  void gradient(GradientCall& call) const override;
};

/// Gradients of both parts from both parts, the merged output and log-sum-exp, and the cotangents
/// of these.
class AttentionMergeGradient final : public Op {
 public:
  [[nodiscard]] const char* name() const override { return "attention_merge_gradient"; }
  [[nodiscard]] const Signature& signature() const override;
  [[nodiscard]] int outputs() const override { return 4; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
};

/// o = sum of w_i o_i with w_i = exp(lse_i - lse), lse = log(sum of exp(lse_i)). A part that saw no
/// key (lse = -inf) weighs nothing; two such parts give 0 and -inf.
///
/// Shapes   outputs [b, q, h, e], log-sum-exps [b, q, h].
[[nodiscard]] Attended attention_merge(const Attended& a, const Attended& b);

}  // namespace shardlab
