#include "engine/core/answers.h"

#include "engine/dispatch/create.h"
#include "engine/dispatch/intrinsic.h"
#include "engine/dispatch/redistribute.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/linear.h"
#include "engine/ops/random.h"
#include "engine/ops/reduce.h"
#include "engine/ops/reshape.h"
#include "tests/support/world.h"

namespace shardlab::test {
namespace {

using Program = std::function<void(Worker&)>;

struct Traced {
  std::string text;
  std::vector<int> alike;  ///< For every rank of the mesh: would it get equal answers?
};

std::vector<Traced> trace_all(const std::string& mesh, const Program& program) {
  World world;
  world.mesh = mesh;
  world.meta = true;
  return on_ranks<Traced>(world, [&](Worker& worker) {
    worker.trace().keep(true);
    program(worker);
    Traced traced;
    traced.text = to_text(worker.trace());
    for (int rank = 0; rank < worker.mesh().size(); ++rank)
      traced.alike.push_back(worker.answers().same_for(worker.mesh().coordinates(rank)) ? 1 : 0);
    return traced;
  });
}

struct Pairs {
  int alike = 0;     ///< Pairs of ranks that the log calls alike.
  int unlogged = 0;  ///< Those among them whose traces differ.
};

Pairs compare(const std::vector<Traced>& ranks) {
  Pairs pairs;
  for (std::size_t a = 0; a < ranks.size(); ++a)
    for (std::size_t b = 0; b < ranks.size(); ++b) {
      if (a == b || ranks[a].alike[b] == 0) continue;
      ++pairs.alike;
      if (ranks[a].text != ranks[b].text) ++pairs.unlogged;
    }
  return pairs;
}

/// One of everything: moves of all kinds, views, reductions, gradients, FSDP parameters.
void everything(Worker& worker, const Placed& rows, const Placed& columns, const Placed& stored) {
  const Tensor x = make(worker, numbers({12, 8}, 1), rows, true);
  const Tensor w = parameter_of(worker, "w", numbers({8, 8}, 2), stored, {});
  const Tensor noise = random_normal(worker, {{12, 8}, worker.dtype(), x.layout()}, 1);
  const Tensor hidden = gelu(add(linear(x, w), noise));
  const Tensor turned = redistribute(hidden, layout_of(worker, 2, columns));
  const Tensor back = redistribute(turned, layout_of(worker, 2, rows));
  const Tensor cut_out = slice(back, {0, 2, 11, 1});
  const Tensor split = reshape(hidden, Shape{12, 2, 4});
  (void)gather(split);
  (void)gather(sum(hidden, {{0}, true}));
  const Tensor total = mean(multiply(cut_out, cut_out));
  (void)backward(total);
  (void)redistribute(w.gradient(), worker.layouts().replicated(2));
}

TEST(Answers, EqualLogsMeanEqualTracesOverEvenRaggedAndEmptyParts) {
  const std::vector<std::vector<std::int64_t>> rows{{3, 3, 3, 3}, {4, 4, 2, 2}, {2, 4, 2, 4},
                                                    {6, 0, 6, 0}, {1, 2, 4, 5}, {12, 0, 0, 0}};
  const std::vector<std::vector<std::int64_t>> columns{
      {2, 2, 2, 2}, {3, 1, 3, 1}, {0, 4, 0, 4}, {1, 2, 3, 2}, {8, 0, 0, 0}};
  int alike = 0;
  for (const auto& r : rows)
    for (const auto& c : columns) {
      const Pairs pairs = compare(trace_all("domain=4", [&](Worker& worker) {
        everything(worker, cut(0, r), cut(1, c), cut(0, c));
      }));
      alike += pairs.alike;
      EXPECT_EQ(pairs.unlogged, 0)
          << r[0] << r[1] << r[2] << r[3] << " " << c[0] << c[1] << c[2] << c[3];
    }
  EXPECT_GT(alike, 12);
}

TEST(Answers, EqualLogsMeanEqualTracesOnTwoAxes) {
  const auto two = [](int dim, const AxisList& axes, std::vector<std::int64_t> sizes) {
    return Placed{{{dim, axes, std::move(sizes)}}, {}, Reduction::sum};
  };
  int alike = 0;
  for (const Placed& rows : {two(0, {0}, {6, 6}), two(0, {1}, {5, 7}), two(0, {0, 1}, {3, 3, 3, 3}),
                             two(0, {1, 0}, {2, 4, 2, 4}), two(0, {0, 1}, {0, 6, 6, 0})})
    for (const Placed& columns :
         {two(1, {1}, {4, 4}), two(1, {0}, {3, 5}), two(1, {1, 0}, {1, 3, 1, 3})}) {
      const Pairs pairs = compare(trace_all(
          "data=2,domain=2", [&](Worker& worker) { everything(worker, rows, columns, {}); }));
      alike += pairs.alike;
      EXPECT_EQ(pairs.unlogged, 0) << to_string(rows) << " / " << to_string(columns);
    }
  EXPECT_GE(alike, 8);
}

TEST(Answers, EvenPartsAskNothingSoThatAllRanksFoldIntoOne) {
  const std::vector<Traced> ranks = trace_all("domain=8", [](Worker& worker) {
    const Tensor x =
        make(worker, numbers({16, 8}, 1), cut(0, std::vector<std::int64_t>(8, 2)), true);
    const Tensor w = parameter_of(worker, "w", numbers({8, 8}, 2));
    (void)backward(mean(gelu(linear(x, w))));
    EXPECT_EQ(worker.answers().size(), 0U);
  });
  EXPECT_EQ(compare(ranks).alike, 56);
  EXPECT_EQ(compare(ranks).unlogged, 0);
}

TEST(Answers, MakingAnUnevenTensorAsksForItsExtent) {
  const Pairs pairs = compare(trace_all("domain=3", [](Worker& worker) {
    (void)full(worker, {{7}, worker.dtype(), layout_of(worker, 1, cut(0, {3, 3, 1}))}, 0);
  }));
  EXPECT_EQ(pairs.alike, 2);
  EXPECT_EQ(pairs.unlogged, 0);
}

TEST(Answers, APlantedAnswerThatIsNotLoggedIsCaught) {
  const Pairs pairs = compare(trace_all("domain=4", [](Worker& worker) {
    const Tensor x = make(worker, numbers({16}), cut(0, {4, 4, 4, 4}));
    // Reads its place without asking: what no scenario may do.
    if (worker.coordinates()[0] == 2) (void)exp(x);
  }));
  EXPECT_EQ(pairs.alike, 12);
  EXPECT_EQ(pairs.unlogged, 6);
}

}  // namespace
}  // namespace shardlab::test
