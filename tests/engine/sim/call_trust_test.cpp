#include <gtest/gtest.h>

#include "engine/sim/machine_prices.h"
#include "engine/sim/machines.h"

namespace shardlab::sim {
namespace {

constexpr std::int64_t mib = 1 << 20;

class CallsTrusted : public testing::Test {
 protected:
  [[nodiscard]] CallTrust trust(const char* op, std::int64_t bytes, Place place,
                                std::int32_t relative_peer = 0) const {
    Step step;
    step.kind = Step::Kind::start;
    step.op = op;
    step.bytes = bytes;
    step.relative_peer = relative_peer;
    return MachinePrices(machine_, find_profile("shardlab"), MathMode::exact).trust(step, place);
  }

  [[nodiscard]] static Place of(int ranks, int domains = 1) {
    return {ranks, domains, ranks / domains, 1, domains > 1 ? Wire::network : Wire::domain};
  }

  Machine machine_ = find_machine("dgx-h100");
};

TEST_F(CallsTrusted, SizesAndRanksBeyondACurveAreExtrapolated) {
  for (const int ranks : {4, 16})
    machine_.collectives.push_back({"all_reduce",
                                    ranks,
                                    1,
                                    {{1.0 * mib, 1e-3}, {4.0 * mib, 2e-3}},
                                    Source::user_measured,
                                    "log",
                                    0.05});
  EXPECT_FALSE(trust("all_reduce", 2 * mib, of(4)).extrapolated);
  EXPECT_FALSE(trust("all_reduce", 2 * mib, of(8)).extrapolated) << "8 lies between 4 and 16";
  EXPECT_TRUE(trust("all_reduce", 2 * mib, of(2)).extrapolated);
  EXPECT_TRUE(trust("all_reduce", 2 * mib, of(32)).extrapolated);
  EXPECT_TRUE(trust("all_reduce", 8 * mib, of(4)).extrapolated);
  EXPECT_TRUE(trust("all_reduce", mib / 2, of(4)).extrapolated);
  EXPECT_TRUE(trust("all_reduce", 2 * mib, of(4)).validated);
}

// The public logs of all-reduce go to 1,440 ranks and 16 GiB.
TEST_F(CallsTrusted, TheModelIsExtrapolatedBeyondTheLogsItWasHeldTo) {
  EXPECT_FALSE(trust("all_reduce", 16384 * mib, of(1440, 180)).extrapolated);
  EXPECT_TRUE(trust("all_reduce", 16385 * mib, of(1440, 180)).extrapolated);
  EXPECT_TRUE(trust("all_reduce", mib, of(2048, 256)).extrapolated);
  // Of an all-to-all a trace counts the parts of all ranks: 8 of 100 MiB are in the band above 64.
  EXPECT_TRUE(trust("all_to_all", 800 * mib, of(8)).validated);
  EXPECT_FALSE(trust("all_to_all", 80 * mib, of(8)).validated);
}

TEST_F(CallsTrusted, WiresWithOneLogOrNoneAreNotValidated) {
  EXPECT_TRUE(trust("all_reduce", mib, of(16, 2)).validated);
  for (const char* fabric : {"tcpxo", "ethernet"}) {
    machine_.words["fabric.kind"] = fabric;
    EXPECT_FALSE(trust("all_reduce", mib, of(16, 2)).validated) << fabric;
    EXPECT_DOUBLE_EQ(trust("all_reduce", mib, of(16, 2)).half_width, 0.5);
    EXPECT_TRUE(trust("all_reduce", mib, of(8)).validated) << "not over that fabric";
  }
  machine_.words["nvlink.kind"] = "mesh";
  EXPECT_FALSE(trust("all_reduce", mib, of(8)).validated);
}

TEST_F(CallsTrusted, CallsThatNoLogShowsAreNotValidated) {
  EXPECT_FALSE(trust("all_gather", 256 * mib, of(8)).validated);
  EXPECT_TRUE(trust("exchange", 256 * mib, of(8), 1).validated) << "sends have a log";
  EXPECT_FALSE(trust("exchange", mib, of(8), 1).validated) << "of large sizes";
}

}  // namespace
}  // namespace shardlab::sim
