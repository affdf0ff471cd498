#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/dispatch/worker.h"
#include "engine/launch/launch.h"
#include "tests/support/close.h"

namespace shardlab::test {

/// Where a test program runs.
struct World {
  std::string mesh = "domain=1";
  Dtype dtype = Dtype::float64;
  std::uint64_t seed = 1;
  bool meta = false;
  /// Another backend in place of the one of the execution.
  std::function<std::unique_ptr<Backend>()> backend;
};

/// Runs a program on every rank.
///
/// Errors   Those of `launch`.
void run_on(const World& world, const std::function<void(Worker&, int rank)>& program);

/// Runs a function on every rank; results in order of rank.
template <typename Result>
[[nodiscard]] std::vector<Result> on_ranks(const World& world,
                                           const std::function<Result(Worker&)>& function) {
  std::vector<Result> results(static_cast<std::size_t>(Mesh::parse(world.mesh).size()));
  run_on(world, [&](Worker& worker, int rank) {
    results[static_cast<std::size_t>(rank)] = function(worker);
  });
  return results;
}

/// The value that a function gathers, after seeing that all ranks hold the same bits.
[[nodiscard]] Values on_all(const World& world, const std::function<Values(Worker&)>& function);

/// The text of the error that a program ends with; empty if it ends well.
[[nodiscard]] std::string error_of(const World& world, const std::function<void(Worker&)>& program);

/// One dim cut by mesh axes, the first slowest, into parts of these sizes.
struct Parts {
  int dim = 0;
  AxisList axes;
  std::vector<std::int64_t> sizes;
};

/// A layout spelled out; axes not named replicate.
struct Placed {
  std::vector<Parts> cuts;
  AxisList partial;
  Reduction reduction = Reduction::sum;
};

[[nodiscard]] std::string to_string(const Placed& placed);
[[nodiscard]] const Layout* layout_of(Worker& worker, int ndim, const Placed& placed);

/// A dim cut by axis 0.
[[nodiscard]] Placed cut(int dim, std::vector<std::int64_t> sizes);

/// A tensor with these values; the pieces of a Partial one differ and add up (or have as maximum)
/// the values.
[[nodiscard]] Tensor make(Worker& worker, const Values& values, const Placed& placed = {},
                          bool leaf = false);
[[nodiscard]] Tensor make_of(Worker& worker, Dtype dtype, const Values& values,
                             const Placed& placed, bool leaf = false);

/// A trainable parameter that is kept and used where the layouts say.
[[nodiscard]] Tensor parameter_of(Worker& worker, const std::string& name, const Values& values,
                                  const Placed& stored = {}, const Placed& used = {});

/// What this rank holds, and the whole; the latter is a collective call.
[[nodiscard]] Values local_values(const Tensor& tensor);
[[nodiscard]] Values whole_values(const Tensor& tensor);

}  // namespace shardlab::test
