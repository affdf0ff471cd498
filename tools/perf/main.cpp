#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "engine/backends/cpu/isa.h"
#include "tools/environment.h"

int main(int argc, char** argv) {
  fmt::print("{}, level {}; marks stand beside each benchmark in tools/perf\n",
             shardlab::processor_name(), shardlab::cpu::isa_level_name());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
