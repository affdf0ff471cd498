#include "tests/engine/comm/ranks.h"

namespace shardlab::test {
namespace {

class Exchanges : public OnRanks {};

Message to(int peer, std::vector<float>& values) { return {peer, block_of(values)}; }

TEST_P(Exchanges, F01_EveryRankSendsToTheNextAndReceivesFromThePrevious) {
  on_line([](Communicator& all) {
    const int size = all.size();
    const int me = all.position();
    for (const std::vector<std::int64_t>& counts : kinds_of_counts(size)) {
      // Blocks travel once around, each with its own length; empty ones too.
      std::vector<float> block = values_of<float>(me, counts[me]);
      for (int step = 1; step <= size; ++step) {
        const int owner = (me + size - step % size) % size;
        std::vector<float> next(counts[owner]);
        const Message send = to((me + 1) % size, block);
        const Message receive = to((me + size - 1) % size, next);
        all.wait(all.exchange({&send, 1}, {&receive, 1}));
        EXPECT_EQ(next, values_of<float>(owner, counts[owner])) << "step " << step;
        block = std::move(next);
      }
    }
  });
}

TEST_P(Exchanges, F01_BothNeighboursMayBeTheSameRank) {
  on_line([](Communicator& all) {
    const int before = (all.position() + all.size() - 1) % all.size();
    const int after = (all.position() + 1) % all.size();
    std::vector<float> low = values_of<float>(all.position(), 5);
    std::vector<float> high = values_of<float>(all.position(), 9, 100);
    std::vector<float> from_before(9);
    std::vector<float> from_after(5);
    // On one and two ranks both messages go to one peer: they match in the order posted.
    const std::vector<Message> sends = {to(before, low), to(after, high)};
    const std::vector<Message> receives = {to(after, from_after), to(before, from_before)};
    all.wait(all.exchange(sends, receives));
    EXPECT_EQ(from_after, values_of<float>(after, 5));
    EXPECT_EQ(from_before, values_of<float>(before, 9, 100));
  });
}

TEST_P(Exchanges, MessagesBetweenTwoRanksMatchInTheOrderPosted) {
  on_line([](Communicator& all) {
    constexpr int messages = 12;
    std::vector<std::vector<float>> given;
    std::vector<std::vector<float>> taken;
    for (int m = 0; m < messages; ++m)
      for (int p = 0; p < all.size(); ++p) {
        given.push_back(values_of<float>(all.position(), m % 3, 10 * m + p));
        taken.emplace_back(m % 3);
      }
    std::vector<Message> sends;
    std::vector<Message> receives;
    for (int i = 0; i < messages * all.size(); ++i) {
      sends.push_back(to(i % all.size(), given[i]));
      receives.push_back(to(i % all.size(), taken[i]));
    }
    // The order of different peers is free.
    std::stable_sort(receives.begin(), receives.end(),
                     [](const Message& a, const Message& b) { return a.peer > b.peer; });
    all.wait(all.exchange(sends, receives));
    for (int i = 0; i < messages * all.size(); ++i) {
      const int m = i / all.size();
      EXPECT_EQ(taken[i], values_of<float>(i % all.size(), m % 3, 10 * m + all.position()));
    }
  });
}

TEST_P(Exchanges, F04_AsymmetricMessagesEndOnTheRanksThatHaveThem) {
  on_line([](Communicator& all) {
    // Rank 0 sends a piece to every other rank and receives none.
    std::vector<std::vector<float>> pieces;
    std::vector<Message> sends;
    std::vector<Message> receives;
    std::vector<float> piece(all.position());
    if (all.position() == 0)
      for (int p = 1; p < all.size(); ++p) pieces.push_back(values_of<float>(p, p));
    for (int p = 1; p <= static_cast<int>(pieces.size()); ++p)
      sends.push_back(to(p, pieces[p - 1]));
    if (all.position() != 0) receives.push_back(to(0, piece));
    all.wait(all.exchange(sends, receives));
    if (all.position() == 0) return;
    EXPECT_EQ(piece, values_of<float>(all.position(), all.position()));
  });
}

TEST_P(Exchanges, StepsOfARingArePendingWhileOthersAreStarted) {
  on_line([](Communicator& all) {
    const int before = (all.position() + all.size() - 1) % all.size();
    constexpr int steps = 20;
    std::vector<std::vector<float>> given;
    std::vector<std::vector<float>> taken(steps, std::vector<float>(64));
    std::vector<Pending> pending;
    for (int s = 0; s < steps; ++s) given.push_back(values_of<float>(all.position(), 64, s));
    for (int s = 0; s < steps; ++s) {
      const Message send = to((all.position() + 1) % all.size(), given[s]);
      const Message receive = to(before, taken[s]);
      pending.push_back(all.exchange({&send, 1}, {&receive, 1}));
    }
    for (int s = steps - 1; s >= 0; --s) {
      all.wait(pending[s]);
      EXPECT_EQ(taken[s], values_of<float>(before, 64, s));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Every, Exchanges,
                         testing::Combine(testing::ValuesIn(executions()),
                                          testing::Values(1, 2, 3, 4, 8)),
                         name_of_ranks);

}  // namespace
}  // namespace shardlab::test
