#pragma once

#include <functional>
#include <vector>

#include "engine/dispatch/worker.h"

namespace shardlab {

/// Seconds and work of one kernel of a call, as a trace has them.
struct Sampled {
  std::vector<double> seconds;
  std::int64_t flop = 0;
  std::int64_t bytes = 0;
};

/// Runs a call again and again for `budget` seconds, and keeps the steps of its kernel `op`.
[[nodiscard]] Sampled sample(Worker& worker, const char* op, double budget,
                             const std::function<void()>& call);

/// Normal values, whole on every rank.
[[nodiscard]] Tensor normal(Worker& worker, const Shape& shape, Dtype dtype = Dtype::float32);

/// Runs `body` on one rank of a dtype, without gradients.
void on_one_rank(Dtype dtype, const std::function<void(Worker&)>& body);

}  // namespace shardlab
