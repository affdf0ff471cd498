#include "tools/machine_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/core/dtype.h"
#include "engine/sim/machines.h"
#include "engine/sim/profile.h"
#include "tools/noted_table.h"

namespace shardlab::test {
namespace {

using Json = nlohmann::json;
using sim::Dimension;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Without line breaks and runs of spaces, as texts that wrap read.
std::string words_of(const std::string& text) {
  std::istringstream stream(text);
  std::string words, each;
  while (stream >> each) words += " " + each;
  return words;
}

void expect_lines_fit(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
}

TEST(MachineText, QuantitiesAreShownInTheUnitThatPeopleRead) {
  EXPECT_EQ(show_quantity(Dimension::bytes, 80.0 * (1 << 30)), "80 GiB");
  EXPECT_EQ(show_quantity(Dimension::bytes_per_second, 3.35e12), "3.35 TB/s");
  EXPECT_EQ(show_quantity(Dimension::bytes_per_second, 5e10), "50 GB/s");
  EXPECT_EQ(show_quantity(Dimension::flop_per_second, 989e12), "989 TFLOP/s");
  EXPECT_EQ(show_quantity(Dimension::flop, 524288), "524 kFLOP");
  EXPECT_EQ(show_quantity(Dimension::seconds, 1.5e-6), "1.5 us");
  EXPECT_EQ(show_quantity(Dimension::seconds, 2.5e-7), "250 ns");
  EXPECT_EQ(show_quantity(Dimension::seconds, 0), "0 s");
  EXPECT_EQ(show_quantity(Dimension::hertz, 1.83e9), "1.83 GHz");
  EXPECT_EQ(show_quantity(Dimension::watts, 1000), "1000 W");
  EXPECT_EQ(show_quantity(Dimension::count, 132), "132");
}

// 1000 and 5 % of it either side; 989 and a quarter reaches into the next unit.
TEST(MachineText, IntervalsHaveTheUnitOfTheirUpperEnd) {
  EXPECT_EQ(show_quantity_range(Dimension::watts, 1000, 0.05), "950 .. 1050 W");
  EXPECT_EQ(show_quantity_range(Dimension::flop_per_second, 989e12, 0.25), "0.742 .. 1.24 PFLOP/s");
  EXPECT_EQ(show_quantity_range(Dimension::count, 8, 0), "8 .. 8");
}

TEST(MachineText, EveryNumberOfEveryMachineIsThereWithSourceAndOrigin) {
  for (const sim::BuiltInMachine& each : sim::built_in_machines()) {
    const sim::Machine machine = sim::find_machine(each.name);
    const std::string text = machine_text(machine);
    expect_lines_fit(text);
    for (const auto& [path, number] : machine.numbers) {
      const std::size_t at = text.find("\n" + path + " ");
      ASSERT_NE(at, std::string::npos) << each.name << " " << path;
      const std::string line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
      EXPECT_TRUE(has(line, name_of(number.source))) << line;
      EXPECT_TRUE(has(line, " .. ")) << line;
      EXPECT_TRUE(has(line, number.from.substr(0, number.from.find(' ')))) << line;
    }
    for (const auto& [path, word] : machine.words) EXPECT_TRUE(has(text, word)) << path;
  }
}

/// A machine with one point in each kind of curve.
sim::Machine small_machine() {
  sim::Machine machine;
  machine.name = "mine";
  machine.words["gpu.name"] = "toy";
  machine.numbers["gpu.peak.bfloat16"] = {4e12, sim::Source::vendor, "a sheet", 0.25};
  sim::Curve curve;
  curve.family = sim::Family::matmul;
  curve.precision = parse_precision("bfloat16");
  curve.points = {{1e9, 1e12}, {1e12, 3e12}};
  curve.source = sim::Source::user_measured;
  curve.from = "my own log";
  curve.half_width = 0.05;
  machine.curves.push_back(curve);
  curve.precision = parse_precision("float16");
  machine.curves.push_back(curve);
  machine.collectives.push_back(
      {"all_reduce", 8, 1, {{1048576, 1e-4}}, sim::Source::public_measured, "a log", 0.1});
  return machine;
}

TEST(MachineText, CurvesAreTablesOnceForAllDtypesThatShareThem) {
  const std::string text = machine_text(small_machine());
  EXPECT_TRUE(has(text, "matmul, bfloat16, float16\n")) << text;
  const std::string words = words_of(text);
  EXPECT_TRUE(has(words, "1.00 GFLOP 1 TFLOP/s 25.0 % +-5 % user_measured my own log")) << words;
  EXPECT_TRUE(has(words, "1.00 TFLOP 3 TFLOP/s 75.0 %")) << words;
}

// 1 MiB in 100 us are 10.49 GB/s.
TEST(MachineText, CollectivesAreTablesOfTimes) {
  const std::string text = machine_text(small_machine());
  EXPECT_TRUE(has(text, "all_reduce, 8 ranks on 1 host\n")) << text;
  EXPECT_TRUE(has(words_of(text), "1 MiB 100 us 10.49 GB/s +-10 % public_measured a log")) << text;
}

TEST(MachineText, JsonHoldsEverythingInSiUnits) {
  const Json json = Json::parse(machine_json(small_machine()));
  EXPECT_EQ(json["name"], "mine");
  EXPECT_EQ(json["words"]["gpu.name"], "toy");
  const Json& peak = json["numbers"]["gpu.peak.bfloat16"];
  EXPECT_EQ(peak["value"], 4e12);
  EXPECT_EQ(peak["unit"], "FLOP/s");
  EXPECT_EQ(peak["low"], 3e12);
  EXPECT_EQ(peak["high"], 5e12);
  EXPECT_EQ(peak["source"], "vendor");
  EXPECT_EQ(peak["from"], "a sheet");
  ASSERT_EQ(json["curves"].size(), 2U);
  EXPECT_EQ(json["curves"][1]["dtype"], "float16");
  EXPECT_EQ(json["curves"][0]["points"][1][1], 3e12);
  EXPECT_EQ(json["collectives"][0]["unit"], (Json{"B", "s"}));
}

TEST(MachineText, ListsNameEveryMachineAndProfile) {
  const std::string machines = machines_text();
  const Json json = Json::parse(machines_json());
  expect_lines_fit(machines);
  ASSERT_EQ(json.size(), sim::built_in_machines().size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    EXPECT_EQ(json[i]["name"], sim::built_in_machines()[i].name);
    EXPECT_TRUE(has(machines, sim::built_in_machines()[i].name));
  }
  const std::string profiles = profiles_text();
  expect_lines_fit(profiles);
  EXPECT_EQ(Json::parse(profiles_json()).size(), sim::profiles().size());
  for (const sim::Profile& profile : sim::profiles())
    EXPECT_TRUE(has(profiles, profile.name + ": " + profile.about)) << profile.name;
}

TEST(NotedTable, LongNotesWrapAndLoseNoWord) {
  NotedTable table({"number", "value", "from"});
  std::string note;
  for (int i = 0; i < 60; ++i) note += (i == 0 ? "word" : " word") + std::to_string(i);
  table.rows({{"a", "1"}, {"b", "2"}}, note);
  table.rows({{"c", "3"}}, std::string(200, 'x'));
  const std::string text = table.text();
  expect_lines_fit(text);
  EXPECT_TRUE(has(words_of(text), " a 1 word0 ")) << text;
  EXPECT_TRUE(has(words_of(text), " word58 word59 c 3 xxx")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), 'x'), 200);
}

}  // namespace
}  // namespace shardlab::test
