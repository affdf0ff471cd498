#include "engine/nn/parameters.h"

#include "engine/core/check.h"
#include "engine/dispatch/redistribute.h"
#include "tests/engine/nn/model_case.h"

namespace shardlab::test {
namespace {

using nn::ParameterRule;

World on(const std::string& mesh) {
  World world;
  world.mesh = mesh;
  return world;
}

std::string stored_of(const Tensor& x) { return shardlab::to_string(*x.layout(), x.shape()); }
std::string used_of(const Tensor& x) {
  return shardlab::to_string(*x.state().parameter->used, x.shape());
}

TEST(Parameters, WithoutARuleAreWholeEverywhere) {
  run_on(on("domain=2"), [](Worker& worker, int) {
    const nn::Parameters parameters(worker, {{"other", {{"domain", 0}}, {}}});
    const Tensor x = parameters.normal("weight", {4, 3}, 1);
    EXPECT_TRUE(x.layout()->replicated());
    EXPECT_EQ(x.state().parameter->used, x.layout());
  });
}

TEST(Parameters, AreStoredAndUsedWhereTheirRuleSays) {
  run_on(on("data=2,tensor=2"), [](Worker& worker, int) {
    const nn::Parameters parameters(worker,
                                    {{"up.weight", {{"tensor", 0}, {"data", 0}}, {{"tensor", 0}}},
                                     {"weight", {{"data", 1}}, {}}});
    const Tensor up = parameters.within("mlp").within("up").normal("weight", {7, 3}, 1);
    EXPECT_EQ(up.state().parameter->name, "mlp.up.weight");
    EXPECT_EQ(stored_of(up), "[7(tensor+data: 2,2,2,1), 3]");
    EXPECT_EQ(used_of(up), "[7(tensor: 4,3), 3]");
    const Tensor down = parameters.within("down").constant("weight", {7, 3}, 2);
    EXPECT_EQ(stored_of(down), "[7, 3(data: 2,1)]");
    EXPECT_EQ(used_of(down), "[7, 3]");
    const Tensor bias = parameters.within("up").constant("bias", {7}, 2);
    EXPECT_TRUE(bias.layout()->replicated());
  });
}

TEST(Parameters, FollowTheFirstRuleThatFits) {
  run_on(on("domain=2"), [](Worker& worker, int) {
    const nn::Parameters parameters(
        worker, {{"a.weight", {{"domain", 1}}, {}}, {"weight", {{"domain", 0}}, {}}});
    EXPECT_EQ(stored_of(parameters.within("a").normal("weight", {4, 4}, 1)), "[4, 4(domain: 2x2)]");
    EXPECT_EQ(stored_of(parameters.within("b").normal("weight", {4, 4}, 1)), "[4(domain: 2x2), 4]");
  });
}

TEST(Parameters, SkipAxesThatTheMeshHasNot) {
  run_on(on("domain=2"), [](Worker& worker, int) {
    const nn::Parameters parameters(worker, {{"", {{"tensor", 0}}, {{"tensor", 0}}}});
    EXPECT_TRUE(parameters.normal("weight", {4, 4}, 1).layout()->replicated());
  });
}

TEST(Parameters, HaveTheSameValuesOnEveryMeshAndRule) {
  const auto values = [](const World& world, const std::vector<ParameterRule>& rules) {
    return on_all(world, [&](Worker& worker) {
      const nn::Parameters parameters(worker, rules);
      (void)parameters.normal("first", {5, 3}, 0.5);
      (void)parameters.constant("second", {5}, 0.25);
      (void)parameters.normal("third", {4}, 2);
      return joined(worker.parameters());
    });
  };
  const Values one = values({}, {});
  EXPECT_EQ(one[15], 0.25);
  EXPECT_TRUE(same(values(on("domain=3"), {}), one));
  EXPECT_TRUE(same(values(on("domain=3"), {{"", {{"domain", 0}}, {}}}), one));
  EXPECT_TRUE(same(values(on("data=2,domain=2"),
                          {{"first", {{"domain", 1}, {"data", 0}}, {}}, {"", {{"data", 0}}, {}}}),
                   one));
}

TEST(Parameters, A08_ThePartOfAnOuterAxisIsMadeWholeAlongTheInnerAxisAlone) {
  for (std::int64_t rows = 1; rows <= 13; ++rows) {
    World world = on("data=2,tensor=2");
    world.meta = true;
    run_on(world, [&](Worker& worker, int) {
      const nn::Parameters parameters(worker,
                                      {{"weight", {{"tensor", 0}, {"data", 0}}, {{"tensor", 0}}}});
      const Tensor w = parameters.normal("weight", {rows, 3}, 1);
      worker.trace().keep(true);
      (void)move(w, w.state().parameter->used);
      for (const Step& step : worker.trace().steps()) {
        if (step.kind != Step::Kind::start) continue;
        EXPECT_STREQ(step.op, "all_gather") << rows << ": " << stored_of(w);
        EXPECT_EQ(names_of(worker.mesh(), step.axes), "data") << rows << ": " << stored_of(w);
      }
    });
  }
}

TEST(Parameters, CountAsParameterBytesOfWhatIsStored) {
  World world = on("domain=3");
  world.meta = true;
  const std::vector<std::int64_t> bytes = on_ranks<std::int64_t>(world, [](Worker& worker) {
    const nn::Parameters parameters(worker, {{"weight", {{"domain", 0}}, {}}});
    (void)parameters.normal("weight", {8, 16}, 1);
    (void)parameters.constant("bias", {16}, 0);
    EXPECT_EQ(worker.backend().ledger().live(),
              worker.backend().ledger().live(Category::parameter));
    return worker.backend().ledger().live();
  });
  EXPECT_EQ(bytes, (std::vector<std::int64_t>{3 * 128 + 128, 3 * 128 + 128, 2 * 128 + 128}));
}

TEST(Parameters, StoredShardedAreCutFurtherByEveryAxisThatLeftThemWhole) {
  run_on(on("data=2,domain=2"), [](Worker& worker, int) {
    const nn::Parameters parameters(
        worker,
        {{"position", {{"domain", 1}}, {{"domain", 1}}}, {"blocks", {{"domain", 0, 3}}, {}}},
        nn::Storage::sharded);
    const auto stored = [&](const std::string& name, const Shape& shape) {
      return stored_of(parameters.normal(name, shape, 1));
    };
    EXPECT_EQ(stored("weight", {10, 8}), "[10(domain+data: 3,2,3,2), 8]");
    EXPECT_EQ(stored("weight", {3, 8}), "[3(domain+data: 1,1,1,0), 8]");
    EXPECT_EQ(stored("weight", {1, 1, 9}), "[1, 1, 9(domain+data: 3,2,2,2)]");
    EXPECT_EQ(stored("bias", {4}), "[4(domain+data: 4x1)]");
    EXPECT_EQ(stored("bias", {3}), "[3]");
    EXPECT_EQ(stored("scale", {}), "[]");
    EXPECT_EQ(stored("position", {1, 6, 8}), "[1, 6(domain+data: 2,1,2,1), 8]");
    // Units of 3 within the cut of the rule: 6 and 3 rows.
    EXPECT_EQ(stored("blocks", {9, 4}), "[9(domain+data: 3,3,2,1), 4]");
    EXPECT_EQ(used_of(parameters.normal("weight", {10, 8}, 1)), "[10, 8]");
  });
  run_on({}, [](Worker& worker, int) {
    const nn::Parameters parameters(worker, {}, nn::Storage::sharded);
    EXPECT_TRUE(parameters.normal("weight", {10, 8}, 1).layout()->replicated());
  });
}

TEST(Parameters, ARuleThatDoesNotFitTheShapeIsRefused) {
  EXPECT_NE(error_of(on("domain=2"),
                     [](Worker& worker) {
                       const nn::Parameters parameters(worker, {{"bias", {{"domain", 1}}, {}}});
                       (void)parameters.constant("bias", {4}, 0);
                     })
                .find("invalid: "),
            std::string::npos);
}

}  // namespace
}  // namespace shardlab::test
