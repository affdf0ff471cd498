#include <benchmark/benchmark.h>

#include "engine/engine.h"
#include "tools/executions.h"
#include "tools/perf/interleave.h"

namespace shardlab::perf {
namespace {

LaunchOptions ranks(int count) {
  LaunchOptions options;
  options.mesh = Mesh({{"domain", count}});
  return options;
}

Tensor rows(Worker& worker) {
  const std::vector<Cut> cuts{{"domain", 0}};
  return random_normal(worker, spread(worker, {8 * worker.mesh().size(), 8}, Dtype::float32, cuts),
                       1.0);
}

/// Seconds of a call that every rank makes at the same time, the slower rank's.
template <typename Body>
void per_call(benchmark::State& state, const Execution& execution, int count, int calls,
              const Body& body) {
  for (auto _ : state) {
    std::vector<double> seconds(static_cast<std::size_t>(count));
    launch(execution, ranks(count), [&](Worker& worker, int rank) {
      const auto call = body(worker);
      std::vector<double> blocks;
      for (int block = 0; block < 9; ++block) {
        blocks.push_back(seconds_of([&] {
          for (int i = 0; i < calls; ++i) call();
        }));
        worker.tape().clear();
      }
      seconds[static_cast<std::size_t>(rank)] = median(blocks) / calls;
    });
    state.SetIterationTime(*std::max_element(seconds.begin(), seconds.end()));
  }
}

/// A tiny sum with the tape on. Mark: 0.5 us on one rank, 1 us sharded without communication.
void dispatch_add(benchmark::State& state) {
  per_call(state, cpu_execution(), static_cast<int>(state.range(0)), 2000, [](Worker& worker) {
    const Tensor x = make_leaf(rows(worker));
    const Tensor y = rows(worker);
    return [x, y] { benchmark::DoNotOptimize(add(x, y)); };
  });
}
BENCHMARK(dispatch_add)->ArgName("ranks")->Arg(1)->Arg(2)->UseManualTime()->Iterations(5);

void dispatch_linear(benchmark::State& state) {
  per_call(state, cpu_execution(), static_cast<int>(state.range(0)), 2000, [](Worker& worker) {
    const Tensor x = make_leaf(rows(worker));
    const Spec square{{8, 8}, Dtype::float32, worker.layouts().replicated(2)};
    const Tensor w = make_leaf(random_normal(worker, square, 1.0));
    return [x, w] { benchmark::DoNotOptimize(linear(x, w)); };
  });
}
BENCHMARK(dispatch_linear)->ArgName("ranks")->Arg(1)->Arg(2)->UseManualTime()->Iterations(5);

/// Shapes only: the rate at which a program can be traced. Mark: 1 M ops/s, 1 us.
void dispatch_meta(benchmark::State& state) {
  per_call(state, meta_execution(), 1, 2000, [](Worker& worker) {
    const Tensor x = make_leaf(rows(worker));
    const Tensor y = rows(worker);
    return [x, y] { benchmark::DoNotOptimize(add(x, y)); };
  });
}
BENCHMARK(dispatch_meta)->UseManualTime()->Iterations(5);

/// Two linear layers of width 8 with GELU, mean of squares, backward. Mark: 25 us on one rank, 60
/// us on two, where four weight gradients are reduced.
void mlp_step(benchmark::State& state) {
  per_call(state, cpu_execution(), static_cast<int>(state.range(0)), 200, [](Worker& worker) {
    const nn::Parameters parameters(worker, {});
    const auto mlp = std::make_shared<nn::Mlp>(parameters, 8, 8);
    const Tensor x = rows(worker);
    return [mlp, x, &worker] {
      const Tensor y = (*mlp)(x);
      (void)backward(mean(multiply(y, y)));
      for (const Tensor& parameter : worker.parameters()) {
        (void)ready_view(parameter.gradient());
        parameter.state().gradient = {};
      }
    };
  });
}
BENCHMARK(mlp_step)->ArgName("ranks")->Arg(1)->Arg(2)->UseManualTime()->Iterations(5);

}  // namespace
}  // namespace shardlab::perf
