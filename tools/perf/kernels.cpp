#include <benchmark/benchmark.h>

#include <array>
#include <functional>
#include <thread>

#include "engine/backends/cpu/peak.h"
#include "engine/engine.h"
#include "scenarios/all.h"
#include "tools/executions.h"
#include "tools/measure.h"
#include "tools/perf/interleave.h"
#include "tools/perf/onednn_direct.h"

namespace shardlab::perf {
namespace {

void on_one_rank(const std::function<void(Worker&)>& body) {
  launch(cpu_execution(), {}, [&](Worker& worker, int) {
    const NoGrad no_grad(worker);
    body(worker);
  });
}

Tensor normal(Worker& worker, const Shape& shape) {
  return random_normal(worker, {shape, Dtype::float32, worker.layouts().replicated(shape.ndim())},
                       1.0);
}

/// The engine's product against oneDNN called directly in its best layout. Mark: 95 %.
void matmul_against_onednn(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  for (auto _ : state)
    on_one_rank([&](Worker& worker) {
      const Tensor a = normal(worker, {n, n});
      const Tensor b = normal(worker, {n, n});
      const Tensor c = normal(worker, {n, n});
      DirectProduct direct(n, n, n);
      const auto data = [](const Tensor& x) { return x.state().view.as<float>(); };
      const int pairs = n <= 1024 ? 15 : 7;
      const auto ours = [&] { benchmark::DoNotOptimize(matmul(a, b)); };
      const Paired packed = interleave(
          ours, [&] { direct(data(a), data(b), data(c), true); }, pairs);
      const Paired plain = interleave(
          ours, [&] { direct(data(a), data(b), data(c), false); }, pairs);
      const double flop = 2.0 * static_cast<double>(n * n * n);
      state.SetIterationTime(packed.first_seconds);
      state.counters["GFLOP/s"] = flop / packed.first_seconds * 1e-9;
      state.counters["of_packed_%"] = 100 * packed.second_over_first;
      state.counters["of_plain_%"] = 100 * plain.second_over_first;
    });
}
BENCHMARK(matmul_against_onednn)
    ->Arg(512)
    ->Arg(1024)
    ->Arg(2048)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

/// Attention forward and backward against the measured peak. Marks: 65 % and 50 %.
void attention_against_peak(benchmark::State& state) {
  const std::int64_t tokens = state.range(0);
  const std::int64_t heads = state.range(1);
  const std::int64_t width = state.range(2);
  for (auto _ : state)
    on_one_rank([&](Worker& worker) {
      const Shape shape{1, tokens, heads, width};
      const Tensor q = normal(worker, shape);
      const Tensor k = normal(worker, shape);
      const Tensor v = normal(worker, shape);
      const Tensor g = normal(worker, shape);
      Attended attended = attention(q, k, v, 0.125);
      const std::array<Tensor, 6> inputs{q, k, v, attended.output, attended.log_sum_exp, g};
      const Ref<const Op> gradient = make_ref<AttentionGradient>(0.125, false);
      std::array<Tensor, 3> results;
      std::vector<double> peaks;
      std::vector<double> forwards;
      std::vector<double> backwards;
      for (int i = 0; i < 7; ++i) {
        peaks.push_back(cpu::measure_fma_peak_flops());
        forwards.push_back(seconds_of([&] { attended = attention(q, k, v, 0.125); }));
        backwards.push_back(seconds_of([&] { dispatch(gradient, inputs, results); }));
      }
      const double peak = median(peaks);
      const double flop = 4.0 * static_cast<double>(heads * tokens * tokens * width);
      state.SetIterationTime(median(forwards));
      state.counters["peak_GFLOP/s"] = peak * 1e-9;
      state.counters["forward_%"] = 100 * flop / median(forwards) / peak;
      state.counters["backward_%"] = 100 * 2.5 * flop / median(backwards) / peak;
    });
}
BENCHMARK(attention_against_peak)
    ->Args({4096, 8, 64})
    ->Args({1024, 6, 64})
    ->Args({512, 6, 64})
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

double step_seconds(const char* scenario, bool train, int ranks, int iterations) {
  Scenarios scenarios;
  add_all_scenarios(scenarios);
  const Scenario& found = scenarios.find(scenario);
  Params params = found.preset("small");
  params.train = train;
  MeasureOptions options;
  options.launch.mesh = Mesh({{"domain", ranks}});
  options.iterations = iterations;
  const Measurement measurement = measure(cpu_execution(), found, params, options);
  std::vector<double> slowest;
  for (int i = 0; i < iterations; ++i) {
    double seconds = 0;
    for (const RankMeasure& rank : measurement.ranks)
      seconds = std::max(seconds, rank.seconds[static_cast<std::size_t>(options.warmup + i)]);
    slowest.push_back(seconds);
  }
  return median(slowest);
}

/// A training step of `vit` small (127.4 GFLOP) against oneDNN's product at 1024. Mark: 65 %.
void vit_against_onednn(benchmark::State& state) {
  for (auto _ : state) {
    constexpr std::int64_t n = 1024;
    std::vector<float> a(n * n, 1.0F);
    std::vector<float> c(n * n);
    DirectProduct direct(n, n, n);
    std::vector<double> products;
    std::vector<double> steps;
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 5; ++i)
        products.push_back(seconds_of([&] { direct(a.data(), a.data(), c.data(), true); }));
      steps.push_back(step_seconds("vit", true, 1, 2));
    }
    const double rate = 2.0 * n * n * n / median(products);
    const double step = median(steps);
    state.SetIterationTime(step);
    state.counters["step_GFLOP/s"] = 127.4e9 / step * 1e-9;
    state.counters["matmul_GFLOP/s"] = rate * 1e-9;
    state.counters["of_matmul_%"] = 100 * 127.4e9 / step / rate;
  }
}
BENCHMARK(vit_against_onednn)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

/// Two one-rank runs at once that know nothing of each other: the slower one's step.
double independent_step_seconds(const char* scenario, bool train, int iterations) {
  std::array<double, 2> seconds{};
  {
    const std::jthread other([&] { seconds[1] = step_seconds(scenario, train, 1, iterations); });
    seconds[0] = step_seconds(scenario, train, 1, iterations);
  }
  return std::max(seconds[0], seconds[1]);
}

/// One rank against two on two cores. Mark: 90 % efficiency. What the machine itself leaves of it
/// when both cores work stands beside it: cores of a virtual machine may share one of the host.
void two_ranks(benchmark::State& state, const char* scenario, bool train) {
  for (auto _ : state) {
    std::vector<double> one;
    std::vector<double> efficiency;
    std::vector<double> ceiling;
    for (int round = 0; round < 5; ++round) {
      one.push_back(step_seconds(scenario, train, 1, 3));
      efficiency.push_back(one.back() / step_seconds(scenario, train, 2, 3) / 2);
      ceiling.push_back(one.back() / independent_step_seconds(scenario, train, 3));
    }
    state.SetIterationTime(median(one));
    state.counters["efficiency_%"] = 100 * median(efficiency);
    state.counters["independent_%"] = 100 * median(ceiling);
  }
}
BENCHMARK_CAPTURE(two_ranks, vit_training, "vit", true)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(two_ranks, vit_inference, "vit", false)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(two_ranks, ring_training, "ring_attention", true)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(two_ranks, ring_inference, "ring_attention", false)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

/// All-reduce of float32 over two rank threads, a call at a time.
void all_reduce(benchmark::State& state) {
  const std::int64_t bytes = state.range(0);
  const std::int64_t count = bytes / 4;
  for (auto _ : state) {
    LaunchOptions options;
    options.mesh = Mesh({{"domain", 2}});
    std::array<double, 2> seconds{};
    launch(cpu_execution(), options, [&](Worker& worker, int rank) {
      const Tensor x = normal(worker, {count});
      Communicator& communicator = worker.communicator({0});
      const Block block{x.state().view.data, count, Dtype::float32};
      const int calls = bytes <= 1 << 16 ? 2000 : bytes <= 1 << 20 ? 200 : 8;
      std::vector<double> blocks;
      for (int i = 0; i < 5; ++i) {
        communicator.barrier();
        blocks.push_back(seconds_of([&] {
          for (int c = 0; c < calls; ++c)
            communicator.wait(communicator.all_reduce(block, block, Reduction::max));
        }));
      }
      seconds[static_cast<std::size_t>(rank)] = median(blocks) / calls;
    });
    state.SetIterationTime(std::max(seconds[0], seconds[1]));
  }
  state.SetBytesProcessed(state.iterations() * bytes);
}
BENCHMARK(all_reduce)
    ->Arg(1 << 10)
    ->Arg(1 << 16)
    ->Arg(1 << 20)
    ->Arg(64 << 20)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace shardlab::perf
