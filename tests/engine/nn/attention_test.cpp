#include "engine/nn/attention.h"

#include "tests/engine/nn/attention_case.h"

namespace shardlab::test {
namespace {

World two() {
  World world;
  world.mesh = "domain=2";
  return world;
}

std::string refusal(const std::function<void(Worker&, nn::AttentionOptions&)>& ask) {
  return refusal_of(two(), [&](Worker& worker) {
    nn::AttentionOptions options;
    ask(worker, options);
    const Tensor q = make(worker, heads_of({}).q, cut(1, {3, 5}));
    (void)nn::attention(q, q, q, options);
  });
}

TEST(Attention, WhatIsNotThereYetIsRefusedByNameOnEveryRank) {
  const auto refused = [](const std::string& attribute) {
    return "unsupported: attention: attribute " + attribute + " is not there yet";
  };
  EXPECT_EQ(refusal([](Worker&, auto& o) { o.causal = true; }), refused("causal"));
  EXPECT_EQ(refusal([](Worker&, auto& o) { o.diagonal = -1; }), refused("diagonal"));
  EXPECT_EQ(refusal([](Worker&, auto& o) { o.window_left = 0; }), refused("window_left"));
  EXPECT_EQ(refusal([](Worker&, auto& o) { o.window_right = 3; }), refused("window_right"));
  EXPECT_EQ(refusal([](Worker& w, auto& o) {
              o.key_mask = make(w, numbers({2, 8}));
            }),
            refused("key_mask"));
  EXPECT_EQ(refusal([](Worker& w, auto& o) { o.query_position = make(w, numbers({8})); }),
            refused("query_position"));
  EXPECT_EQ(refusal([](Worker& w, auto& o) { o.key_position = make(w, numbers({8})); }),
            refused("key_position"));
}

TEST(Attention, GroupedHeadsAreRefusedByName) {
  EXPECT_EQ(refusal_of(two(),
                       [](Worker& worker) {
                         const Tensor q = make(worker, numbers({1, 4, 6, 2}), cut(1, {1, 3}));
                         const Tensor k = make(worker, numbers({1, 4, 2, 2}), cut(1, {1, 3}));
                         (void)nn::attention(q, k, k, {});
                       }),
            "unsupported: attention: attribute kv_heads (grouped heads) is not there yet");
}

TEST(Attention, OperandsWithoutFourDimsAreNamed) {
  EXPECT_EQ(error_of({},
                     [](Worker& worker) {
                       const Tensor q = make(worker, numbers({4, 6, 2}));
                       (void)nn::attention(q, q, make(worker, numbers({4, 6})), {});
                     }),
            "invalid: rank 0: attention: q, k and v have 3, 3 and 2 dims; [batch, token, head, "
            "width] is needed");
}

TEST(Attention, OfWholeKeysNeedsNoRing) {
  for (const Placed& queries : {Placed{}, cut(1, {3, 5}), cut(0, {2, 0}), cut(2, {1, 1})})
    expect_dense(heads_of({}), {"domain=2", {queries, {}, {}}});
  World meta;
  meta.meta = true;
  OpCase forward = attention_case(heads_of({}));
  forward.has_gradient = false;
  for (const OpAccount& rank : account(forward, {"domain=2", {cut(1, {3, 5}), {}, {}}}, meta))
    EXPECT_EQ(rank.totals.collectives, 0);
}

TEST(Attention, OfKeysCutInBatchOrHeadsSendsNothing) {
  World meta;
  meta.meta = true;
  OpCase forward = attention_case(heads_of({}));
  forward.has_gradient = false;
  for (const Placed& placed : {cut(0, {1, 1}), cut(0, {0, 2}), cut(2, {1, 1})}) {
    expect_dense(heads_of({}), {"domain=2", {placed, placed, placed}});
    for (const OpAccount& rank : account(forward, {"domain=2", {placed, placed, placed}}, meta))
      EXPECT_EQ(rank.totals.collectives, 0);
  }
}

TEST(Attention, OfPendingOrOtherwiseCutOperandsEqualsDense) {
  const Placed pending{{}, {0}, Reduction::sum};
  expect_dense(heads_of({}), {"domain=2", {pending, pending, pending}});
  expect_dense(heads_of({}), {"domain=2", {{}, cut(3, {1, 3}), {}}});
  expect_dense(heads_of({}), {"domain=2", {cut(3, {2, 2}), {}, cut(3, {0, 4})}});
  expect_dense(heads_of({}), {"domain=2", {{}, {}, cut(1, {1, 7})}});
}

TEST(Attention, ScalesByTheRootOfTheWidthUnlessTold) {
  Heads heads = heads_of({});
  const Arrangement arrangement = on_line({3, 5}, {3, 5});
  const Values plain = run_case(attention_case(heads), arrangement)[0].outputs[0];
  heads.scale = 0.5;
  EXPECT_TRUE(same(run_case(attention_case(heads), arrangement)[0].outputs[0], plain));
  heads.scale = 0.25;
  EXPECT_FALSE(close(run_case(attention_case(heads), arrangement)[0].outputs[0], plain, 1e-3));
}

}  // namespace
}  // namespace shardlab::test
