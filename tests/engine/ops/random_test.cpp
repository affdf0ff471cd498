#include "engine/ops/random.h"

#include <cmath>

#include "tests/support/world.h"

namespace shardlab::test {
namespace {

Values drawn(const std::string& mesh, const Placed& placed, bool normal, std::uint64_t seed = 1) {
  World world;
  world.mesh = mesh;
  world.seed = seed;
  return on_all(world, [&](Worker& worker) {
    const Spec spec{{8, 8}, Dtype::float64, layout_of(worker, 2, placed)};
    (void)random_normal(worker, spec, 1);
    return whole_values(normal ? random_normal(worker, spec, 2) : random_uniform(worker, spec, 3));
  });
}

TEST(Random, E18_ValuesAreTheSameOnAnyMeshAndLayout) {
  for (const bool normal : {true, false}) {
    const Values one = drawn("domain=1", {}, normal);
    EXPECT_TRUE(same(drawn("domain=2", {}, normal), one));
    EXPECT_TRUE(same(drawn("domain=2", cut(0, {3, 5}), normal), one));
    EXPECT_TRUE(same(drawn("domain=4", cut(1, {5, 0, 1, 2}), normal), one));
    EXPECT_TRUE(same(drawn("data=2,domain=2",
                           {{{1, {0}, {5, 3}}, {0, {1}, {0, 8}}}, {}, Reduction::sum}, normal),
                     one));
  }
}

TEST(Random, AnotherSeedOrCallGivesOtherValues) {
  EXPECT_FALSE(same(drawn("domain=1", {}, true, 1), drawn("domain=1", {}, true, 2)));
  run_on({}, [](Worker& worker, int) {
    const Spec spec{{16}, Dtype::float64, worker.layouts().replicated(1)};
    const Values first = whole_values(random_normal(worker, spec, 1));
    EXPECT_FALSE(same(first, whole_values(random_normal(worker, spec, 1))));
  });
}

TEST(Random, MomentsAreThoseAskedFor) {
  run_on({}, [](Worker& worker, int) {
    constexpr int n = 100'000;
    const Spec spec{{n}, Dtype::float64, worker.layouts().replicated(1)};
    double mean = 0;
    double square = 0;
    for (const double x : whole_values(random_normal(worker, spec, 2)).data) {
      mean += x / n;
      square += x * x / n;
    }
    EXPECT_NEAR(mean, 0, 0.03);
    EXPECT_NEAR(square, 4, 0.08);
    double least = 9;
    double most = -9;
    for (const double x : whole_values(random_uniform(worker, spec, 3)).data) {
      least = std::min(least, x);
      most = std::max(most, x);
    }
    EXPECT_GE(least, 0);
    EXPECT_LT(least, 0.01);
    EXPECT_LT(most, 3);
    EXPECT_GT(most, 2.99);
  });
}

TEST(Random, WholeNumbersStayBelowTheirBound) {
  run_on({}, [](Worker& worker, int) {
    const Spec spec{{1000}, Dtype::int64, worker.layouts().replicated(1)};
    std::vector<int> seen(7);
    for (const double x : whole_values(random_uniform(worker, spec, 7)).data) {
      ASSERT_EQ(x, std::floor(x));
      ASSERT_GE(x, 0);
      ASSERT_LT(x, 7);
      ++seen[static_cast<std::size_t>(x)];
    }
    for (const int count : seen) EXPECT_GT(count, 80);
  });
}

TEST(Random, ValuesAreExactInFloat32) {
  World world;
  world.dtype = Dtype::float32;
  const auto draw = [](Worker& worker, Dtype dtype) {
    worker.set_random_calls(0);
    return whole_values(random_normal(worker, {{64}, dtype, worker.layouts().replicated(1)}, 1));
  };
  run_on(world, [&](Worker& worker, int) {
    EXPECT_TRUE(same(draw(worker, Dtype::float32), draw(worker, Dtype::float64)));
  });
}

}  // namespace
}  // namespace shardlab::test
