#include "engine/backends/cpu/peak.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/backends/cpu/isa.h"
#include "engine/core/error.h"

namespace shardlab::cpu {
namespace {

// Two units of sixteen float32 lanes at 10 GHz: a rate above it means that work was left out.
constexpr double beyond_any_core = 2.0 * 2.0 * 16.0 * 10e9;

TEST(Peak, IsARateThatACoreCanHaveWithEveryInstructionSet) {
  for (const std::string& level : isa_levels()) {
    SCOPED_TRACE(level);
    restrict_isa_for_test(level);
    for (const bool float64 : {false, true}) {
      const double peak = measure_fma_peak_flops(float64);
      EXPECT_TRUE(std::isfinite(peak));
      EXPECT_GT(peak, 1e6);
      EXPECT_LT(peak, float64 ? beyond_any_core / 2 : beyond_any_core);
    }
  }
  restrict_isa_for_test("");
}

TEST(IsaLevel, IsTheFirstOfTheList) { EXPECT_EQ(isa_level_name(), isa_levels().front()); }

TEST(IsaLevel, IsTheOneThatATestAskedFor) {
  for (const std::string& level : isa_levels()) {
    restrict_isa_for_test(level);
    EXPECT_EQ(isa_level_name(), level);
  }
  restrict_isa_for_test("");
  EXPECT_EQ(isa_level_name(), isa_levels().front());
}

TEST(IsaLevel, OfAnotherNameIsRefusedWithTheListOfThoseThatExist) {
  try {
    restrict_isa_for_test("AVX9");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::invalid);
    EXPECT_NE(std::string(error.what()).find("AVX9"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find(isa_levels().front()), std::string::npos);
  }
}

}  // namespace
}  // namespace shardlab::cpu
