#include "tools/scaling.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/core/error.h"
#include "scenarios/all.h"

namespace shardlab::test {
namespace {

Scenarios all() {
  Scenarios scenarios;
  add_all_scenarios(scenarios);
  return scenarios;
}

/// A parameter of a tiny preset, grown on a mesh.
std::string grown_value(const char* scenario, const char* mesh, const char* parameter) {
  const Scenarios scenarios = all();
  const Scenario& found = scenarios.find(scenario);
  return grown(found, found.preset("tiny"), Mesh::parse(mesh)).text(parameter);
}

/// The error of a call, as text behind its fault.
template <typename Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(name_of(error.fault())) + ": " + error.what();
  }
  return "no error";
}

TEST(Scaling, TokensAndHeightGrowWithDomainAndBatchWithData) {
  EXPECT_EQ(grown_value("ring_attention", "data=2,domain=3", "sequence"), "36");
  EXPECT_EQ(grown_value("ring_attention", "data=2,domain=3", "batch"), "4");
  EXPECT_EQ(grown_value("vit", "domain=3,data=5", "size"), "36x8");
  EXPECT_EQ(grown_value("vit", "domain=3,data=5", "batch"), "10");
}

TEST(Scaling, NothingElseGrows) {
  const Scenarios scenarios = all();
  for (const auto& [name, scenario] : scenarios.all()) {
    Params params = grown(scenario, scenario.preset("tiny"), Mesh::parse("data=2,domain=2"));
    for (const ParamSpec& spec : scenario.params)
      if (!spec.grows_with.empty()) params.set(spec.name, spec.tiny);
    EXPECT_EQ(params.all(), scenario.preset("tiny").all()) << name;
  }
}

TEST(Scaling, AxesOfOneRankChangeNothing) {
  const Scenarios scenarios = all();
  for (const auto& [name, scenario] : scenarios.all())
    EXPECT_EQ(grown(scenario, scenario.preset("small"), Mesh::parse("domain=1,other=1")).all(),
              scenario.preset("small").all())
        << name;
}

TEST(Scaling, EveryScenarioSaysWhichOfItsParametersGrow) {
  const Scenarios scenarios = all();
  for (const auto& [name, scenario] : scenarios.all())
    EXPECT_TRUE(std::any_of(scenario.params.begin(), scenario.params.end(),
                            [](const ParamSpec& spec) { return !spec.grows_with.empty(); }))
        << name;
}

TEST(Scaling, AnAxisWithWhichNothingGrowsIsInvalidAndNamesTheNearest) {
  EXPECT_EQ(error_of([] { (void)grown_value("vit", "data=2,domains=2", "batch"); }),
            "invalid: vit: in weak scaling nothing grows with axis 'domains' of mesh "
            "data=2,domains=2: did you mean 'domain'?");
}

TEST(Scaling, AScenarioOfWhichNothingGrowsIsUnsupported) {
  Scenario scenario;
  scenario.name = "still";
  EXPECT_EQ(error_of([&] { (void)grown(scenario, {}, Mesh::parse("domain=2")); }),
            "unsupported: still has no size that grows in weak scaling");
}

TEST(Scaling, SizesThatCannotGrowAreInvalidAndNamed) {
  const Scenarios scenarios = all();
  const Scenario& ring = scenarios.find("ring_attention");
  Params params = ring.preset("tiny");
  const auto grow = [&] { (void)grown(ring, params, Mesh::parse("domain=2")); };
  params.set("sequence", "many");
  EXPECT_EQ(error_of(grow), "invalid: --sequence: expected a whole number, found 'many'");
  params.set("sequence", "4611686018427387904");
  EXPECT_EQ(
      error_of(grow),
      "invalid: --sequence: 4611686018427387904 on each of 2 ranks is more than 64 bits hold");
}

TEST(Scaling, WordsAreStrongAndWeak) {
  EXPECT_EQ(parse_scaling("strong"), Scaling::strong);
  EXPECT_EQ(parse_scaling("weak"), Scaling::weak);
  EXPECT_EQ(error_of([] { (void)parse_scaling("week"); }),
            "invalid: unknown scaling 'week': did you mean 'weak'? Known are strong, weak");
}

}  // namespace
}  // namespace shardlab::test
