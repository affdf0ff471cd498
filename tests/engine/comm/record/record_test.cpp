#include "engine/comm/record/record.h"

#include "tests/engine/comm/ranks.h"

namespace shardlab::test {
namespace {

Block without_values(std::int64_t count, Dtype dtype = Dtype::bfloat16) {
  return {nullptr, count, dtype};
}

TEST(RecordCommunicator, HasTheSizeAndPositionOfItsGroup) {
  const Mesh mesh({{"data", 2}, {"domain", 3}});
  RecordNetwork network;
  const Coordinates at = mesh.coordinates(5);
  for (const AxisList& axes :
       {AxisList{}, AxisList{0}, AxisList{1}, AxisList{0, 1}, AxisList{1, 0}}) {
    const std::unique_ptr<Communicator> group = network.open(mesh, axes, at);
    EXPECT_EQ(group->size(), mesh.size(axes));
    EXPECT_EQ(group->position(), mesh.position(axes, at));
  }
}

TEST(RecordCommunicator, OneRankAloneNeverWaitsAndTouchesNothing) {
  const Mesh mesh({{"domain", 4}});
  RecordNetwork network;
  const std::unique_ptr<Communicator> all = network.open(mesh, {0}, mesh.coordinates(2));
  const std::vector<std::int64_t> counts = {3, 0, 5, 2};
  const Message message{3, without_values(7)};
  const std::vector<Pending> calls = {
      all->all_reduce(without_values(100), without_values(100), Reduction::sum),
      all->all_gather(without_values(5), without_values(10), counts),
      all->reduce_scatter(without_values(10), without_values(5), counts, Reduction::max),
      all->all_to_all(without_values(10), counts, without_values(10), counts),
      all->exchange({&message, 1}, {&message, 1})};
  all->barrier();
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) all->wait(*call);
  EXPECT_EQ(all->calls(), 5);
}

TEST(RecordCommunicator, CountsTheBytesThatACommunicatorOfRanksMoves) {
  const std::vector<std::int64_t> counts = {30, 0, 51, 2};
  const auto make_calls = [&](Communicator& all, float* memory) {
    const auto block = [&](std::int64_t count, std::int64_t at) {
      return Block{memory == nullptr ? nullptr : memory + at, count, Dtype::float32};
    };
    const int me = all.position();
    const Message send{(me + 1) % 4, block(counts[me], 0)};
    const Message receive{(me + 3) % 4, block(counts[(me + 3) % 4], 500)};
    all.wait(all.all_reduce(block(333, 0), block(333, 0), Reduction::sum));
    all.wait(all.all_gather(block(counts[me], 0), block(83, 500), counts));
    all.wait(all.reduce_scatter(block(83, 0), block(counts[me], 500), counts, Reduction::sum));
    all.wait(all.exchange({&send, 1}, {&receive, 1}));
  };
  const Mesh mesh({{"domain", 4}});
  for (const Execution& execution : executions())
    execution.run(mesh, [&](Network& network, int rank) {
      std::vector<float> memory(1000);
      const std::unique_ptr<Communicator> moving = open_all(network, mesh, rank);
      make_calls(*moving, memory.data());
      RecordNetwork alone;
      const std::unique_ptr<Communicator> recording = open_all(alone, mesh, rank);
      make_calls(*recording, nullptr);
      EXPECT_EQ(recording->bytes_received(), moving->bytes_received());
      EXPECT_EQ(recording->bytes_received(), execution.moved_bytes(*moving)) << "rank " << rank;
    });
}

TEST(RecordCommunicator, RefusesWhatAnyCommunicatorRefuses) {
  const Mesh mesh({{"domain", 2}});
  RecordNetwork network;
  const std::unique_ptr<Communicator> all = network.open(mesh, {0}, mesh.coordinates(0));
  expect_error(Fault::invalid, {"5", "6"}, [&] {
    all->wait(all->all_reduce(without_values(5), without_values(6), Reduction::sum));
  });
}

}  // namespace
}  // namespace shardlab::test
