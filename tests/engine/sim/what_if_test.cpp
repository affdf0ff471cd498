#include <gtest/gtest.h>

#include "engine/core/error.h"
#include "engine/sim/machine_prices.h"

namespace shardlab::sim {
namespace {

TEST(WhatIf, ReadsEveryWord) {
  const WhatIf what =
      parse_what_if("bandwidth=2x,latency=0.5x,peak=3x,launch=20us,overlap=off,slow-rank=1.2x");
  EXPECT_DOUBLE_EQ(what.bandwidth, 2);
  EXPECT_DOUBLE_EQ(what.latency, 0.5);
  EXPECT_DOUBLE_EQ(what.peak, 3);
  EXPECT_DOUBLE_EQ(what.launch, 20e-6);
  EXPECT_FALSE(what.overlap);
  EXPECT_DOUBLE_EQ(what.slow_rank, 1.2);
  EXPECT_TRUE(what.changes());
  EXPECT_FALSE(parse_what_if("").changes());
}

TEST(WhatIf, SaysWhatItExpected) {
  const auto error = [](const char* text) {
    try {
      (void)parse_what_if(text);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error("bandwith=2x"),
            "--what-if bandwith: known are bandwidth, latency, peak, launch, overlap and "
            "slow-rank");
  EXPECT_EQ(error("bandwidth=2"), "--what-if bandwidth=2: expected a number and x");
  EXPECT_EQ(error("bandwidth=0x"), "--what-if bandwidth=0x: must be above 0");
  EXPECT_EQ(error("overlap=no"), "--what-if overlap=no: expected on or off");
  EXPECT_EQ(error("launch=20"), "--what-if launch=20: expected a number and us");
}

}  // namespace
}  // namespace shardlab::sim
