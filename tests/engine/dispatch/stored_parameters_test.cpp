#include "engine/core/check.h"
#include "engine/dispatch/create.h"
#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/redistribute.h"
#include "engine/dispatch/tape.h"
#include "engine/ops/linear.h"
#include "engine/ops/reduce.h"
#include "tests/support/world.h"

namespace shardlab::test {
namespace {

World on(const std::string& mesh) {
  World world;
  world.mesh = mesh;
  return world;
}

Placed evenly(int dim, const AxisList& axes, std::int64_t extent, std::int64_t parts) {
  const auto count = static_cast<std::size_t>(parts);
  return {{{dim, axes, std::vector<std::int64_t>(count, extent / parts)}}, {}, Reduction::sum};
}

/// What one rank's step of sum(x w^T) did.
struct Step1 {
  std::int64_t received = 0;
  std::string calls;  ///< Collectives in order, with their axes.
  std::int64_t gradient_bytes = 0;
  Values gradient;
};

/// x [4, 6] and w [rows, 6]; `again` applies a square w once more.
std::vector<Step1> step_of(const World& world, std::int64_t rows, const Placed& samples,
                           const Placed& stored, bool again = false) {
  return on_ranks<Step1>(world, [&](Worker& worker) {
    const Tensor x = make(worker, numbers({4, 6}, 1), samples, true);
    const Tensor w = parameter_of(worker, "w", numbers({rows, 6}, 2), stored);
    worker.trace().keep(true);
    worker.trace().clear();
    const Tensor y = linear(x, w);
    (void)backward(sum(again ? linear(y, w) : y));
    (void)ready_view(w.gradient());
    Step1 step;
    step.received = worker.trace().totals().bytes_received;
    for (const Step& each : worker.trace().steps())
      if (each.kind == Step::Kind::start)
        step.calls += fmt::format("{}({}) ", each.op, names_of(worker.mesh(), each.axes));
    worker.trace().keep(false);
    EXPECT_EQ(w.gradient().layout(), w.layout());
    EXPECT_EQ(w.gradient().state().buffer->category(), Category::gradient);
    step.gradient_bytes = w.gradient().state().buffer->bytes();
    step.gradient = whole_values(w.gradient());
    return step;
  });
}

TEST(StoredParameters, AreGatheredForEachUseAndTheirGradientReduceScattered) {
  const Values expected = step_of({}, 96, {}, {})[0].gradient;
  for (const std::int64_t n : {2, 3, 4}) {
    const World world = on(fmt::format("domain={}", n));
    const std::vector<std::int64_t> rows =
        n == 3 ? std::vector<std::int64_t>{2, 1, 1}
               : std::vector<std::int64_t>(static_cast<std::size_t>(n), 4 / n);
    for (const Step1& step : step_of(world, 96, cut(0, rows), evenly(0, {0}, 96, n))) {
      // w has 96 * 6 * 8 = 4608 bytes. A gather brings the (N - 1) / N that a rank has not, once
      // for x w^T and once for g w; the reduction brings N - 1 times the part of 1 / N.
      EXPECT_EQ(step.received, 3 * (n - 1) * 4608 / n);
      EXPECT_EQ(step.calls, "all_gather(domain) all_gather(domain) reduce_scatter(domain) ");
      EXPECT_EQ(step.gradient_bytes, 4608 / n);
      EXPECT_TRUE(close(step.gradient, expected, 1e-14));
    }
    // Kept whole, its gradient is all-reduced: twice (N - 1) / N.
    for (const Step1& step : step_of(world, 96, cut(0, rows), {})) {
      EXPECT_EQ(step.received, 2 * (n - 1) * 4608 / n);
      EXPECT_EQ(step.calls, "all_reduce(domain) ");
      EXPECT_EQ(step.gradient_bytes, 4608);
    }
  }
}

TEST(StoredParameters, OfUnevenAndEmptyPartsReceiveTheOthersParts) {
  const std::vector<Step1> steps = step_of(on("domain=3"), 7, cut(0, {1, 0, 3}), cut(0, {4, 0, 3}));
  // Of 336 bytes ranks keep 192, 0 and 144. Two gathers bring the rest each; the reduction brings
  // two peers' shares of what is kept: 2 * 144 + 2 * 192, 2 * 336 + 0, 2 * 192 + 2 * 144.
  for (const Step1& step : steps) EXPECT_EQ(step.received, 672);
  EXPECT_EQ(steps[0].gradient_bytes, 192);
  EXPECT_EQ(steps[1].gradient_bytes, 0);
  EXPECT_EQ(steps[2].gradient_bytes, 144);
  EXPECT_TRUE(close(steps[0].gradient, step_of({}, 7, {}, {})[0].gradient, 1e-14));
}

TEST(StoredParameters, UsedTwiceAreGatheredForEachUseAndReducedOnce) {
  const Values expected = step_of({}, 6, {}, {}, true)[0].gradient;
  for (const Step1& step : step_of(on("domain=2"), 6, cut(0, {1, 3}), evenly(0, {0}, 6, 2), true)) {
    // 288 bytes: half of them for each of 2 + 2 gathers and for the one reduction.
    EXPECT_EQ(step.received, 5 * 144);
    EXPECT_EQ(step.calls,
              "all_gather(domain) all_gather(domain) all_gather(domain) all_gather(domain) "
              "reduce_scatter(domain) ");
    EXPECT_TRUE(close(step.gradient, expected, 1e-14));
  }
}

TEST(StoredParameters, CutAlongAnAxisThatTheGradientIsWholeOnKeepJustTheirPart) {
  // The gradient of w is the same on all ranks: each keeps its 192 of 384 bytes.
  for (const Step1& step : step_of(on("domain=2"), 8, {}, evenly(0, {0}, 8, 2))) {
    EXPECT_EQ(step.calls, "all_gather(domain) all_gather(domain) ");
    EXPECT_EQ(step.gradient_bytes, 192);
  }
  const Values expected = step_of({}, 8, {}, {})[0].gradient;
  const Placed samples = evenly(0, {0}, 4, 2);
  for (const Step1& step : step_of(on("data=2,domain=2"), 8, samples, evenly(0, {1, 0}, 8, 4))) {
    // It is pending along data alone: of its half along domain each rank gets its 96 bytes from
    // one peer. The gathers bring 288 of 384 bytes each.
    EXPECT_EQ(step.calls, "all_gather(domain+data) all_gather(domain+data) reduce_scatter(data) ");
    EXPECT_EQ(step.received, 2 * 288 + 96);
    EXPECT_EQ(step.gradient_bytes, 96);
    EXPECT_TRUE(close(step.gradient, expected, 1e-14));
  }
  for (const Step1& step : step_of(on("data=2,domain=2"), 8, samples, evenly(0, {0, 1}, 8, 4))) {
    // Cut along data first, parts of a rank are no run of what it has: it is reduced whole.
    EXPECT_EQ(step.calls, "all_gather(data+domain) all_gather(data+domain) all_reduce(data) ");
    EXPECT_EQ(step.gradient_bytes, 96);
    EXPECT_TRUE(close(step.gradient, expected, 1e-14));
  }
}

TEST(StoredParameters, ReductionsUnderWayHoldAtMostTwoWholeGradients) {
  for (const bool meta : {false, true}) {
    World world = on("domain=2");
    world.meta = meta;
    run_on(world, [](Worker& worker, int) {
      std::vector<Tensor> layers;
      for (int i = 0; i < 8; ++i)
        layers.push_back(parameter_of(worker, fmt::format("w{}", i), numbers({16, 16}, i),
                                      evenly(0, {0}, 16, 2)));
      const Ledger& ledger = worker.backend().ledger();
      const std::int64_t before = ledger.live(Category::activation);
      {
        Tensor y = make(worker, numbers({2, 16}, 9), cut(0, {1, 1}));
        for (const Tensor& w : layers) y = linear(y, w);
        (void)backward(sum(y));
      }
      // Whole gradients of 16 * 16 * 8 = 2048 bytes; the parts that ranks keep count elsewhere.
      EXPECT_EQ(ledger.live(Category::activation) - before, 2 * 2048);
      EXPECT_EQ(ledger.live(Category::gradient), 8 * 1024);
      for (const Tensor& w : layers) (void)ready_view(w.gradient());
      EXPECT_EQ(ledger.live(Category::activation), before);
    });
  }
}

}  // namespace
}  // namespace shardlab::test
