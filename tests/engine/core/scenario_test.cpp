#include "engine/core/scenario.h"

#include <gtest/gtest.h>

#include "engine/core/error.h"

namespace shardlab {
namespace {

template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

Params with(const std::string& value) {
  Params params;
  params.set("size", value);
  return params;
}

TEST(Params, ReadsWholeNumbersNumbersAndSizes) {
  EXPECT_EQ(with("4096").integer("size"), 4096);
  EXPECT_EQ(with("0.5").number("size"), 0.5);
  EXPECT_EQ(with("512x256").sizes("size"), (std::vector<std::int64_t>{512, 256}));
}

TEST(Params, AValueOfAnotherKindIsNamedWithItsFlag) {
  EXPECT_EQ(error_of([] { (void)with("12a").integer("size"); }),
            "--size: expected a whole number, found '12a'");
  EXPECT_EQ(error_of([] { (void)with("").integer("size"); }),
            "--size: expected a whole number, found ''");
  EXPECT_EQ(error_of([] { (void)with("x").number("size"); }),
            "--size: expected a number, found 'x'");
  for (const char* text : {"512x", "0x4", "-1x4", "512,4", ""})
    EXPECT_EQ(error_of([text] { (void)with(text).sizes("size"); }),
              std::string("--size: expected sizes such as 512x512, found '") + text + "'");
}

Scenario named(const std::string& name) {
  Scenario scenario;
  scenario.name = name;
  scenario.params = {{"size", "", "3", "2", "1"}};
  return scenario;
}

TEST(Scenario, APresetFillsEveryParameter) {
  EXPECT_EQ(named("a").preset("paper").integer("size"), 3);
  EXPECT_EQ(named("a").preset("small").integer("size"), 2);
  EXPECT_EQ(named("a").preset("tiny").integer("size"), 1);
  EXPECT_EQ(error_of([] { (void)named("a").preset("huge"); }),
            "unknown preset 'huge': known are paper, small, tiny");
}

TEST(Scenarios, AnUnknownNameIsAnsweredWithTheNearest) {
  Scenarios scenarios;
  scenarios.add(named("vit"));
  scenarios.add(named("ring_attention"));
  EXPECT_EQ(scenarios.find("vit").name, "vit");
  EXPECT_EQ(error_of([&] { (void)scenarios.find("ring_atention"); }),
            "unknown scenario 'ring_atention': did you mean 'ring_attention'? Known are "
            "ring_attention, vit");
  EXPECT_THROW(scenarios.add(named("vit")), Error);
}

TEST(Nearest, CountsInsertedRemovedAndChangedLetters) {
  EXPECT_EQ(nearest("sequnce", {"heads", "sequence", "batch"}), "sequence");
  EXPECT_EQ(nearest("hed", {"heads", "sequence", "batch"}), "heads");
  EXPECT_EQ(nearest("", {"abc", "de"}), "de");
  EXPECT_EQ(nearest("x", {}), "");
}

}  // namespace
}  // namespace shardlab
