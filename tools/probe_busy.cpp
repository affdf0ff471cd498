#include "tools/probe_busy.h"

#include <algorithm>

#include "engine/engine.h"
#include "engine/launch/launch.h"
#include "tools/executions.h"
#include "tools/probe_sample.h"

namespace shardlab {
namespace {

constexpr int pairs = 5;

/// Seconds of both kernels on the slowest of so many ranks.
std::pair<double, double> on_ranks(const ProbeOptions& options, int ranks) {
  const std::int64_t n = std::min<std::int64_t>(512, options.most_width);
  const std::int64_t rows = std::max<std::int64_t>(1, options.most_bytes / (3 * 4 * 1024));
  LaunchOptions together;
  together.mesh = Mesh({{"domain", ranks}});
  std::vector<double> products(static_cast<std::size_t>(ranks));
  std::vector<double> sums(products);
  launch(cpu_execution(), together, [&](Worker& worker, int rank) {
    const NoGrad no_grad(worker);
    const auto timed = [&](const char* op, const auto& call) {
      if (ranks > 1) worker.communicator({0}).barrier();
      return probed(1, sample(worker, op, options.point_seconds, call).seconds).seconds;
    };
    const Tensor x = normal(worker, {n, n});
    const Tensor y = normal(worker, {rows, 1024});
    const Tensor z = normal(worker, {rows, 1024});
    Tensor result;
    products[static_cast<std::size_t>(rank)] = timed("linear", [&] { result = linear(x, x); });
    sums[static_cast<std::size_t>(rank)] = timed("add", [&] { result = add(y, z); });
  });
  return {*std::max_element(products.begin(), products.end()),
          *std::max_element(sums.begin(), sums.end())};
}

}  // namespace

BusyShares probe_busy(const ProbeOptions& options, int cores) {
  if (cores < 2) return {};
  std::vector<double> compute;
  std::vector<double> memory;
  for (int i = 0; i < pairs; ++i) {
    const auto [product, sum] = on_ranks(options, 1);
    const auto [busy_product, busy_sum] = on_ranks(options, cores);
    compute.push_back(product / busy_product);
    memory.push_back(sum / busy_sum);
  }
  return {std::min(1.0, probed(1, compute).seconds), std::min(1.0, probed(1, memory).seconds)};
}

}  // namespace shardlab
