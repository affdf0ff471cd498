#include "tools/probe_collectives.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/core/check.h"
#include "engine/engine.h"
#include "tools/executions.h"

namespace shardlab {
namespace {

/// The calls of one rank on blocks of one size.
class Calls {
 public:
  Calls(Worker& worker, std::int64_t bytes)
      : worker_(worker),
        communicator_(worker.communicator({0})),
        ranks_(worker.mesh().size()),
        part_(std::max<std::int64_t>(1, bytes / 4 / ranks_)),
        counts_(static_cast<std::size_t>(ranks_), part_),
        pieces_(static_cast<std::size_t>(ranks_), std::max<std::int64_t>(1, part_ / ranks_)),
        in_(room(worker)),
        out_(room(worker)) {}

  void operator()(std::string_view collective) { communicator_.wait(start(collective)); }

 private:
  Tensor room(Worker& worker) {
    const Shape shape{part_ * ranks_};
    return full(worker, {shape, Dtype::float32, worker.layouts().replicated(1)}, 1);
  }

  static Block block(const Tensor& x, std::int64_t count) {
    return {x.state().view.data, count, Dtype::float32};
  }

  Pending start(std::string_view collective) {
    const std::int64_t whole = part_ * ranks_;
    if (collective == "all_reduce")
      return communicator_.all_reduce(block(in_, whole), block(out_, whole), Reduction::sum);
    if (collective == "all_gather")
      return communicator_.all_gather(block(in_, part_), block(out_, whole), counts_);
    if (collective == "reduce_scatter")
      return communicator_.reduce_scatter(block(in_, whole), block(out_, part_), counts_,
                                          Reduction::sum);
    if (collective == "all_to_all") {
      const std::int64_t mine = pieces_[0] * ranks_;
      return communicator_.all_to_all(block(in_, mine), pieces_, block(out_, mine), pieces_);
    }
    const int position = communicator_.position();
    const Message send{(position + 1) % ranks_, block(in_, whole)};
    const Message receive{(position + ranks_ - 1) % ranks_, block(out_, whole)};
    return communicator_.exchange({&send, 1}, {&receive, 1});
  }

  Worker& worker_;
  Communicator& communicator_;
  int ranks_;
  std::int64_t part_;
  std::vector<std::int64_t> counts_;
  std::vector<std::int64_t> pieces_;
  Tensor in_;
  Tensor out_;
};

constexpr std::array collectives{"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                 "send_recv"};

/// Seconds of a call in blocks of calls, all ranks beginning each block together.
std::vector<double> blocks_of(Worker& worker, Calls& calls, std::string_view collective,
                              int count) {
  std::vector<double> blocks;
  for (int i = 0; i < 7; ++i) {
    worker.communicator({0}).barrier();
    const double begin = Trace::now_seconds();
    for (int c = 0; c < count; ++c) calls(collective);
    blocks.push_back((Trace::now_seconds() - begin) / count);
  }
  return blocks;
}

/// The same number of calls on every rank, from a rate of bytes that is rather too low.
int calls_of(std::int64_t bytes, double budget) {
  const double expected = 5e-6 + static_cast<double>(bytes) / 1e9;
  return std::clamp(static_cast<int>(budget / 7 / expected), 1, 500);
}

}  // namespace

std::vector<sim::CollectiveCurve> probe_collectives(const ProbeOptions& options, int cores,
                                                    const ProbeProgress& progress) {
  std::vector<sim::CollectiveCurve> curves;
  for (int ranks = 2; ranks <= std::min(options.most_ranks, cores); ++ranks) {
    progress(fmt::format("collectives on {} ranks", ranks));
    LaunchOptions together;
    together.mesh = Mesh({{"domain", ranks}});
    for (const char* collective : collectives) {
      sim::CollectiveCurve curve;
      curve.collective = collective;
      curve.ranks = ranks;
      curve.hosts = 1;
      curve.source = sim::Source::user_measured;
      curve.from = "shardlab probe, rank threads";
      curve.half_width = sim::half_width_of(curve.source);
      std::vector<std::vector<ProbedPoint>> of_rank(static_cast<std::size_t>(ranks));
      launch(cpu_execution(), together, [&](Worker& worker, int rank) {
        const NoGrad no_grad(worker);
        for (std::int64_t bytes = 1024; bytes <= options.most_bytes; bytes *= 4) {
          Calls calls(worker, bytes);
          calls(collective);
          of_rank[static_cast<std::size_t>(rank)].push_back(
              probed(static_cast<double>(bytes),
                     blocks_of(worker, calls, collective, calls_of(bytes, options.point_seconds))));
        }
      });
      for (std::size_t i = 0; i < of_rank[0].size(); ++i) {
        double seconds = 0;
        for (const auto& points : of_rank) {
          seconds = std::max(seconds, points[i].seconds);
          curve.half_width = std::max(curve.half_width, std::min(1.0, points[i].spread));
        }
        curve.points.emplace_back(of_rank[0][i].size, seconds);
      }
      curves.push_back(std::move(curve));
    }
  }
  return curves;
}

}  // namespace shardlab
