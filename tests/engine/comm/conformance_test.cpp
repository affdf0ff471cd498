#include <cstring>
#include <random>

#include "tests/engine/comm/ranks.h"

namespace shardlab::test {
namespace {

class Collectives : public OnRanks {};

template <typename T>
void expect_all_reduce(Communicator& all, std::int64_t count, Reduction reduction) {
  const std::vector<T> expected = reduced_of<T>(all_of(all.size()), count, reduction);
  std::vector<T> in = values_of<T>(all.position(), count);
  std::vector<T> out(count);
  all.wait(all.all_reduce(block_of(in), block_of(out), reduction));
  EXPECT_EQ(out, expected) << name_of(dtype_of<T>()) << " out of place, " << count;
  EXPECT_EQ(in, values_of<T>(all.position(), count)) << "the input is changed";
  all.wait(all.all_reduce(block_of(in), block_of(in), reduction));
  EXPECT_EQ(in, expected) << name_of(dtype_of<T>()) << " in place, " << count;
}

TEST_P(Collectives, AllReduceReducesOverAllInAndOutOfPlace) {
  on_line([](Communicator& all) {
    for (const Reduction reduction : {Reduction::sum, Reduction::max})
      for (const std::int64_t count : {0, 1, 15, 16, 17, 100, 129, 4099, 20011}) {
        expect_all_reduce<float>(all, count, reduction);
        expect_all_reduce<double>(all, count, reduction);
        expect_all_reduce<std::int64_t>(all, count, reduction);
      }
  });
}

TEST_P(Collectives, AllReduceGivesEveryRankTheSameBitsEveryTime) {
  on_line([](Communicator& all) {
    constexpr std::int64_t count = 9001;
    std::mt19937 random(7 + all.position());
    std::uniform_real_distribution<float> wide(-1e6F, 1e6F);
    std::vector<float> in(count);
    for (float& value : in) value = wide(random);
    std::vector<float> first(count);
    all.wait(all.all_reduce(block_of(in), block_of(first), Reduction::sum));
    std::vector<float> everyone(count * all.size());
    const std::vector<std::int64_t> counts(all.size(), count);
    all.wait(all.all_gather(block_of(first), block_of(everyone), counts));
    for (int p = 0; p < all.size(); ++p)
      EXPECT_EQ(std::memcmp(&everyone[p * count], first.data(), count * sizeof(float)), 0)
          << "rank " << p << " has other bits than rank " << all.position();
    for (int again = 0; again < 3; ++again) {
      std::vector<float> out(count);
      all.wait(all.all_reduce(block_of(in), block_of(out), Reduction::sum));
      EXPECT_EQ(std::memcmp(out.data(), first.data(), count * sizeof(float)), 0);
    }
  });
}

template <typename T>
void expect_all_gather(Communicator& all, const std::vector<std::int64_t>& counts) {
  std::vector<T> expected;
  for (int p = 0; p < all.size(); ++p)
    for (const T value : values_of<T>(p, counts[p])) expected.push_back(value);
  std::vector<T> in = values_of<T>(all.position(), counts[all.position()]);
  std::vector<T> out(total_of(counts));
  all.wait(all.all_gather(block_of(in), block_of(out), counts));
  EXPECT_EQ(out, expected) << name_of(dtype_of<T>());

  std::vector<T> both(out.size());
  const auto begin = std::accumulate(counts.begin(), counts.begin() + all.position(), 0L);
  std::copy(in.begin(), in.end(), both.begin() + begin);
  Block mine = block_of(in);
  mine.data = both.data() + begin;
  all.wait(all.all_gather(mine, block_of(both), counts));
  EXPECT_EQ(both, expected) << name_of(dtype_of<T>()) << " in place";
}

TEST_P(Collectives, AllGatherJoinsEvenUnevenAndEmptyBlocks) {
  on_line([](Communicator& all) {
    for (const std::vector<std::int64_t>& counts : kinds_of_counts(all.size())) {
      expect_all_gather<float>(all, counts);
      expect_all_gather<double>(all, counts);
      expect_all_gather<std::uint16_t>(all, counts);
    }
  });
}

template <typename T>
void expect_reduce_scatter(Communicator& all, const std::vector<std::int64_t>& counts,
                           Reduction reduction) {
  const auto begin = std::accumulate(counts.begin(), counts.begin() + all.position(), 0L);
  const std::int64_t count = counts[all.position()];
  const std::vector<T> expected = reduced_of<T>(all_of(all.size()), count, reduction, begin);
  std::vector<T> in = values_of<T>(all.position(), total_of(counts));
  std::vector<T> out(count);
  all.wait(all.reduce_scatter(block_of(in), block_of(out), counts, reduction));
  EXPECT_EQ(out, expected) << name_of(dtype_of<T>());

  Block mine = block_of(out);
  mine.data = in.data() + begin;
  all.wait(all.reduce_scatter(block_of(in), mine, counts, reduction));
  EXPECT_EQ(std::vector<T>(in.begin() + begin, in.begin() + begin + count), expected)
      << name_of(dtype_of<T>()) << " in place";
}

TEST_P(Collectives, ReduceScatterKeepsTheOwnPartOfEvenUnevenAndEmptyOnes) {
  on_line([](Communicator& all) {
    for (const Reduction reduction : {Reduction::sum, Reduction::max})
      for (const std::vector<std::int64_t>& counts : kinds_of_counts(all.size())) {
        expect_reduce_scatter<float>(all, counts, reduction);
        expect_reduce_scatter<double>(all, counts, reduction);
        expect_reduce_scatter<std::int64_t>(all, counts, reduction);
      }
  });
}

// What one member sends another: uneven, often nothing, not the same both ways.
std::int64_t run_between(int from, int to) { return (from * 3 + to * 5 + from * to) % 4 * 6; }

TEST_P(Collectives, AllToAllMovesUnevenAndEmptyRuns) {
  on_line([](Communicator& all) {
    const int me = all.position();
    std::vector<std::int64_t> sent(all.size());
    std::vector<std::int64_t> received(all.size());
    std::vector<float> in;
    std::vector<float> expected;
    for (int p = 0; p < all.size(); ++p) {
      sent[p] = run_between(me, p);
      received[p] = run_between(p, me);
      for (const float value : values_of<float>(me, sent[p], 1000 * p)) in.push_back(value);
      for (const float value : values_of<float>(p, received[p], 1000 * me))
        expected.push_back(value);
    }
    std::vector<float> out(expected.size());
    all.wait(all.all_to_all(block_of(in), sent, block_of(out), received));
    EXPECT_EQ(out, expected);
  });
}

TEST_P(Collectives, F07_RanksWithNothingToDoJoinWithEmptyBlocks) {
  on_line([](Communicator& all) {
    std::vector<std::int64_t> counts(all.size(), 0);
    counts[0] = 4;
    std::vector<float> mine = values_of<float>(all.position(), counts[all.position()]);
    std::vector<float> out(4);
    all.wait(all.all_gather(block_of(mine), block_of(out), counts));
    EXPECT_EQ(out, values_of<float>(0, 4));
    std::vector<float> nothing;
    all.wait(all.all_reduce(block_of(nothing), block_of(nothing), Reduction::sum));
    all.wait(all.exchange({}, {}));
    all.barrier();
  });
}

TEST_P(Collectives, CallsAreWaitedForInAnyOrderOnAnyRank) {
  on_line([](Communicator& all) {
    constexpr int calls = 40;
    std::vector<std::vector<float>> blocks(calls);
    std::vector<Pending> pending;
    for (int c = 0; c < calls; ++c) {
      blocks[c] = values_of<float>(all.position(), 50 + c, c);
      pending.push_back(all.all_reduce(block_of(blocks[c]), block_of(blocks[c]), Reduction::sum));
    }
    std::mt19937 order(all.position());
    std::shuffle(pending.begin(), pending.end(), order);
    for (const Pending call : pending) all.wait(call);
    for (int c = 0; c < calls; ++c)
      EXPECT_EQ(blocks[c], reduced_of<float>(all_of(all.size()), 50 + c, Reduction::sum, c));
    EXPECT_EQ(all.calls(), calls);
  });
}

TEST_P(Collectives, AThousandCallsArePendingAtOnce) {
  on_line([](Communicator& all) {
    std::vector<std::vector<std::int64_t>> blocks(1000);
    std::vector<Pending> pending;
    for (std::size_t c = 0; c < blocks.size(); ++c) {
      blocks[c].assign(3, static_cast<std::int64_t>(c));
      pending.push_back(all.all_reduce(block_of(blocks[c]), block_of(blocks[c]), Reduction::sum));
    }
    for (const Pending call : pending) all.wait(call);
    for (std::size_t c = 0; c < blocks.size(); ++c)
      EXPECT_EQ(blocks[c][2], static_cast<std::int64_t>(c) * all.size());
  });
}

INSTANTIATE_TEST_SUITE_P(Every, Collectives,
                         testing::Combine(testing::ValuesIn(executions()),
                                          testing::Values(1, 2, 3, 4, 8)),
                         name_of_ranks);

class Meshes : public testing::TestWithParam<Execution> {};

TEST_P(Meshes, GroupsHoldTheRanksOfTheirAxesInTheOrderOfTheAxes) {
  const Mesh mesh({{"data", 2}, {"domain", 2}, {"heads", 2}});
  const std::vector<AxisList> groups = {{},     {0},    {1},    {2},       {0, 1},   {1, 0},
                                        {0, 2}, {2, 0}, {2, 1}, {0, 1, 2}, {2, 1, 0}};
  GetParam().run(mesh, [&](Network& network, int rank) {
    for (const AxisList& axes : groups) {
      const Coordinates at = mesh.coordinates(rank);
      const std::unique_ptr<Communicator> group = network.open(mesh, axes, at);
      ASSERT_EQ(group->size(), mesh.size(axes));
      EXPECT_EQ(group->position(), mesh.position(axes, at));
      std::vector<std::int64_t> in = {rank};
      std::vector<std::int64_t> out(group->size());
      const std::vector<std::int64_t> counts(group->size(), 1);
      group->wait(group->all_gather(block_of(in), block_of(out), counts));
      for (int p = 0; p < group->size(); ++p)
        EXPECT_EQ(out[p], mesh.rank(mesh.member(axes, at, p))) << names_of(mesh, axes);
    }
  });
}

TEST_P(Meshes, F02_TwoCommunicatorsAreWaitedForInAnOrderOfTheRank) {
  const Mesh mesh({{"data", 2}, {"domain", 2}});
  GetParam().run(mesh, [&](Network& network, int rank) {
    const std::unique_ptr<Communicator> rows = network.open(mesh, {1}, mesh.coordinates(rank));
    const std::unique_ptr<Communicator> all = open_all(network, mesh, rank);
    for (int round = 0; round < 100; ++round) {
      std::vector<float> sum = values_of<float>(rank, 100);
      std::vector<float> given = values_of<float>(rank, 30);
      std::vector<float> taken(30);
      const Message send{1 - rows->position(), block_of(given)};
      const Message receive{1 - rows->position(), block_of(taken)};
      const Pending reduction = all->all_reduce(block_of(sum), block_of(sum), Reduction::sum);
      const Pending step = rows->exchange({&send, 1}, {&receive, 1});
      if (rank % 2 == 0) {
        all->wait(reduction);
        rows->wait(step);
      } else {
        rows->wait(step);
        all->wait(reduction);
      }
      EXPECT_EQ(taken, values_of<float>(rank ^ 1, 30));
      EXPECT_EQ(sum, reduced_of<float>(all_of(4), 100, Reduction::sum));
    }
  });
}

TEST_P(Meshes, TheSameGroupOpenedTwiceHasTwoLanes) {
  const Mesh mesh({{"domain", 2}});
  GetParam().run(mesh, [&](Network& network, int rank) {
    const std::unique_ptr<Communicator> one = open_all(network, mesh, rank);
    const std::unique_ptr<Communicator> two = open_all(network, mesh, rank);
    std::vector<float> a = {1};
    std::vector<double> b = {2};
    const auto start = [&](bool first) {
      return first ? one->all_reduce(block_of(a), block_of(a), Reduction::sum)
                   : two->all_reduce(block_of(b), block_of(b), Reduction::sum);
    };
    const Pending early = start(rank == 0);
    const Pending late = start(rank != 0);
    one->wait(rank == 0 ? early : late);
    two->wait(rank == 0 ? late : early);
    EXPECT_EQ(a[0], 2);
    EXPECT_EQ(b[0], 4);
  });
}

INSTANTIATE_TEST_SUITE_P(Every, Meshes, testing::ValuesIn(executions()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace shardlab::test
