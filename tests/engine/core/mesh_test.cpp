#include "engine/core/mesh.h"

#include <gtest/gtest.h>

#include "engine/core/error.h"

namespace shardlab {
namespace {

std::string error_of(const std::string& text) {
  try {
    (void)Mesh::parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Mesh, IsReadAndPrintedAsTyped) {
  const Mesh mesh = Mesh::parse("data=2,domain=3");
  EXPECT_EQ(mesh.text(), "data=2,domain=3");
  EXPECT_EQ(mesh.size(), 6);
  EXPECT_EQ(mesh.find("domain"), 1);
  EXPECT_EQ(mesh.find("model"), -1);
}

TEST(Mesh, TheLastAxisVariesFastestWithTheRank) {
  const Mesh mesh = Mesh::parse("a=2,b=3");
  EXPECT_EQ(mesh.coordinates(4)[0], 1);
  EXPECT_EQ(mesh.coordinates(4)[1], 1);
  for (int rank = 0; rank < 6; ++rank) EXPECT_EQ(mesh.rank(mesh.coordinates(rank)), rank);
}

TEST(Mesh, PositionCountsAxesInTheOrderGivenAndMemberUndoesIt) {
  const Mesh mesh = Mesh::parse("a=2,b=3,c=2");
  for (int rank = 0; rank < mesh.size(); ++rank) {
    const Coordinates at = mesh.coordinates(rank);
    EXPECT_EQ(mesh.position({1, 0}, at), at[1] * 2 + at[0]);
    const Coordinates member = mesh.member({1, 0}, at, 4);
    EXPECT_EQ(mesh.position({1, 0}, member), 4);
    EXPECT_EQ(member[2], at[2]);
  }
}

TEST(Mesh, EachKindOfWrongTextIsNamed) {
  EXPECT_EQ(error_of("domain"), "mesh 'domain': expected NAME=RANKS[,NAME=RANKS], found 'domain'");
  EXPECT_EQ(error_of("a=2,,b=2"), "mesh 'a=2,,b=2': expected NAME=RANKS[,NAME=RANKS], found ''");
  EXPECT_EQ(error_of("a=x"), "mesh 'a=x': expected NAME=RANKS[,NAME=RANKS], found 'a=x'");
  EXPECT_EQ(error_of("=2"), "mesh '=2': expected NAME=RANKS[,NAME=RANKS], found '=2'");
  EXPECT_EQ(error_of("a="), "mesh 'a=': expected NAME=RANKS[,NAME=RANKS], found 'a='");
  EXPECT_EQ(error_of("a=0"), "mesh axis a has 0 ranks; at least 1 is needed");
  EXPECT_EQ(error_of("a=2,a=2"), "mesh axis a is given twice");
  EXPECT_EQ(error_of("a=2000000"), "a mesh of more than 1048576 ranks");
  EXPECT_NE(error_of("a=1,b=1,c=1,d=1,e=1,f=1,g=1"), "");
}

TEST(AxisList, AnAxisGivenTwiceIsAnError) { EXPECT_THROW((AxisList{0, 0}), Error); }

TEST(AxisList, EqualMasksMeanEqualSetsInAnyOrder) {
  EXPECT_EQ((AxisList{0, 2}).mask(), (AxisList{2, 0}).mask());
  EXPECT_FALSE((AxisList{0, 2}) == (AxisList{2, 0}));
}

}  // namespace
}  // namespace shardlab
