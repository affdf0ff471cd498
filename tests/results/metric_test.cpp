#include "results/metric.h"

#include "results/run.h"
#include "tests/results/fixture.h"

namespace shardlab::results {
namespace {

TEST(Metric, ExactOnesCompareAcrossEnvironmentsAndTimesDoNot) {
  for (const Metric& metric :
       {bytes_sent(), flop(), collectives(), dispatches(), peak_bytes(), peak_bytes("activation")})
    EXPECT_FALSE(needs_equal_environment(metric)) << metric.name;
  for (const Metric& metric : {step_seconds(), loss(), peak_bytes("library")})
    EXPECT_TRUE(needs_equal_environment(metric)) << metric.name;
}

TEST(Metric, CategoriesHaveNamesOfTheirOwn) {
  EXPECT_EQ(peak_bytes("gradient").name, "peak_bytes.gradient");
}

TEST(Metric, NamesOfEnumeratorsLeadBack) {
  for (const auto better : {Better::lower, Better::higher, Better::none})
    EXPECT_EQ(better_from(name_of(better)), better);
  for (const auto across : {AcrossRanks::max, AcrossRanks::min, AcrossRanks::sum})
    EXPECT_EQ(across_ranks_from(name_of(across)), across);
  for (const auto status : {RunStatus::running, RunStatus::complete, RunStatus::failed,
                            RunStatus::skipped, RunStatus::interrupted})
    EXPECT_EQ(run_status_from(name_of(status)), status);
  EXPECT_EQ(error_of([] { static_cast<void>(better_from("")); }).fault(), Fault::invalid);
}

}  // namespace
}  // namespace shardlab::results
