#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string_view>

#include "engine/backends/cpu/isa.h"
#include "engine/core/error.h"
#include "tools/environment.h"
#include "tools/perf/stored_report.h"

namespace {

/// Takes `--shardlab_db=FILE` out of the arguments; empty where it is not there.
std::string take_database(int& argc, char** argv) {
  constexpr std::string_view flag = "--shardlab_db=";
  std::string database;
  int kept = 0;
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(flag))
      database = argument.substr(flag.size());
    else
      argv[kept++] = argv[i];
  }
  argc = kept;
  return database;
}

}  // namespace

int main(int argc, char** argv) {
  std::string command;
  for (int i = 0; i < argc; ++i) command += (i == 0 ? "" : " ") + std::string(argv[i]);
  const std::string database = take_database(argc, argv);
  fmt::print(stderr, "{}, level {}; marks stand beside each benchmark in tools/perf\n",
             shardlab::processor_name(), shardlab::cpu::isa_level_name());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  if (database.empty()) {
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  }
  try {
    shardlab::perf::StoredReport report(database, command);
    benchmark::RunSpecifiedBenchmarks(&report);
    fmt::print("{}: {} runs stored; shardlab show --db {}\n", database, report.stored(), database);
  } catch (const shardlab::Error& error) {
    fmt::print(stderr, "shardlab_perf: {}\n", error.what());
    return 4;
  }
  return 0;
}
