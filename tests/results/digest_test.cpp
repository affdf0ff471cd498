#include "results/digest.h"

#include <gtest/gtest.h>

namespace shardlab::results {
namespace {

TEST(Digest, IsFnv1aOf128Bits) {
  EXPECT_EQ(digest(""), "6c62272e07bb014262b821756295c58d");
  EXPECT_EQ(digest("a"), "d228cb696f1a8caf78912b704e4a8964");
  EXPECT_EQ(digest("foobar"), "343e1662793c64bf6f0d3597ba446f18");
}

}  // namespace
}  // namespace shardlab::results
