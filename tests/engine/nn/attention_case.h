#pragma once

#include <optional>

#include "tests/support/op_case.h"

namespace shardlab::test {

/// Operands of an attention and its scale; 1 / sqrt(width of a head) if absent.
struct Heads {
  Values q;
  Values k;
  Values v;
  std::optional<double> scale;
};

/// Shapes   q [batch, queries, heads, width], k and v [batch, keys, heads, width or value_width].
struct HeadExtents {
  std::int64_t batch = 2;
  std::int64_t queries = 8;
  std::int64_t keys = 8;
  std::int64_t heads = 2;
  std::int64_t width = 4;
  std::int64_t value_width = 4;
};

/// Heads of small numbers.
[[nodiscard]] Heads heads_of(const HeadExtents& extents);

/// `nn::attention`, differentiated through its output and its log-sum-exp.
[[nodiscard]] OpCase attention_case(const Heads& heads);

/// What `run_case` must give for it: every score written out in float64, on no engine.
[[nodiscard]] OpResult dense_result(const Heads& heads);

/// The same for other cotangents of output and log-sum-exp.
[[nodiscard]] OpResult dense_result(const Heads& heads, const Values& g,
                                    const Values& g_log_sum_exp);

/// Tokens of k and v cut by axis 0, those of q too.
[[nodiscard]] Arrangement on_line(const std::vector<std::int64_t>& queries,
                                  const std::vector<std::int64_t>& keys);

/// The text of the error that every rank ends with.
[[nodiscard]] std::string refusal_of(const World& world,
                                     const std::function<void(Worker&)>& program);

/// Whether outputs and gradients of every rank are dense ones, and the same bits on all ranks.
void expect_dense(const Heads& heads, const Arrangement& arrangement, Dtype dtype = Dtype::float64);

}  // namespace shardlab::test
