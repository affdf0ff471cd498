#include "engine/sim/placement.h"

#include <gtest/gtest.h>

#include "engine/core/error.h"

namespace shardlab::sim {
namespace {

// 16 ranks over domains of 8: the last axis varies fastest, so domain=8 fills one.
TEST(Placement, TheLastAxisStaysWithinADomain) {
  const Mesh mesh({{"data", 2}, {"domain", 8}});
  const Placement placement(mesh, 8);
  EXPECT_EQ(placement.group({1}, mesh.coordinates(3)), (Place{8, 1, 8, 1, Wire::domain}));
  // Every rank of a domain has a partner of its own elsewhere: 8 groups share the network ports.
  EXPECT_EQ(placement.group({0}, mesh.coordinates(3)), (Place{2, 2, 1, 8, Wire::network}));
  EXPECT_EQ(placement.group({0, 1}, mesh.coordinates(3)), (Place{16, 2, 8, 1, Wire::network}));
  EXPECT_EQ(placement.domains(), 2);
  EXPECT_EQ(placement.text(), "data=2: over the network; domain=8: within a domain");
}

TEST(Placement, AnAxisLongerThanADomainCrossesIt) {
  const Mesh mesh({{"domain", 16}});
  const Placement placement(mesh, 8);
  EXPECT_EQ(placement.wire(7, 8), Wire::network);
  EXPECT_EQ(placement.wire(8, 9), Wire::domain);
  EXPECT_EQ(placement.wire(9, 9), Wire::none);
  EXPECT_EQ(placement.text(), "domain=16: 2 domains of 8");
}

TEST(Placement, ADomainOfNoDevicesIsRefused) {
  EXPECT_THROW(Placement(Mesh({{"domain", 2}}), 0), Error);
}

}  // namespace
}  // namespace shardlab::sim
