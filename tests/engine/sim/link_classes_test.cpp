#include "engine/sim/link_classes.h"

#include <gtest/gtest.h>

#include <set>

namespace shardlab::sim {
namespace {

std::vector<Flow> all_to_all(int n, double bytes) {
  std::vector<Flow> flows;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (i != j) flows.push_back({{i, n + j}, bytes});
  return flows;
}

int classes(const LinkClasses& found) { return static_cast<int>(found.example.size()); }

TEST(LinkClasses, AnEvenAllToAllIsOneClassOfFlows) {
  const std::vector<Link> links(16, Link{1, 0});
  const LinkClasses found = classify(links, all_to_all(8, 5));
  EXPECT_EQ(classes(found), 1);
  // One port carries what a rank sends to the seven others.
  ASSERT_EQ(found.uses[0].size(), 1u);
  EXPECT_EQ(found.uses[0][0].times, 2 * 56.0 / 16);
}

TEST(LinkClasses, OneSlowPortTellsItsFlowsFromAllOthers) {
  std::vector<Link> links(16, Link{1, 0});
  links[3].capacity = 0.5;
  // What rank 3 sends; what others send to 3, who has less to send than they; the rest.
  EXPECT_EQ(classes(classify(links, all_to_all(8, 5))), 3);
}

TEST(LinkClasses, OneLargerFlowTellsAllThatMeetItApart) {
  const std::vector<Link> links(8, Link{1, 0});
  std::vector<Flow> flows = all_to_all(4, 5);
  flows[0].bytes = 6;  // 0 -> 1
  // Sending and receiving mirror each other: 0->1 | 0->{2,3} and {2,3}->1 | 2<->3 |
  // {2,3}->0 and 1->{2,3} | 1->0.
  EXPECT_EQ(classes(classify(links, flows)), 5);
}

TEST(LinkClasses, AnOpenLineHasOneClassPerDistanceFromItsEnds) {
  // Flows 0->1->2->3->4 over one link each, then a second flow on link 0: no symmetry is left.
  const std::vector<Link> links(4, Link{1, 0});
  std::vector<Flow> flows;
  for (int l = 0; l + 1 < 4; ++l) flows.push_back({{l, l + 1}, 1});
  // Ends are alike: {0,1} and {2,3} mirror each other.
  EXPECT_EQ(classes(classify(links, flows)), 2);
  flows.push_back({{0}, 1});
  EXPECT_EQ(classes(classify(links, flows)), 4);
}

TEST(LinkClasses, FoldedTimesAreThoseOfAPerturbedAndThereforeUnfoldedExchange) {
  const int n = 6;
  std::vector<Link> links(2 * n, Link{10, 0.5});
  for (int l = 0; l < 2 * n; l += 3) links[l].capacity = 4;
  std::vector<Flow> even = all_to_all(n, 7);
  std::vector<Flow> perturbed = even;
  for (std::size_t f = 0; f < perturbed.size(); ++f)
    perturbed[f].bytes *= 1 + 1e-7 * static_cast<double>(f + 1);
  ASSERT_LT(classify(links, even).example.size(), even.size());
  ASSERT_EQ(classify(links, perturbed).example.size(), even.size());
  const std::vector<double> folded = finish_times(links, even);
  const std::vector<double> unfolded = finish_times(links, perturbed);
  for (std::size_t f = 0; f < even.size(); ++f) EXPECT_NEAR(folded[f], unfolded[f], 1e-4);
}

}  // namespace
}  // namespace shardlab::sim
