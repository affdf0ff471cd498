#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <filesystem>

#include "results/compare.h"
#include "results/merge.h"
#include "results/query.h"
#include "results/random.h"
#include "results/scaling.h"
#include "results/store.h"
#include "results/temporary_folder.h"

namespace shardlab::perf {
namespace {

namespace fs = std::filesystem;
using namespace results;

/// What a database is filled with: runs of so many problems on 1, 2, 4 and 8 ranks, of two commits.
struct Filling {
  int problems = 5;
  int runs = 25;  ///< Of a problem, mesh and commit.
  int iterations = 1000;
  std::uint64_t seed = 1;
};

RunHeader header_of(int problem, int ranks, const char* commit) {
  RunHeader header;
  header.series.scenario = "vit";
  header.series.parameters = fmt::format(R"({{"depth":{}}})", problem + 1);
  header.series.mesh = fmt::format("domain={}", ranks);
  header.environment.processor = "a processor";
  header.commit = commit;
  return header;
}

void fill(const std::string& file, const Filling& filling) {
  Store store(file);
  Random random(filling.seed);
  for (const char* commit : {"aaaaaaaaaa", "bbbbbbbbbb"})
    for (int run = 0; run < filling.runs; ++run)
      for (int problem = 0; problem < filling.problems; ++problem)
        for (const int ranks : {1, 2, 4, 8}) {
          const RunId id = store.start_run(header_of(problem, ranks, commit));
          MetricSamples samples{step_seconds(), {}};
          for (int i = 0; i < filling.iterations; ++i)
            samples.samples.push_back(
                {.iteration = i,
                 .value = (1 + static_cast<double>(random.below(1000)) / 20'000) / ranks});
          store.append(id, {.metrics = {samples}});
          store.finish_run(id, RunStatus::complete);
        }
}

/// A database of a million samples in a thousand runs, made once.
class Million {
 public:
  Million() : folder_(temporary_folder()) { fill(file(), {}); }
  [[nodiscard]] std::string file() const { return (*folder_ / "million.sqlite").string(); }

 private:
  std::shared_ptr<const fs::path> folder_;
};

const Million& million() {
  static const Million made;
  return made;
}

// Marks of these three: 1 s for a million samples.
void results_list(benchmark::State& state) {
  const std::string file = million().file();
  for (auto _ : state) benchmark::DoNotOptimize(list_runs(open_for_reading(file)).size());
}
BENCHMARK(results_list)->Unit(benchmark::kSecond)->Iterations(5);

void results_curves(benchmark::State& state) {
  const std::string file = million().file();
  for (auto _ : state) benchmark::DoNotOptimize(scaling_curves(open_for_reading(file), {}).size());
}
BENCHMARK(results_curves)->Unit(benchmark::kSecond)->Iterations(5);

void results_compare(benchmark::State& state) {
  const std::string file = million().file();
  std::size_t findings = 0;
  for (auto _ : state)
    findings =
        compare(find_side("aaaaaaaaaa", file), find_side("bbbbbbbbbb", file), {}).findings.size();
  state.counters["findings"] = static_cast<double>(findings);
}
BENCHMARK(results_compare)->Unit(benchmark::kSecond)->Iterations(5);

// Mark: 10 s for 100 files of 10,000 samples.
void results_merge(benchmark::State& state) {
  const auto folder = temporary_folder();
  std::vector<std::string> files;
  for (std::uint64_t i = 0; i < 100; ++i) {
    files.push_back((*folder / fmt::format("job-{}.sqlite", i)).string());
    // One problem on four meshes, twice a commit: 16 runs.
    fill(files.back(), {.problems = 1, .runs = 2, .iterations = 625, .seed = i});
  }
  int merged = 0;
  for (auto _ : state) merge((*folder / fmt::format("all-{}.sqlite", merged++)).string(), files);
}
BENCHMARK(results_merge)->Unit(benchmark::kSecond)->Iterations(2);

}  // namespace
}  // namespace shardlab::perf
