#include "tests/engine/comm/ranks.h"

namespace shardlab::test {
namespace {

class Failures : public OnRanks {
 protected:
  void on_every_rank(const std::function<void(Communicator&)>& program) const {
    const Mesh mesh = line();
    execution().run(mesh, [&](Network& network, int rank) {
      const std::unique_ptr<Communicator> all = open_all(network, mesh, rank);
      program(*all);
    });
  }
};

TEST_P(Failures, F05_DifferentSizesAreAnErrorWithBothSizesOnAllRanks) {
  on_every_rank([](Communicator& all) {
    std::vector<float> ones(all.position() == 0 ? 409600 : 409598, 1.0F);
    const Pending sum = all.all_reduce(block_of(ones), block_of(ones), Reduction::sum);
    expect_error(Fault::invalid, {"409600", "409598", "all-reduce", "domain"},
                 [&] { all.wait(sum); });
    EXPECT_EQ(ones[0], 1.0F) << "data moved before sizes were compared";
  });
}

TEST_P(Failures, F02_DifferentKindsAreAnErrorNamingBothOnAllRanks) {
  on_every_rank([](Communicator& all) {
    std::vector<float> in(6, 1.0F);
    std::vector<float> out(all.position() == 0 ? 6 * all.size() : 6);
    const std::vector<std::int64_t> counts(all.size(), 6);
    const Pending call = all.position() == 0
                             ? all.all_gather(block_of(in), block_of(out), counts)
                             : all.all_reduce(block_of(in), block_of(out), Reduction::sum);
    expect_error(Fault::invalid, {"all-gather", "all-reduce", "rank 0"}, [&] { all.wait(call); });
  });
}

TEST_P(Failures, DifferentDtypesAreAnErrorNamingBothOnAllRanks) {
  on_every_rank([](Communicator& all) {
    std::vector<float> narrow(4);
    std::vector<double> wide(4);
    const Block block = all.position() == 1 ? block_of(wide) : block_of(narrow);
    const Pending call = all.all_reduce(block, block, Reduction::sum);
    expect_error(Fault::invalid, {"float32", "float64"}, [&] { all.wait(call); });
  });
}

TEST_P(Failures, DifferentReductionsAreAnErrorNamingBothOnAllRanks) {
  on_every_rank([](Communicator& all) {
    std::vector<float> values(4);
    const Pending call =
        all.all_reduce(block_of(values), block_of(values),
                       all.position() == all.size() - 1 ? Reduction::max : Reduction::sum);
    expect_error(Fault::invalid, {"(sum)", "(max)"}, [&] { all.wait(call); });
  });
}

TEST_P(Failures, DifferentCountsOfAGatherAreAnErrorOnAllRanks) {
  on_every_rank([](Communicator& all) {
    std::vector<std::int64_t> counts(all.size(), 3);
    counts[1] = all.position() == 0 ? 5 : 4;
    std::vector<float> in(counts[all.position()]);
    std::vector<float> out(total_of(counts));
    const Pending call = all.all_gather(block_of(in), block_of(out), counts);
    expect_error(Fault::invalid, {"3,5", "3,4"}, [&] { all.wait(call); });
  });
}

TEST_P(Failures, DifferentRunsOfAnAllToAllAreAnErrorOnAllRanks) {
  on_every_rank([](Communicator& all) {
    std::vector<std::int64_t> sent(all.size(), 2);
    const std::vector<std::int64_t> received(all.size(), 2);
    if (all.position() == 0) sent[1] = 7;
    std::vector<float> in(total_of(sent));
    std::vector<float> out(total_of(received));
    const Pending call = all.all_to_all(block_of(in), sent, block_of(out), received);
    expect_error(Fault::invalid, {"rank 0 sends 7", "rank 1, which expects 2"},
                 [&] { all.wait(call); });
  });
}

TEST_P(Failures, MessagesOfDifferentSizesAreAnErrorOnBothSides) {
  on_every_rank([](Communicator& all) {
    if (all.position() > 1) return;
    std::vector<float> given(all.position() == 0 ? 10 : 12);
    std::vector<float> taken(all.position() == 0 ? 12 : 11);
    const Message send{1 - all.position(), block_of(given)};
    const Message receive{1 - all.position(), block_of(taken)};
    const Pending call = all.exchange({&send, 1}, {&receive, 1});
    expect_error(Fault::invalid, {"rank 0 sends 10 float32 to rank 1, which expects 11 float32"},
                 [&] { all.wait(call); });
  });
}

TEST_P(Failures, F04_OneReceiveTooManyIsAnErrorOnBothSides) {
  on_every_rank([](Communicator& all) {
    if (all.position() > 1) return;
    std::vector<float> given(3);
    std::vector<float> taken(3);
    const Message send{1 - all.position(), block_of(given)};
    const std::vector<Message> receives(all.position() == 0 ? 2 : 1,
                                        {1 - all.position(), block_of(taken)});
    const Pending call = all.exchange({&send, 1}, receives);
    expect_error(Fault::invalid, {"rank 1 sends 1 messages to rank 0, which expects 2"},
                 [&] { all.wait(call); });
  });
}

TEST_P(Failures, F02_AnExchangeThatMeetsAReductionIsAnErrorOnAllRanks) {
  on_every_rank([](Communicator& all) {
    std::vector<float> values(3);
    std::vector<Message> sends;
    for (int p = 1; p < all.size(); ++p) sends.push_back({p, block_of(values)});
    const Pending call = all.position() == 0
                             ? all.exchange(sends, {})
                             : all.all_reduce(block_of(values), block_of(values), Reduction::sum);
    expect_error(Fault::invalid, {"exchange", "all-reduce"}, [&] { all.wait(call); });
  });
}

TEST_P(Failures, ARankThatFailsEndsTheWaitsOfAllWithItsText) {
  const Mesh mesh = line();
  execution().run(mesh, [&](Network& network, int rank) {
    const std::unique_ptr<Communicator> all = open_all(network, mesh, rank);
    all->barrier();
    if (rank == 1) return network.abort("the disk is full");
    std::vector<float> values(5);
    const Pending call = all->all_reduce(block_of(values), block_of(values), Reduction::sum);
    expect_error(Fault::external, {"the disk is full", "rank 1"}, [&] { all->wait(call); });
    expect_error(Fault::external, {"the disk is full"}, [&] { all->barrier(); });
  });
}

TEST_P(Failures, ARankThatLeavesEndsTheWaitsForIt) {
  on_every_rank([](Communicator& all) {
    all.barrier();
    if (all.position() == 1) return;
    std::vector<float> values(5);
    const Pending call = all.all_reduce(block_of(values), block_of(values), Reduction::sum);
    expect_error(Fault::external, {"rank 1", "all-reduce"}, [&] { all.wait(call); });
  });
}

TEST_P(Failures, ARankThatLeavesAfterItsPartEndsNoWait) {
  on_every_rank([](Communicator& all) {
    std::vector<float> values = values_of<float>(all.position(), 5);
    all.wait(all.all_reduce(block_of(values), block_of(values), Reduction::sum));
    EXPECT_EQ(values, reduced_of<float>(all_of(all.size()), 5, Reduction::sum));
  });
}

INSTANTIATE_TEST_SUITE_P(Every, Failures,
                         testing::Combine(testing::ValuesIn(executions()),
                                          testing::Values(2, 3, 8)),
                         name_of_ranks);

}  // namespace
}  // namespace shardlab::test
