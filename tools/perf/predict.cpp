#include <benchmark/benchmark.h>

#include "engine/sim/machines.h"
#include "scenarios/all.h"
#include "tools/plan.h"
#include "tools/predict.h"

namespace shardlab::perf {
namespace {

/// A training step of the ViT at 2048 x 2048 on dgx-h100, traced and simulated.
void predict_vit(benchmark::State& state, const char* size, const char* mesh, const char* batch) {
  Scenarios scenarios;
  add_all_scenarios(scenarios);
  const Scenario& vit = scenarios.find("vit");
  Params params = vit.preset("paper");
  params.set("size", size);
  params.set("batch", batch);
  params.train = true;
  PredictOptions options;
  options.machine = sim::find_machine("dgx-h100");
  options.profile = sim::find_profile("shardlab");
  std::size_t classes = 0;
  for (auto _ : state)
    classes = predict(vit, params, Mesh::parse(mesh), options).simulated.timelines.size();
  state.counters["time_classes"] = static_cast<double>(classes);
}

// Marks: 1 s on data=64,domain=16 and 10 s on 16,384 GPUs; the others are printed.
BENCHMARK_CAPTURE(predict_vit, data_64_domain_16, "2048x2048", "data=64,domain=16", "64")
    ->Unit(benchmark::kSecond)
    ->Iterations(3);
BENCHMARK_CAPTURE(predict_vit, data_1024_domain_16, "2048x2048", "data=1024,domain=16", "1024")
    ->Unit(benchmark::kSecond)
    ->Iterations(3);
BENCHMARK_CAPTURE(predict_vit, domain_24_uneven, "2048x2048", "domain=24", "1")
    ->Unit(benchmark::kSecond)
    ->Iterations(3);
BENCHMARK_CAPTURE(predict_vit, domain_1024, "8192x2048", "domain=1024", "1")
    ->Unit(benchmark::kSecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(predict_vit, domain_1024_uneven, "2048x2048", "domain=1024", "1")
    ->Unit(benchmark::kSecond)
    ->Iterations(1);

/// All plans of a problem of batch 64 on up to 64 GPUs. Mark: 200 plans in 60 s.
void plan_vit(benchmark::State& state) {
  Scenarios scenarios;
  add_all_scenarios(scenarios);
  Request request;
  request.names = {"vit"};
  request.preset = "paper";
  request.values = {{"size", "2048x2048"}, {"batch", "64"}};
  request.dtypes = {"float32", "bfloat16"};
  request.train = true;
  PlanOptions options;
  options.predict.machine = sim::find_machine("dgx-h100");
  options.predict.profile = sim::find_profile("shardlab");
  options.max_ranks = 64;
  std::size_t plans = 0;
  for (auto _ : state) plans = search_plans(scenarios, request, options).front().plans.size();
  state.counters["plans"] = static_cast<double>(plans);
}
BENCHMARK(plan_vit)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace shardlab::perf
