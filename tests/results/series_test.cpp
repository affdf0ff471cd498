#include "results/series.h"

#include <gtest/gtest.h>

#include "tests/results/fixture.h"

namespace shardlab::results {
namespace {

SeriesKey key_of(const std::string& parameters) {
  return {.scenario = "vit", .parameters = parameters};
}

TEST(SeriesKey, DoesNotDependOnOrderAndSpacesOfParameters) {
  const auto a = canonical(key_of(R"({"sequence":4096,"heads":8,"size":[512,512]})"));
  const auto b = canonical(key_of("{ \"size\": [512, 512],\n \"heads\": 8, \"sequence\": 4096 }"));
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.parameters, R"({"heads":8,"sequence":4096,"size":[512,512]})");
  EXPECT_EQ(hash_of(a), hash_of(b));
}

TEST(SeriesKey, IsAnotherOneWhenAnyFieldDiffers) {
  const SeriesKey base = canonical(key_of("{}"));
  std::vector<SeriesKey> others(8, base);
  others[0].scenario = "ring";
  others[1].parameters = R"({"a":1})";
  others[2].dtype = "float64";
  others[3].train = true;
  others[4].mesh = "domain=2";
  others[5].execution = Execution::cuda;
  others[6].machine = "dgx-h100";
  others[7].profile = "pytorch";
  const std::vector<std::string> names = {"scenario", "parameters", "dtype",   "train",
                                          "mesh",     "execution",  "machine", "profile"};
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_NE(hash_of(others[i]), hash_of(base)) << names[i];
    EXPECT_EQ(differences(fields_of(base), fields_of(others[i])), std::vector{names[i]});
  }
}

TEST(SeriesKey, TextTellsApartWhatAPlainSeparatorWouldMix) {
  SeriesKey a = key_of("{}"), b = key_of("{}");
  a.machine = "x\",\"y";
  a.profile = "z";
  b.machine = "x";
  b.profile = "y\",\"z";
  EXPECT_NE(text_of(a), text_of(b));
}

TEST(SeriesKey, RefusesParametersThatAreNoObject) {
  for (const char* bad : {"", "[1]", "3", "{\"a\":}", "{\"a\":1e999}", "{\"a\":NaN}", "{} x"}) {
    const Error error = error_of([&] { static_cast<void>(canonical(key_of(bad))); });
    EXPECT_EQ(error.fault(), Fault::invalid) << bad;
    EXPECT_TRUE(contains(error.what(), "parameters: expected a JSON object")) << error.what();
  }
}

TEST(SeriesKey, RefusesAParameterGivenTwice) {
  const Error error =
      error_of([] { static_cast<void>(canonical(key_of(R"({"a":{"b":1,"c":{"b":1},"b":2}})"))); });
  EXPECT_EQ(error.fault(), Fault::invalid);
  EXPECT_TRUE(contains(error.what(), "key 'b' appears twice")) << error.what();
  EXPECT_NO_THROW(canonical(key_of(R"({"a":{"b":1},"b":{"a":1},"c":[{"a":1},{"a":2}]})")));
}

TEST(SeriesKey, RefusesNoScenarioAndMisplacedMachines) {
  EXPECT_EQ(error_of([] { static_cast<void>(canonical({})); }).fault(), Fault::invalid);
  SeriesKey key = key_of("{}");
  key.machine = "dgx-h100:8";
  EXPECT_EQ(error_of([&] { static_cast<void>(canonical(key)); }).fault(), Fault::invalid);
  key.execution = Execution::predict;
  EXPECT_NO_THROW(canonical(key));
  key.machine.clear();
  EXPECT_EQ(error_of([&] { static_cast<void>(canonical(key)); }).fault(), Fault::invalid);
  key.execution = Execution::published;
  EXPECT_NO_THROW(canonical(key));
}

TEST(SeriesKey, CurvesDifferFromTheirPointsByTheMeshOnly) {
  SeriesKey one = key_of("{}"), two = key_of("{}");
  two.mesh = "data=2,domain=4";
  EXPECT_NE(one, two);
  EXPECT_EQ(without_mesh(one), without_mesh(two));
}

TEST(SeriesKey, IsWeakWhereParametersSaySo) {
  EXPECT_TRUE(is_weak(key_of(R"({"scaling":"weak"})")));
  EXPECT_FALSE(is_weak(key_of(R"({"scaling":"strong"})")));
  EXPECT_FALSE(is_weak(key_of("{}")));
  EXPECT_FALSE(is_weak(key_of("not JSON")));
}

TEST(Mesh, RanksAreTheProductOfItsAxes) {
  EXPECT_EQ(ranks_of("domain=1"), 1);
  EXPECT_EQ(ranks_of("data=2,domain=4,head=3"), 24);
}

TEST(Mesh, RefusesWhatIsMalformed) {
  for (const char* bad : {"", "domain", "domain=", "=2", "domain=0", "domain=-1", "domain=2,",
                          ",domain=2", "domain=2x", "domain=2,,data=2", "domain=1.5",
                          "domain=2,domain=2", "domain=99999999999999999999", "a=65536,b=65536"}) {
    const Error error = error_of([&] { static_cast<void>(ranks_of(bad)); });
    EXPECT_EQ(error.fault(), Fault::invalid) << bad;
    EXPECT_TRUE(contains(error.what(), std::string("mesh '") + bad)) << error.what();
  }
}

TEST(Execution, NamesLeadBack) {
  for (const auto execution :
       {Execution::cpu, Execution::cuda, Execution::predict, Execution::published})
    EXPECT_EQ(execution_from(name_of(execution)), execution);
  const Error error = error_of([] { static_cast<void>(execution_from("tpu")); });
  EXPECT_EQ(error.fault(), Fault::invalid);
  EXPECT_STREQ(error.what(),
               "execution: expected one of cpu, cuda, predict, published; found 'tpu'");
}

TEST(EnvironmentKey, SurvivesItsText) {
  const EnvironmentKey key{.processor = "8 x \"H100\"\n\xc3\xa9",
                           .isa = "AVX3_ZEN4",
                           .build_type = "Release",
                           .compiler = "GNU 12.2.0",
                           .libraries = {{"onednn", "2.6.3"}, {"nccl", "2.28"}},
                           .topology = "2 sockets"};
  EXPECT_EQ(environment_from(text_of(key)), key);
  EXPECT_EQ(error_of([] { static_cast<void>(environment_from("{}")); }).fault(), Fault::external);
}

TEST(EnvironmentKey, IsAnotherOneWhenAnyFieldDiffers) {
  const EnvironmentKey base;
  std::vector<EnvironmentKey> others(6);
  others[0].processor = "x";
  others[1].isa = "x";
  others[2].build_type = "x";
  others[3].compiler = "x";
  others[4].libraries["x"] = "1";
  others[5].topology = "x";
  const std::vector<std::string> names = {"processor", "isa",       "build_type",
                                          "compiler",  "libraries", "topology"};
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_NE(hash_of(others[i]), hash_of(base));
    EXPECT_EQ(differences(fields_of(base), fields_of(others[i])), std::vector{names[i]});
  }
}

}  // namespace
}  // namespace shardlab::results
