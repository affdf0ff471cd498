#include "engine/core/layout.h"

#include <gtest/gtest.h>

#include "engine/core/error.h"

namespace shardlab {
namespace {

Split sizes(std::vector<std::int64_t> parts) { return Split::of_sizes(parts); }

TEST(LayoutTable, EqualLayoutsHaveOneAddress) {
  LayoutTable table(Mesh::parse("data=2,domain=3"));
  const auto rows = [&](std::vector<std::int64_t> parts) {
    Layout layout(table.mesh(), 2);
    layout.set_dim(0, {{1}, table.intern(sizes(std::move(parts)))});
    return table.intern(layout);
  };
  EXPECT_EQ(rows({2, 0, 3}), rows({2, 0, 3}));
  EXPECT_NE(rows({2, 0, 3}), rows({3, 0, 2}));
  EXPECT_EQ(table.intern(Layout(table.mesh(), 2)), table.replicated(2));
  EXPECT_EQ(table.intern(sizes({2, 0, 3})), table.intern(sizes({2, 0, 3})));
}

TEST(LayoutTable, AxesOfOneRankAreDropped) {
  LayoutTable table(Mesh::parse("data=1,domain=3"));
  Layout layout(table.mesh(), 1);
  layout.set_dim(0, {{0, 1}, table.intern(sizes({1, 2, 3}))});
  const Layout* kept = table.intern(layout);
  EXPECT_EQ(kept->dim(0).axes, AxisList{1});
  Layout whole(table.mesh(), 1);
  whole.set_dim(0, {{0}, table.intern(sizes({6}))});
  whole.set_partial({}, Reduction::sum);
  EXPECT_EQ(table.intern(whole), table.replicated(1));
}

TEST(LayoutTable, TheOrderOfPendingAxesHasNoSay) {
  LayoutTable table(Mesh::parse("a=2,b=2"));
  const auto pending = [&](const AxisList& axes) {
    Layout layout(table.mesh(), 1);
    layout.set_partial(axes, Reduction::sum);
    return table.intern(layout);
  };
  EXPECT_EQ(pending({0, 1}), pending({1, 0}));
}

TEST(LayoutTable, AnAxisUsedTwiceIsAnError) {
  LayoutTable table(Mesh::parse("domain=2"));
  Layout layout(table.mesh(), 2);
  layout.set_dim(0, {{0}, table.intern(sizes({1, 1}))});
  layout.set_partial({0}, Reduction::sum);
  EXPECT_THROW((void)table.intern(layout), Error);
}

TEST(LayoutTable, ASplitOfAnotherNumberOfPartsIsAnError) {
  LayoutTable table(Mesh::parse("domain=2"));
  Layout layout(table.mesh(), 1);
  layout.set_dim(0, {{0}, table.intern(sizes({1, 1, 1}))});
  EXPECT_THROW((void)table.intern(layout), Error);
}

TEST(LayoutTable, TheOrderOfAxesOnADimDistinguishesLayouts) {
  LayoutTable table(Mesh::parse("a=2,b=2"));
  const auto over = [&](const AxisList& axes) {
    Layout layout(table.mesh(), 1);
    layout.set_dim(0, {axes, table.intern(sizes({2, 1, 1, 1}))});
    return table.intern(layout);
  };
  EXPECT_NE(over({0, 1}), over({1, 0}));
  EXPECT_EQ(over({1, 0})->start(0, table.mesh().coordinates(1)), 3);
  EXPECT_EQ(over({0, 1})->start(0, table.mesh().coordinates(1)), 2);
}

TEST(Layout, LocalShapesAddUpToTheWhole) {
  LayoutTable table(Mesh::parse("a=2,b=3"));
  Layout layout(table.mesh(), 2);
  layout.set_dim(0, {{1}, table.intern(sizes({4, 0, 3}))});
  layout.set_dim(1, {{0}, table.intern(sizes({1, 4}))});
  std::int64_t elements = 0;
  for (int rank = 0; rank < 6; ++rank)
    elements += layout.local_shape({7, 5}, table.mesh().coordinates(rank)).count();
  EXPECT_EQ(elements, 35);
}

TEST(Layout, PlacementNamesWhatAnAxisDoes) {
  LayoutTable table(Mesh::parse("a=2,b=3,c=2"));
  Layout layout(table.mesh(), 2);
  layout.set_dim(1, {{1}, table.intern(sizes({4, 0, 3}))});
  layout.set_partial({2}, Reduction::max);
  EXPECT_EQ(layout.placement(0), Placement{});
  EXPECT_EQ(layout.placement(1), (Placement{Placement::Kind::shard, 1, Reduction::sum}));
  EXPECT_EQ(layout.placement(2), (Placement{Placement::Kind::partial, -1, Reduction::max}));
  EXPECT_FALSE(layout.replicated());
}

TEST(Layout, IsPrintedWithExtentsAxesAndPendingParts) {
  LayoutTable table(Mesh::parse("data=2,domain=3"));
  Layout layout(table.mesh(), 3);
  layout.set_dim(1, {{1}, table.intern(sizes({4, 3, 3}))});
  layout.set_partial({0}, Reduction::sum);
  EXPECT_EQ(to_string(layout, {2, 10, 8}), "[2, 10(domain: 4,3,3), 8] partial sum(data)");
}

}  // namespace
}  // namespace shardlab
