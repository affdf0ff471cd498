#pragma once

#include <map>
#include <string>
#include <string_view>

namespace shardlab::results {

/// What the name of a Google Benchmark run says of its problem.
struct BenchmarkName {
  std::string scenario;  ///< The function with its template arguments.
  std::map<std::string, std::string> parameters;
  std::string mesh = "domain=1";
};

/// Takes `run_name`, which aggregates share with their samples, apart.
///
/// What only says how long was measured (`iterations`, `repeats`, `min_time` ...) is left out;
/// `ranks:N` becomes the mesh, so that its values form a scaling curve; arguments without a name
/// are numbered.
///
/// Example  add/ranks:2/manual_time/iterations:5 is add, {"time": "manual"}, domain=2
[[nodiscard]] BenchmarkName read_benchmark_name(std::string_view run_name);

}  // namespace shardlab::results
