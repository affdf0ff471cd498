#include "tools/probe_kernels.h"

#include <algorithm>
#include <array>

#include "engine/engine.h"
#include "tools/probe_sample.h"

namespace shardlab {
namespace {

ProbedPoint against_flop(Sampled sampled) {
  return probed(static_cast<double>(sampled.flop), std::move(sampled.seconds));
}

/// 16, 32, ... and the numbers half way from 128 on, to `most`.
std::vector<std::int64_t> widths(std::int64_t most) {
  std::vector<std::int64_t> all;
  for (std::int64_t n = 16; n <= most; n *= 2) {
    all.push_back(n);
    if (n >= 128 && 3 * n / 2 <= most) all.push_back(3 * n / 2);
  }
  return all;
}

}  // namespace

DispatchCost probe_dispatch(const ProbeOptions& options) {
  DispatchCost cost;
  on_one_rank(Dtype::float32, [&](Worker& worker) {
    const Tensor x = normal(worker, {8, 8});
    const Tensor y = normal(worker, {8, 8});
    Tensor sum;
    const auto call = [&] { sum = add(x, y); };
    cost.kernel_seconds =
        probed(1, sample(worker, "add", options.point_seconds, call).seconds).seconds;
    std::vector<double> blocks;
    constexpr int calls = 500;
    for (int block = 0; block < 9; ++block) {
      const double begin = Trace::now_seconds();
      for (int i = 0; i < calls; ++i) call();
      blocks.push_back((Trace::now_seconds() - begin) / calls);
    }
    cost.issue_seconds = std::max(0.0, probed(1, blocks).seconds - cost.kernel_seconds);
  });
  return cost;
}

std::vector<ProbedPoint> probe_products(const ProbeOptions& options, Dtype dtype) {
  std::vector<ProbedPoint> points;
  on_one_rank(dtype, [&](Worker& worker) {
    for (const std::int64_t n : widths(options.most_width)) {
      const Tensor x = normal(worker, {2 * n, n}, dtype);
      const Tensor w = normal(worker, {2 * n, n}, dtype);
      const Tensor bias = normal(worker, {2 * n}, dtype);
      const Tensor g = normal(worker, {2 * n, 2 * n}, dtype);
      Tensor result;
      const ProbedPoint forward = against_flop(sample(worker, "linear", options.point_seconds / 2,
                                                      [&] { result = linear(x, w, bias); }));
      const ProbedPoint weight = against_flop(sample(worker, "outer_sum", options.point_seconds / 2,
                                                     [&] { result = outer_sum(g, x); }));
      points.push_back({forward.size, 0.5 * (forward.seconds + weight.seconds),
                        std::max(forward.spread, weight.spread)});
    }
  });
  return points;
}

ProbedAttention probe_attention(const ProbeOptions& options, Dtype dtype) {
  ProbedAttention probed_attention;
  on_one_rank(dtype, [&](Worker& worker) {
    for (std::int64_t tokens = 32; tokens <= options.most_tokens; tokens *= 2) {
      const Shape shape{1, tokens, 8, 64};
      const Tensor q = normal(worker, shape, dtype);
      const Tensor k = normal(worker, shape, dtype);
      const Tensor v = normal(worker, shape, dtype);
      const Tensor g = normal(worker, shape, dtype);
      Attended attended;
      probed_attention.forward.push_back(
          against_flop(sample(worker, "attention", options.point_seconds,
                              [&] { attended = attention(q, k, v, 0.125); })));
      const std::array<Tensor, 6> inputs{q, k, v, attended.output, attended.log_sum_exp, g};
      const Ref<const Op> op = make_ref<AttentionGradient>(0.125, false);
      std::array<Tensor, 3> results;
      probed_attention.gradient.push_back(
          against_flop(sample(worker, "attention_gradient", options.point_seconds,
                              [&] { dispatch(op, inputs, results); })));
    }
  });
  return probed_attention;
}

}  // namespace shardlab
