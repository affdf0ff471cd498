#include "results/holm.h"

#include "tests/results/fixture.h"

namespace shardlab::results {
namespace {

// Sorted: 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1 are 0.02, 0.03, 0.06, 0.04; none below the one
// before.
TEST(Holm, MultipliesEachByTheTestsThatAreLeftAndNeverFalls) {
  const std::vector<double> adjusted = holm(std::vector<double>{0.01, 0.04, 0.03, 0.005});
  EXPECT_DOUBLE_EQ(adjusted[0], 0.03);
  EXPECT_DOUBLE_EQ(adjusted[1], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[2], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[3], 0.02);
}

TEST(Holm, LeavesOneTestAloneAndNeverExceedsOne) {
  EXPECT_EQ(holm(std::vector<double>{0.2}), std::vector<double>{0.2});
  EXPECT_EQ(holm(std::vector<double>{0.7, 0.9}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(holm({}).empty());
}

TEST(Holm, RefusesWhatIsNoProbability) {
  EXPECT_EQ(error_of([] { static_cast<void>(holm(std::vector<double>{1.5})); }).fault(),
            Fault::invalid);
}

}  // namespace
}  // namespace shardlab::results
