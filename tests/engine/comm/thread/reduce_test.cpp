#include "engine/comm/thread/reduce.h"

#include <cmath>
#include <limits>

#include "tests/engine/comm/ranks.h"

namespace shardlab::test {
namespace {

template <typename T>
class Reduce : public testing::Test {};
using Reduced = testing::Types<float, double, std::int64_t>;
TYPED_TEST_SUITE(Reduce, Reduced);

TYPED_TEST(Reduce, WritesTheReductionToEveryOutputAlsoOverAnInput) {
  for (int inputs = 1; inputs <= 5; ++inputs)
    for (const std::int64_t count : {0, 1, 3, 63, 2047, 2048, 2049, 4096, 4097, 9000})
      for (const Reduction reduction : {Reduction::sum, Reduction::max})
        for (int outputs = 1; outputs <= inputs; ++outputs) {
          std::vector<std::vector<TypeParam>> blocks;
          for (int r = 0; r < inputs; ++r) blocks.push_back(values_of<TypeParam>(r, count));
          std::vector<const void*> from;
          std::vector<void*> to;
          for (auto& block : blocks) from.push_back(block.data());
          // The last inputs are overwritten.
          for (int k = inputs - outputs; k < inputs; ++k) to.push_back(blocks[k].data());
          thread::reduce(from, to, count, dtype_of<TypeParam>(), reduction);
          const auto expected = reduced_of<TypeParam>(all_of(inputs), count, reduction);
          for (int k = 0; k < inputs; ++k)
            EXPECT_EQ(blocks[k], k < inputs - outputs ? values_of<TypeParam>(k, count) : expected)
                << inputs << " inputs, " << outputs << " outputs, " << count << " elements";
        }
}

TEST(ReduceMax, KeepsNanWhereverItComesFrom) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float low = -std::numeric_limits<float>::infinity();
  const std::vector<float> rows[] = {{nan, 1, 1, low}, {2, nan, 2, low}, {3, 3, nan, low}};
  for (const int inputs : {2, 3}) {
    std::vector<const void*> from;
    for (int r = 0; r < inputs; ++r) from.push_back(rows[r].data());
    std::vector<float> out(4);
    void* const to = out.data();
    thread::reduce(from, {&to, 1}, 4, Dtype::float32, Reduction::max);
    EXPECT_TRUE(std::isnan(out[0]));
    EXPECT_TRUE(std::isnan(out[1]));
    EXPECT_EQ(std::isnan(out[2]), inputs == 3);
    EXPECT_EQ(out[3], low);
  }
}

TEST(ReduceSum, AddsInTheOrderOfTheInputs) {
  const std::vector<float> rows[] = {{1e8F}, {1.0F}, {-1e8F}};
  const std::vector<const void*> from = {rows[0].data(), rows[1].data(), rows[2].data()};
  const std::vector<const void*> other = {rows[0].data(), rows[2].data(), rows[1].data()};
  float out = -1;
  void* const to = &out;
  thread::reduce(from, {&to, 1}, 1, Dtype::float32, Reduction::sum);
  EXPECT_EQ(out, 0.0F);
  thread::reduce(other, {&to, 1}, 1, Dtype::float32, Reduction::sum);
  EXPECT_EQ(out, 1.0F);
}

}  // namespace
}  // namespace shardlab::test
