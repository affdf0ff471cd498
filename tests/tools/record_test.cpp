#include "tools/record.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scenarios/all.h"

namespace shardlab::test {
namespace {

nlohmann::json parameters_with(const std::map<std::string, std::string>& values) {
  Scenarios scenarios;
  add_all_scenarios(scenarios);
  Request request;
  request.names = {"vit"};
  request.meshes = {Mesh({{"domain", 1}})};
  request.values = values;
  const std::vector<Case> cases = sweep(scenarios, request);
  return nlohmann::json::parse(header_of(cases[0], "cpu", request).series.parameters);
}

TEST(Record, SwitchesThatAreOffKeepTheSeriesOfRunsFromBeforeThem) {
  EXPECT_EQ(parameters_with({}),
            nlohmann::json::parse(
                R"({"batch":"1","channels":"3","classes":"1000","depth":"8","heads":"6",
                    "learning-rate":"0.001","mlp-ratio":"4","patch":"16","size":"512x512",
                    "weight-decay":"0.05","width":"384"})"));
  const nlohmann::json on = parameters_with({{"checkpoint", "blocks"}, {"storage", "sharded"}});
  EXPECT_EQ(on.at("checkpoint"), "blocks");
  EXPECT_EQ(on.at("storage"), "sharded");
}

}  // namespace
}  // namespace shardlab::test
