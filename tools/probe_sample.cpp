#include "tools/probe_sample.h"

#include <algorithm>
#include <string_view>

#include "engine/core/check.h"
#include "engine/engine.h"
#include "engine/launch/launch.h"
#include "tools/executions.h"

namespace shardlab {
namespace {

constexpr int least_calls = 3;
constexpr int most_calls = 2000;

}  // namespace

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

Tensor normal(Worker& worker, const Shape& shape, Dtype dtype) {
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

}  // namespace shardlab
