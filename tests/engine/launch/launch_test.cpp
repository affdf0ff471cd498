#include "engine/launch/launch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "engine/core/check.h"
#include "engine/dispatch/create.h"
#include "engine/dispatch/redistribute.h"
#include "engine/ops/reduce.h"
#include "tests/support/world.h"

namespace shardlab::test {
namespace {

double seconds_of(const std::function<void()>& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

World ranks(int n) {
  World world;
  world.mesh = "domain=" + std::to_string(n);
  return world;
}

TEST(Launch, RunsTheProgramOnceOnEveryRank) {
  for (const bool meta : {false, true}) {
    World world = ranks(3);
    world.meta = meta;
    std::array<std::atomic<int>, 3> runs{};
    run_on(world, [&](Worker& worker, int rank) {
      ++runs[static_cast<std::size_t>(rank)];
      EXPECT_EQ(worker.coordinates()[0], rank);
      EXPECT_EQ(worker.mesh().size(), 3);
    });
    for (const std::atomic<int>& count : runs) EXPECT_EQ(count, 1);
  }
}

// A gradient that is being reduced is waited for when its worker goes; a peer that never starts the
// call must not be waited for once this rank has failed.
TEST(Launch, ARankThatThrowsWithACallUnderWayEndsAtOnce) {
  std::string text;
  const double seconds = seconds_of([&] {
    World world;
    world.mesh = "a=2,b=2";
    text = error_of(world, [&](Worker& worker) {
      // Rank 2 waits for 3, that for 1, that for 0, which has started a call with rank 2.
      const int rank = worker.mesh().rank(worker.coordinates());
      if (rank == 3) return worker.communicator({0}).barrier();
      if (rank != 0) return worker.communicator({1}).barrier();
      Placed pieces;
      pieces.partial = {0};
      const Tensor later =
          move_later(make(worker, numbers({9}), pieces), worker.layouts().replicated(1));
      // Kept by the worker, as gradients are, and not by this call.
      worker.add_parameter(later);
      fail(Fault::external, "the disk is on fire");
    });
  });
  EXPECT_EQ(text, "external: rank 0: the disk is on fire");
  EXPECT_LT(seconds, 10);
}

TEST(Launch, ARankThatThrowsEndsThoseThatWaitForIt) {
  std::string text;
  std::atomic<int> ended = 0;
  const double seconds = seconds_of([&] {
    text = error_of(ranks(3), [&](Worker& worker) {
      const Tensor x = make(worker, numbers({9}), cut(0, {2, 3, 4}));
      if (worker.coordinates()[0] == 1) fail(Fault::external, "the disk is on fire");
      try {
        (void)gather(x);
      } catch (const Error&) {
        ++ended;
        throw;
      }
    });
  });
  EXPECT_EQ(text, "external: rank 1: the disk is on fire");
  EXPECT_EQ(ended, 2);
  EXPECT_LT(seconds, 10);
}

TEST(Launch, ARankThatThrowsInTheMiddleOfBackwardEndsTheOthers) {
  std::string text;
  const double seconds = seconds_of([&] {
    text = error_of(ranks(3), [&](Worker& worker) {
      const Tensor w = parameter_of(worker, "w", numbers({9}));
      for (int step = 0; step < 5; ++step) {
        (void)backward(mean(w));
        (void)whole_values(w.gradient());
        if (step == 2 && worker.coordinates()[0] == 2) fail(Fault::invalid, "step {}", step);
      }
    });
  });
  EXPECT_EQ(text, "invalid: rank 2: step 2");
  EXPECT_LT(seconds, 10);
}

TEST(Launch, ARankThatLeavesEarlyEndsThoseThatWaitForIt) {
  std::string text;
  const double seconds = seconds_of([&] {
    text = error_of(ranks(2), [&](Worker& worker) {
      if (worker.coordinates()[0] == 0) return;
      (void)gather(make(worker, numbers({4}), cut(0, {1, 3})));
    });
  });
  EXPECT_EQ(text.substr(0, 17), "external: rank 1:") << text;
  EXPECT_LT(seconds, 10);
}

TEST(Launch, AnExceptionThatIsNoErrorIsInternal) {
  EXPECT_EQ(error_of(ranks(2),
                     [](Worker& worker) {
                       if (worker.coordinates()[0] == 1) throw std::runtime_error("surprise");
                     }),
            "internal: rank 1: surprise");
}

TEST(Launch, SizesThatDifferAreRefusedOnEveryRankWithBoth) {
  const std::string text = error_of(ranks(2), [](Worker& worker) {
    Communicator& all = worker.communicator({0});
    std::vector<double> values(worker.coordinates()[0] == 0 ? 8 : 6);
    const Block block{values.data(), static_cast<std::int64_t>(values.size()), Dtype::float64};
    all.wait(all.all_reduce(block, block, Reduction::sum));
  });
  EXPECT_EQ(text.substr(0, 8), "invalid:") << text;
  EXPECT_NE(text.find('8'), std::string::npos) << text;
  EXPECT_NE(text.find('6'), std::string::npos) << text;
}

TEST(Launch, APartOfTheMeshCanBeTracedAlone) {
  World world = ranks(64);
  world.meta = true;
  int count = 0;
  run_on(world, [&](Worker& worker, int) {
    (void)gather(make(worker, numbers({64, 2}), cut(0, std::vector<std::int64_t>(64, 1))));
    ++count;
  });
  EXPECT_EQ(count, 64);
}

TEST(Launch, AWorkerThatLeavesTensorsBehindEndsWell) {
  run_on(ranks(3), [](Worker& worker, int) {
    const Tensor w = parameter_of(worker, "w", numbers({9}));
    (void)backward(mean(w));
    EXPECT_EQ(worker.parameters().size(), 1U);
  });
}

}  // namespace
}  // namespace shardlab::test
