#include "tools/probe_pointwise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "engine/engine.h"
#include "engine/ops/attention_merge.h"
#include "tools/probe_sample.h"

namespace shardlab {
namespace {

constexpr std::array ops{
    "add",    "gelu_erf", "gelu_erf_gradient", "layer_norm", "layer_norm_gradient", "sum_to",
    "concat", "adamw",    "attention_merge"};

/// Operands of one size for all ops, taken in turn: in a model a kernel seldom reads what the one
/// before it has just read.
class Operands {
 public:
  static constexpr std::int64_t width = 256;

  Operands(Worker& worker, std::int64_t rows) : scale_(normal(worker, {width})) {
    const std::int64_t sets = std::clamp<std::int64_t>((16 << 20) / (rows * width * 4), 4, 64);
    for (std::int64_t i = 0; i < sets; ++i) operands_.push_back(normal(worker, {rows, width}));
    moment_ = full(worker, operands_[0].spec(), 0.5);
    square_ = full(worker, operands_[0].spec(), 0.5);
    statistic_ = full(worker, spread(worker, {rows}, Dtype::float32, {}), 1);
    log_sum_exp_ = full(worker, spread(worker, {1, rows, heads}, Dtype::float32, {}), 1);
  }

  void call(std::string_view op) {
    const Tensor& x = next();
    if (op == "add") result_[0] = add(x, next());
    if (op == "gelu_erf") result_[0] = gelu(x);
    if (op == "gelu_erf_gradient") dispatch(gelu_gradient_, std::array{x, next()}, one());
    if (op == "layer_norm") result_[0] = layer_norm(x, scale_, scale_);
    if (op == "layer_norm_gradient")
      dispatch(norm_gradient_, std::array{x, scale_, statistic_, statistic_, next()}, result_);
    if (op == "sum_to") result_[0] = sum_to(x, {width});
    if (op == "concat") result_[0] = concat(std::array{x, next(), next()}, 1);
    if (op == "adamw") dispatch(step_, std::array{x, next(), moment_, square_}, result_);
    if (op == "attention_merge")
      merged_ = attention_merge({heads_of(x), log_sum_exp_}, {heads_of(next()), log_sum_exp_});
  }

 private:
  static constexpr std::int64_t heads = 4;

  const Tensor& next() { return operands_[turn_++ % operands_.size()]; }
  std::span<Tensor> one() { return std::span(result_).first(1); }
  static Tensor heads_of(const Tensor& x) {
    return reshape(x, {1, x.shape()[0], heads, width / heads});
  }

  std::vector<Tensor> operands_;
  std::size_t turn_ = 0;
  Tensor scale_;
  Tensor moment_;
  Tensor square_;
  Tensor statistic_;
  Tensor log_sum_exp_;
  Attended merged_;
  std::array<Tensor, 3> result_;
  Ref<const Op> gelu_gradient_ = make_ref<UnaryGradient>(Function::gelu_erf, 1);
  Ref<const Op> norm_gradient_ = make_ref<LayerNormGradient>();
  Ref<const Op> step_ = make_ref<AdamW>(AdamWOptions{}, 1);
};

}  // namespace

std::vector<ProbedOp> probe_pointwise(const ProbeOptions& options) {
  std::vector<ProbedOp> all;
  for (const char* op : ops) all.push_back({op, {}});
  on_one_rank(Dtype::float32, [&](Worker& worker) {
    for (std::int64_t bytes = 4096; bytes <= options.most_bytes; bytes *= 4) {
      // An add moves three times its operand.
      Operands operands(worker, std::max<std::int64_t>(1, bytes / (3 * 4 * Operands::width)));
      for (ProbedOp& each : all) {
        const Sampled sampled = sample(worker, each.op.c_str(), options.point_seconds / 4,
                                       [&] { operands.call(each.op); });
        each.points.push_back(probed(static_cast<double>(sampled.bytes), sampled.seconds));
      }
    }
  });
  return all;
}

std::vector<ProbedPoint> mean_of(const std::vector<ProbedOp>& ops) {
  std::vector<ProbedPoint> mean;
  for (std::size_t i = 0; i < ops.front().points.size(); ++i) {
    const double size = ops.front().points[i].size;
    double logs = 0;
    double spread = 0;
    for (const ProbedOp& each : ops) {
      logs += std::log(each.points[i].seconds / each.points[i].size);
      spread = std::max(spread, each.points[i].spread);
    }
    mean.push_back({size, size * std::exp(logs / static_cast<double>(ops.size())), spread});
  }
  return mean;
}

}  // namespace shardlab
