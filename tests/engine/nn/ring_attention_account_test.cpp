#include "engine/core/check.h"
#include "engine/nn/ring_attention.h"
#include "tests/engine/nn/attention_case.h"

namespace shardlab::test {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr std::int64_t batch = 2;
constexpr std::int64_t heads = 2;
constexpr std::int64_t width = 4;
constexpr std::int64_t value_width = 6;

/// Bytes of keys and values of so many tokens in float64.
std::int64_t pair_bytes(std::int64_t tokens) {
  return batch * heads * (width + value_width) * 8 * tokens;
}

Heads heads_for(const Sizes& tokens) {
  HeadExtents extents{batch, 0, 0, heads, width, value_width};
  for (const std::int64_t size : tokens) extents.queries = extents.keys += size;
  return heads_of(extents);
}

OpCase without_gradient(OpCase op_case) {
  op_case.has_gradient = false;
  return op_case;
}

World meta() {
  World world;
  world.meta = true;
  return world;
}

const std::vector<Sizes> many_sizes{{4, 4},    {3, 5},       {3, 3, 3},    {2, 3, 4, 5},
                                    {0, 5, 0}, {2, 2, 2, 2}, {1, 0, 1, 1}, {0, 0, 0}};

TEST(RingAttentionAccount, MetaCountsWhatRealRanksDo) {
  for (const Sizes& tokens : many_sizes) {
    const OpCase op_case = attention_case(heads_for(tokens));
    const Arrangement arrangement = on_line(tokens, tokens);
    SCOPED_TRACE(to_string(arrangement));
    const std::vector<OpAccount> real = account(op_case, arrangement, World{});
    const std::vector<OpAccount> traced = account(op_case, arrangement, meta());
    std::int64_t received = 0;
    std::int64_t copied = 0;
    for (std::size_t r = 0; r < real.size(); ++r) {
      EXPECT_EQ(traced[r].trace, real[r].trace) << "rank " << r;
      EXPECT_EQ(traced[r].bytes, real[r].bytes) << "rank " << r;
      EXPECT_EQ(traced[r].totals.flop, real[r].totals.flop);
      EXPECT_EQ(traced[r].totals.bytes_received, real[r].totals.bytes_received);
      EXPECT_EQ(real[r].allocated_live, traced[r].bytes[0]) << "rank " << r;
      EXPECT_EQ(real[r].allocated_peak, traced[r].bytes[1]) << "rank " << r;
      received += real[r].totals.bytes_received;
      copied += real[r].copied_bytes;
    }
    EXPECT_EQ(copied, received);
  }
}

TEST(RingAttentionAccount, MetaCountsWhatRealRanksDoOnTwoAxes) {
  const Heads operands = heads_for({2, 3, 4, 5});
  const Placed both{{{1, {1, 0}, {2, 3, 4, 5}}}, {}, Reduction::sum};
  const Placed square{{{0, {0}, {2, 0}}, {1, {1}, {9, 5}}}, {}, Reduction::sum};
  for (const Placed& placed : {both, square}) {
    const Arrangement arrangement{"data=2,domain=2", {placed, placed, placed}};
    const std::vector<OpAccount> real = account(attention_case(operands), arrangement, World{});
    const std::vector<OpAccount> traced = account(attention_case(operands), arrangement, meta());
    for (std::size_t r = 0; r < real.size(); ++r) {
      EXPECT_EQ(traced[r].trace, real[r].trace) << "rank " << r;
      EXPECT_EQ(traced[r].bytes, real[r].bytes) << "rank " << r;
      EXPECT_EQ(real[r].allocated_peak, traced[r].bytes[1]) << "rank " << r;
    }
  }
}

TEST(RingAttentionAccount, ARankReceivesTheForeignBlocksOnceAndInTheGradientTwiceMore) {
  for (const Sizes& tokens : many_sizes) {
    const OpCase both = attention_case(heads_for(tokens));
    const Arrangement arrangement = on_line(tokens, tokens);
    SCOPED_TRACE(to_string(arrangement));
    const std::vector<OpAccount> forward = account(without_gradient(both), arrangement, meta());
    const std::vector<OpAccount> whole = account(both, arrangement, meta());
    const auto ranks = static_cast<std::int64_t>(tokens.size());
    std::int64_t all = 0;
    for (const std::int64_t size : tokens) all += size;
    for (std::size_t r = 0; r < tokens.size(); ++r) {
      const std::int64_t foreign = pair_bytes(all - tokens[r]);
      EXPECT_EQ(forward[r].totals.collectives, ranks - 1);
      EXPECT_EQ(forward[r].totals.bytes_received, foreign);
      // Keys and values again, and their gradients around the whole ring back to their owner.
      EXPECT_EQ(whole[r].totals.collectives, (ranks - 1) + (ranks - 1) + ranks);
      EXPECT_EQ(whole[r].totals.bytes_received, foreign + foreign + pair_bytes(all));
    }
  }
}

TEST(RingAttentionAccount, TheFlopOfAllRanksAreThoseOfDenseAttention) {
  for (const Sizes& tokens : many_sizes) {
    std::int64_t all = 0;
    for (const std::int64_t size : tokens) all += size;
    for (std::size_t r = 0; r < tokens.size(); ++r) {
      const std::vector<OpAccount> found = account(
          without_gradient(attention_case(heads_for(tokens))), on_line(tokens, tokens), meta());
      const std::int64_t attended = 2 * batch * heads * tokens[r] * all * (width + value_width);
      const auto merges = static_cast<std::int64_t>(tokens.size()) - 1;
      const std::int64_t merged = merges * 3 * batch * heads * tokens[r] * value_width;
      EXPECT_EQ(found[r].totals.flop, attended + merged);
    }
  }
}

/// Exchanges and attentions of rank 0 in program order.
std::vector<std::string> order_of(const World& world, bool with_gradients) {
  std::vector<std::vector<std::string>> ranks = on_ranks<
      std::vector<std::string>>(world, [&](Worker& worker) {
    const Sizes tokens{2, 3, 4};
    const Heads operands = heads_for(tokens);
    const Tensor q = make(worker, operands.q, cut(1, tokens), true);
    const Tensor k = make(worker, operands.k, cut(1, tokens), true);
    const Tensor v = make(worker, operands.v, cut(1, tokens), true);
    const Tensor seed = make(worker, seed_of({batch, 9, heads, value_width}, 0), cut(1, tokens));
    worker.trace().keep(true);
    const std::size_t before_forward = worker.trace().steps().size();
    const Tensor y = nn::ring_attention(q, k, v, 1).output;
    const std::size_t before_gradient = worker.trace().steps().size();
    if (with_gradients) {
      const std::vector<Tensor> wrt{q, k, v};
      (void)gradients(std::span(&y, 1), wrt, std::span(&seed, 1));
    }
    std::vector<std::string> order;
    const std::span<const Step> steps(worker.trace().steps());
    for (const Step& step : steps.subspan(with_gradients ? before_gradient : before_forward)) {
      const std::string name = step.op;
      if (step.kind == Step::Kind::start || step.kind == Step::Kind::wait)
        order.push_back(
            fmt::format("{} {}", step.kind == Step::Kind::start ? "start" : "wait", step.sequence));
      else if (name == "attention" || name == "attention_gradient")
        order.push_back(name);
    }
    return order;
  });
  for (const std::vector<std::string>& order : ranks) EXPECT_EQ(order, ranks[0]);
  return ranks[0];
}

TEST(RingAttentionAccount, ABlockIsOnItsWayBeforeTheOneAtHandIsComputed) {
  for (const bool no_values : {false, true}) {
    World world;
    world.mesh = "domain=3";
    world.meta = no_values;
    EXPECT_EQ(order_of(world, false),
              (std::vector<std::string>{"start 1", "attention", "wait 1", "start 2", "attention",
                                        "wait 2", "attention"}));
    // 3, 5: keys and values; 4, 6, 7: what was found for them, a block behind.
    EXPECT_EQ(
        order_of(world, true),
        (std::vector<std::string>{"start 3", "attention_gradient", "start 4", "wait 3", "start 5",
                                  "attention_gradient", "wait 4", "start 6", "wait 5",
                                  "attention_gradient", "wait 6", "start 7", "wait 7"}));
  }
}

/// Engine bytes at the peak of a pass over `ranks` blocks of 64 tokens.
struct Peak {
  std::int64_t all = 0;
  std::int64_t communication = 0;
};

Peak peak_of(int ranks, bool with_gradients) {
  World world = meta();
  world.mesh = fmt::format("domain={}", ranks);
  return on_ranks<Peak>(world, [&](Worker& worker) {
    const Sizes tokens(static_cast<std::size_t>(ranks), 64);
    const Heads operands = heads_for(tokens);
    const Tensor q = make(worker, operands.q, cut(1, tokens), true);
    const Tensor k = make(worker, operands.k, cut(1, tokens), true);
    const Tensor v = make(worker, operands.v, cut(1, tokens), true);
    const Tensor seed =
        make(worker, zeros({batch, 64 * ranks, heads, value_width}), cut(1, tokens));
    Ledger& ledger = worker.backend().ledger();
    if (!with_gradients) ledger.reset_peak();
    const Tensor y = nn::ring_attention(q, k, v, 1).output;
    if (with_gradients) {
      ledger.reset_peak();
      const std::vector<Tensor> wrt{q, k, v};
      (void)gradients(std::span(&y, 1), wrt, std::span(&seed, 1));
    }
    return Peak{ledger.peak(), ledger.at_peak(Category::communication)};
  })[0];
}

TEST(RingAttentionAccount, BuffersDoNotGrowWithTheNumberOfRanks) {
  const std::int64_t pair = pair_bytes(64);
  for (const bool with_gradients : {false, true}) {
    const Peak three = peak_of(3, with_gradients);
    for (const int ranks : {4, 5, 8}) {
      const Peak more = peak_of(ranks, with_gradients);
      EXPECT_EQ(more.all, three.all) << ranks;
      EXPECT_EQ(more.communication, three.communication) << ranks;
    }
    // A pair that is read and one that comes in; in the gradient also one of gradients.
    EXPECT_EQ(three.communication, with_gradients ? 3 * pair : 2 * pair);
  }
}

TEST(RingAttentionAccount, TheLogTellsRanksApartByTheOrderOfAxes) {
  // Under the first order ranks 0 and 3 see equal rings, under the second only their own parts are
  // equal.
  World world = meta();
  world.mesh = "data=2,domain=3";
  const Sizes tokens{1, 1, 2, 1, 1, 2};
  const Heads operands = heads_for(tokens);
  run_on(world, [&](Worker& worker, int rank) {
    if (rank != 0) return;
    const auto ring = [&](const AxisList& axes) {
      const Placed placed{{{1, axes, tokens}}, {}, Reduction::sum};
      const Tensor x = make(worker, operands.k, placed);
      (void)nn::ring_attention(x, x, x, 1);
    };
    const Coordinates other = worker.mesh().coordinates(3);
    ring({0, 1});
    EXPECT_TRUE(worker.answers().same_for(other));
    ring({1, 0});
    EXPECT_FALSE(worker.answers().same_for(other));
  });
}

}  // namespace
}  // namespace shardlab::test
