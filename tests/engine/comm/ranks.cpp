#include "tests/engine/comm/ranks.h"

#include <thread>

#include "engine/comm/thread/communicator.h"
#include "engine/comm/thread/hub.h"

namespace shardlab::test {
namespace {

void run_on_threads(const Mesh& mesh, const Program& program) {
  ThreadHub hub(mesh, std::chrono::seconds(30));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < mesh.size(); ++rank)
    threads.emplace_back([&, rank] {
      const std::unique_ptr<Network> network = hub.network(rank);
      try {
        program(*network, rank);
      } catch (const Error& error) {
        network->abort(error.what());
        ADD_FAILURE() << "rank " << rank << " of " << mesh.text() << ": " << error.what();
      }
      hub.leave(rank);
    });
  for (std::thread& thread : threads) thread.join();
}

std::int64_t moved_by_threads(const Communicator& communicator) {
  return dynamic_cast<const ThreadCommunicator&>(communicator).copied_bytes();
}

}  // namespace

std::vector<Execution> executions() { return {{"Thread", run_on_threads, moved_by_threads}}; }

void OnRanks::on_line(const std::function<void(Communicator&)>& program) const {
  const Mesh mesh = line();
  execution().run(mesh, [&](Network& network, int rank) {
    const std::unique_ptr<Communicator> all = open_all(network, mesh, rank);
    program(*all);
    EXPECT_EQ(execution().moved_bytes(*all), all->bytes_received()) << "rank " << rank;
  });
}

std::string name_of_ranks(const testing::TestParamInfo<std::tuple<Execution, int>>& info) {
  return std::get<0>(info.param).name + std::to_string(std::get<1>(info.param));
}

std::unique_ptr<Communicator> open_all(Network& network, const Mesh& mesh, int rank) {
  AxisList axes;
  for (int axis = 0; axis < mesh.ndim(); ++axis) axes.push_back(axis);
  return network.open(mesh, axes, mesh.coordinates(rank));
}

void expect_error(Fault fault, const std::vector<std::string>& texts,
                  const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(name_of(error.fault()), name_of(fault)) << error.what();
    for (const std::string& text : texts)
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos)
          << "'" << text << "' is not in '" << error.what() << "'";
  }
}

std::vector<int> all_of(int size) {
  std::vector<int> all(size);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::int64_t total_of(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

std::vector<std::vector<std::int64_t>> kinds_of_counts(int size) {
  std::vector<std::vector<std::int64_t>> kinds(5, std::vector<std::int64_t>(size));
  for (int p = 0; p < size; ++p) {
    kinds[0][p] = 40;
    kinds[1][p] = 7 + 13 * p;
    kinds[2][p] = p % 2 * (p + 5);
    kinds[3][p] = p == size - 1 ? 9 : 0;
  }
  return kinds;
}

}  // namespace shardlab::test
