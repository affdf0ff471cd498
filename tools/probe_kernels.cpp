#include "tools/probe_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/core/check.h"
#include "engine/engine.h"
#include "tools/executions.h"

namespace shardlab {
namespace {

constexpr int least_calls = 3;
constexpr int most_calls = 2000;

/// Seconds and work of one kernel of a call, as a trace has them.
struct Sampled {
  std::vector<double> seconds;
  std::int64_t flop = 0;
  std::int64_t bytes = 0;
};

/// Runs a call again and again, and keeps the steps of its kernel `op`.
Sampled sample(Worker& worker, const char* op, double budget, const std::function<void()>& call) {
  Sampled sampled;
  Trace& trace = worker.trace();
  call();
  trace.keep(true);
  const double until = Trace::now_seconds() + budget;
  for (int i = 0; i < most_calls && (i < least_calls || Trace::now_seconds() < until); ++i) {
    trace.clear();
    call();
    const auto step =
        std::find_if(trace.steps().begin(), trace.steps().end(), [op](const Step& each) {
          return each.kind == Step::Kind::kernel && std::string_view(each.op) == op;
        });
    expect(step != trace.steps().end(), "probe: no kernel {} in its call", op);
    sampled.seconds.push_back(step->end_seconds - step->begin_seconds);
    sampled.flop = step->flop;
    sampled.bytes = step->bytes;
  }
  trace.keep(false);
  trace.clear();
  return sampled;
}

ProbedPoint against_flop(Sampled sampled) {
  return probed(static_cast<double>(sampled.flop), std::move(sampled.seconds));
}

Tensor normal(Worker& worker, const Shape& shape, Dtype dtype = Dtype::float32) {
  return random_normal(worker, {shape, dtype, worker.layouts().replicated(shape.ndim())}, 1.0);
}

void on_one_rank(Dtype dtype, const std::function<void(Worker&)>& body) {
  LaunchOptions options;
  options.precision = {dtype, MathMode::exact};
  launch(cpu_execution(), options, [&](Worker& worker, int) {
    const NoGrad no_grad(worker);
    body(worker);
  });
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

/// Pointwise kernels on operands in turn: in a model one seldom reads what it has just read.
class Pointwise {
 public:
  static constexpr std::int64_t width = 256;
  static constexpr std::array ops{"add", "gelu_erf", "layer_norm", "adamw"};

  Pointwise(Worker& worker, std::int64_t rows) : scale_(normal(worker, {width})) {
    const std::int64_t sets = std::clamp<std::int64_t>((16 << 20) / (rows * width * 4), 4, 64);
    for (std::int64_t i = 0; i < sets; ++i) operands_.push_back(normal(worker, {rows, width}));
    moment_ = full(worker, operands_[0].spec(), 0.5);
    square_ = full(worker, operands_[0].spec(), 0.5);
  }

  void operator()(std::string_view op) {
    const Tensor& x = next();
    if (op == "add") result_ = add(x, next());
    if (op == "gelu_erf") result_ = gelu(x);
    if (op == "layer_norm") result_ = layer_norm(x, scale_, scale_);
    if (op == "adamw") dispatch(step_, std::array{x, next(), moment_, square_}, updated_);
  }

 private:
  const Tensor& next() { return operands_[turn_++ % operands_.size()]; }

  std::vector<Tensor> operands_;
  std::size_t turn_ = 0;
  Tensor scale_;
  Tensor moment_;
  Tensor square_;
  Tensor result_;
  std::array<Tensor, 3> updated_;
  Ref<const Op> step_ = make_ref<AdamW>(AdamWOptions{}, 1);
};

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

std::vector<ProbedPoint> probe_pointwise(const ProbeOptions& options) {
  std::vector<ProbedPoint> points;
  on_one_rank(Dtype::float32, [&](Worker& worker) {
    for (std::int64_t bytes = 4096; bytes <= options.most_bytes; bytes *= 4) {
      // An add moves three times its operand.
      Pointwise kernels(worker, std::max<std::int64_t>(1, bytes / (3 * 4 * Pointwise::width)));
      double logs = 0;
      double spread = 0;
      double size = 0;
      for (const char* op : Pointwise::ops) {
        const Sampled sampled =
            sample(worker, op, options.point_seconds / Pointwise::ops.size(), [&] { kernels(op); });
        const ProbedPoint point = probed(static_cast<double>(sampled.bytes), sampled.seconds);
        if (op == Pointwise::ops.front()) size = point.size;
        logs += std::log(point.seconds / point.size);
        spread = std::max(spread, point.spread);
      }
      points.push_back({size, size * std::exp(logs / Pointwise::ops.size()), spread});
    }
  });
  return points;
}

double probe_all_busy(const ProbeOptions& options, int cores) {
  const std::int64_t n = std::min<std::int64_t>(512, options.most_width);
  const auto product = [&](int ranks) {
    LaunchOptions together;
    together.mesh = Mesh({{"domain", ranks}});
    std::vector<double> seconds(static_cast<std::size_t>(ranks));
    launch(cpu_execution(), together, [&](Worker& worker, int rank) {
      const NoGrad no_grad(worker);
      const Tensor x = normal(worker, {n, n});
      Tensor result;
      if (ranks > 1) worker.communicator({0}).barrier();
      seconds[static_cast<std::size_t>(rank)] =
          probed(1,
                 sample(worker, "linear", 2 * options.point_seconds, [&] { result = linear(x, x); })
                     .seconds)
              .seconds;
    });
    return *std::max_element(seconds.begin(), seconds.end());
  };
  return cores < 2 ? 1 : std::min(1.0, product(1) / product(cores));
}

}  // namespace shardlab
