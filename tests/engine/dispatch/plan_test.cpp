#include "engine/dispatch/plan.h"

#include "engine/dispatch/intrinsic.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/linear.h"
#include "engine/ops/matmul.h"
#include "tests/support/world.h"

namespace shardlab::test {
namespace {

struct Given {
  Shape shape;
  Placed placed;
  bool parameter = false;
};

/// The layouts that a call reads its operands in, then that of output 0.
std::vector<std::string> plan_of(const std::string& mesh, const Op& op,
                                 const std::vector<Given>& given) {
  World world;
  world.mesh = mesh;
  world.meta = true;
  return on_ranks<std::vector<std::string>>(world, [&](Worker& worker) {
    std::vector<Spec> specs;
    for (const Given& each : given)
      specs.push_back(
          {each.shape, Dtype::float32, layout_of(worker, each.shape.ndim(), each.placed)});
    std::vector<Operand> operands;
    std::vector<const Spec*> seen;
    for (std::size_t i = 0; i < given.size(); ++i) {
      operands.push_back({&specs[i], given[i].parameter});
      seen.push_back(&specs[i]);
    }
    std::vector<Spec> outputs(1);
    op.infer(seen, outputs);
    const Plan plan = choose_plan(op, operands, outputs, worker.layouts());
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < given.size(); ++i)
      texts.push_back(to_string(*plan.inputs[i], given[i].shape));
    texts.push_back(to_string(*plan.outputs[0], outputs[0].shape));
    return texts;
  })[0];
}

using Texts = std::vector<std::string>;
const Placed pending{{}, {0}, Reduction::sum};

TEST(Plan, ARuleThatMovesNothingWins) {
  const Linear linear(false);
  EXPECT_EQ(plan_of("d=2", linear, {{{8, 4}, cut(0, {3, 5})}, {{6, 4}, {}}}),
            (Texts{"[8(d: 3,5), 4]", "[6, 4]", "[8(d: 3,5), 6]"}));
  EXPECT_EQ(plan_of("d=2", linear, {{{8, 4}, {}}, {{6, 4}, cut(0, {1, 5})}}),
            (Texts{"[8, 4]", "[6(d: 1,5), 4]", "[8, 6(d: 1,5)]"}));
}

TEST(Plan, NothingIsCutThatNoOperandCuts) {
  EXPECT_EQ(plan_of("d=2", Linear(false), {{{8, 4}, {}}, {{6, 4}, {}}}),
            (Texts{"[8, 4]", "[6, 4]", "[8, 6]"}));
}

TEST(Plan, AContractedDimCutInBothGivesPendingPieces) {
  EXPECT_EQ(plan_of("d=2", Matmul(), {{{8, 4}, cut(1, {1, 3})}, {{4, 6}, cut(0, {1, 3})}}),
            (Texts{"[8, 4(d: 1,3)]", "[4(d: 1,3), 6]", "[8, 6] partial sum(d)"}));
}

TEST(Plan, AContractedDimCutInOneCutsTheOtherForNothing) {
  EXPECT_EQ(plan_of("d=2", Matmul(), {{{8, 4}, cut(1, {1, 3})}, {{4, 6}, {}}}),
            (Texts{"[8, 4(d: 1,3)]", "[4(d: 1,3), 6]", "[8, 6] partial sum(d)"}));
}

TEST(Plan, AParameterIsNeverMoved) {
  // Moving the small weight would be cheaper by far, but it is a parameter.
  EXPECT_EQ(plan_of("d=2", Linear(false),
                    {{{800, 4}, cut(0, {400, 400})}, {{6, 4}, cut(0, {3, 3}), true}}),
            (Texts{"[800, 4]", "[6(d: 2x3), 4]", "[800, 6(d: 2x3)]"}));
  EXPECT_EQ(
      plan_of("d=2", Linear(false), {{{800, 4}, cut(0, {400, 400})}, {{6, 4}, cut(0, {3, 3})}}),
      (Texts{"[800(d: 2x400), 4]", "[6, 4]", "[800(d: 2x400), 6]"}));
}

TEST(Plan, ElseTheFewestBytesMove) {
  // Rows of the large operand stay; the small one, cut elsewhere, moves.
  EXPECT_EQ(plan_of("d=2", Binary(Binary::Kind::multiply),
                    {{{8, 100}, cut(0, {4, 4})}, {{100}, cut(0, {50, 50})}}),
            (Texts{"[8(d: 2x4), 100]", "[100]", "[8(d: 2x4), 100]"}));
}

TEST(Plan, OperandsCutDifferentlyFollowTheLarger) {
  EXPECT_EQ(plan_of("d=2", Binary(Binary::Kind::multiply),
                    {{{8, 1}, cut(0, {3, 5})}, {{8, 9}, cut(0, {5, 3})}}),
            (Texts{"[8(d: 5,3), 1]", "[8(d: 5,3), 9]", "[8(d: 5,3), 9]"}));
}

TEST(Plan, PendingSumsPassThroughAddAndAreReducedForAProduct) {
  EXPECT_EQ(plan_of("d=2", Add(), {{{4}, pending}, {{4}, pending}}),
            (Texts{"[4] partial sum(d)", "[4] partial sum(d)", "[4] partial sum(d)"}));
  EXPECT_EQ(plan_of("d=2", Add(), {{{4}, pending}, {{4}, {}}}),
            (Texts{"[4] partial sum(d)", "[4] partial sum(d)", "[4] partial sum(d)"}));
  EXPECT_EQ(plan_of("d=2", Binary(Binary::Kind::multiply), {{{4}, pending}, {{4}, {}}}),
            (Texts{"[4]", "[4]", "[4]"}));
}

TEST(Plan, APendingSumMeetsACutOperandByReduceScatter) {
  EXPECT_EQ(plan_of("d=2", Add(), {{{4}, pending}, {{4}, cut(0, {1, 3})}}),
            (Texts{"[4(d: 1,3)]", "[4(d: 1,3)]", "[4(d: 1,3)]"}));
}

TEST(Plan, APendingMaximumDoesNotPassThroughAdd) {
  const Placed maximum{{}, {0}, Reduction::max};
  EXPECT_EQ(plan_of("d=2", Add(), {{{4}, maximum}, {{4}, {}}}), (Texts{"[4]", "[4]", "[4]"}));
  EXPECT_EQ(plan_of("d=2", Slice({0, 0, 2, 1}), {{{4}, maximum}}),
            (Texts{"[4] partial max(d)", "[2] partial max(d)"}));
}

TEST(Plan, TheSumOverACutDimCannotCarryItsBiasTwice) {
  // With a bias the contracted dim must be whole.
  EXPECT_EQ(
      plan_of("d=2", Linear(true), {{{8, 4}, cut(1, {2, 2})}, {{6, 4}, cut(1, {2, 2})}, {{6}, {}}}),
      (Texts{"[8, 4]", "[6, 4]", "[6]", "[8, 6]"}));
}

TEST(Plan, EachAxisChoosesForItself) {
  const Placed rows_and_columns{{{0, {0}, {3, 5}}}, {}, Reduction::sum};
  const Placed outputs{{{0, {1}, {2, 4}}}, {}, Reduction::sum};
  EXPECT_EQ(plan_of("a=2,b=2", Linear(false), {{{8, 4}, rows_and_columns}, {{6, 4}, outputs}}),
            (Texts{"[8(a: 3,5), 4]", "[6(b: 2,4), 4]", "[8(a: 3,5), 6(b: 2,4)]"}));
}

TEST(Plan, TwoAxesOnOneDimKeepTheirOrder) {
  const Placed nested{{{0, {1, 0}, {1, 2, 3, 2}}}, {}, Reduction::sum};
  EXPECT_EQ(plan_of("a=2,b=2", Linear(false), {{{8, 4}, nested}, {{6, 4}, {}}}),
            (Texts{"[8(b+a: 1,2,3,2), 4]", "[6, 4]", "[8(b+a: 1,2,3,2), 6]"}));
}

TEST(PlanCache, LooksAlikeOnlyIfShapeDtypeLayoutAndAttributesAre) {
  World world;
  world.mesh = "d=2";
  world.meta = true;
  run_on(world, [](Worker& worker, int) {
    const auto key = [&](const Op& op, const Shape& shape, Dtype dtype, const Placed& placed,
                         bool fixed) {
      const Spec spec{shape, dtype, layout_of(worker, shape.ndim(), placed)};
      const Operand operand{&spec, fixed};
      return PlanCache::key(op, std::span(&operand, 1));
    };
    const Slice first({0, 0, 2, 1});
    const std::uint64_t base = key(first, {4}, Dtype::float32, {}, false);
    EXPECT_EQ(key(Slice({0, 0, 2, 1}), {4}, Dtype::float32, {}, false), base);
    EXPECT_NE(key(Slice({0, 1, 2, 1}), {4}, Dtype::float32, {}, false), base);
    EXPECT_NE(key(first, {5}, Dtype::float32, {}, false), base);
    EXPECT_NE(key(first, {4}, Dtype::float64, {}, false), base);
    EXPECT_NE(key(first, {4}, Dtype::float32, cut(0, {2, 2}), false), base);
    EXPECT_NE(key(first, {4}, Dtype::float32, {}, true), base);
  });
}

}  // namespace
}  // namespace shardlab::test
