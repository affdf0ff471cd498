#include "engine/sim/machine_toml.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "engine/sim/unit.h"
#include "tests/engine/sim/machine_case.h"

namespace shardlab::sim {
namespace {

/// Cases of a line and what is wrong with it; the line stands second, under `extends`.
void expect_errors(const std::vector<std::pair<std::string, std::string>>& cases) {
  for (const auto& [lines, error] : cases)
    EXPECT_EQ(error_of("extends = \"small\"\n" + lines), error) << lines;
}

std::string curve_of(const std::string& points) {
  return "[[curve]]\nfamily = \"matmul\"\ndtype = \"float32\"\nunit = [\"FLOP\", \"FLOP/s\"]\n" +
         points + "source = \"vendor\"\n";
}

TEST(MachineToml, FourLinesMakeAMachineOfOnesOwn) {
  const Machine machine = machine_of(R"(extends = "small"
name = "two sockets"
host.gpus = { value = 2, source = "user_measured" }
gpu.memory_bandwidth = { value = 12.5, unit = "GB/s", source = "user_measured", from = "a run" })");
  EXPECT_EQ(machine.name, "two sockets");
  EXPECT_EQ(machine.value("host.gpus"), 2);
  EXPECT_EQ(machine.number("gpu.memory_bandwidth"),
            (Quantity{12.5e9, Source::user_measured, "a run", 0.05}));
  EXPECT_EQ(machine.value("gpu.memory"), 8.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(machine.word("gpu.name"), "one core");
}

TEST(MachineToml, WhereNoHalfWidthIsGivenTheSourceDecides) {
  const auto half_width = [](const std::string& rest) {
    return machine_of("extends = \"small\"\ngpu.cache = { value = 1, unit = \"MB\", " + rest + " }")
        .number("gpu.cache")
        .half_width;
  };
  EXPECT_EQ(half_width("source = \"user_measured\""), 0.05);
  EXPECT_EQ(half_width("source = \"public_measured\""), 0.10);
  EXPECT_EQ(half_width("source = \"derived\""), 0.20);
  EXPECT_EQ(half_width("source = \"vendor\""), 0.25);
  EXPECT_EQ(half_width("source = \"vendor\", half_width = 0.5"), 0.5);
}

TEST(MachineToml, EveryUnitIsReadIntoTheSiUnitOfItsDimension) {
  EXPECT_EQ(find_unit("Gbit/s")->factor, 125e6);
  EXPECT_EQ(find_unit("MiB")->factor, 1048576);
  for (const Unit& unit : units()) {
    EXPECT_EQ(si_unit(unit.dimension).factor, 1) << unit.name;
    EXPECT_EQ(find_unit(unit.name), &unit);
  }
}

TEST(MachineToml, AnUnknownWordNamesTheNearestWithFileAndLine) {
  expect_errors({
      {"\ngpu.memry = 1", "my.toml:3: unknown word 'gpu.memry': did you mean 'gpu.memory'?"},
      {"[gpu]\nlaunc = 1", "my.toml:3: unknown word 'gpu.launc': did you mean 'gpu.launch'?"},
      {"nam = \"x\"", "my.toml:2: unknown word 'nam': did you mean 'name'?"},
      {"\"gpu.launch\" = 1", "my.toml:2: a key in quotes holds a dot"},
      {"gpu.arch = \"sm91\"", "my.toml:2: gpu.arch: unknown word 'sm91': did you mean 'sm90'?"},
      {"gpu." + std::string(1000, 'x') + " = 1", "my.toml:2: unknown word 'gpu." +
                                                     std::string(56, 'x') +
                                                     "...': did you mean 'gpu.context'?"},
      {"gpu.cache = { valu = 1 }",
       "my.toml:2: gpu.cache: unknown word 'valu': did you mean 'value'?"},
  });
}

TEST(MachineToml, ANumberWithoutValueUnitOrSourceIsRefused) {
  expect_errors({
      {"gpu.cache = 50",
       "my.toml:2: gpu.cache: expected a table of value, unit, source, from, half_width, found a "
       "number"},
      {"gpu.cache = { unit = \"MB\", source = \"vendor\" }",
       "my.toml:2: gpu.cache: no value given"},
      {"gpu.cache = { value = 50, source = \"vendor\" }", "my.toml:2: gpu.cache: no unit given"},
      {"gpu.cache = { value = 50, unit = \"MB\" }", "my.toml:2: gpu.cache: no source given"},
      {"gpu.cache = { value = \"50\", unit = \"MB\", source = \"vendor\" }",
       "my.toml:2: gpu.cache: value: expected a number, found a text"},
      {"gpu.cache = { value = 50, unit = 1, source = \"vendor\" }",
       "my.toml:2: gpu.cache: expected a text in quotes, found a number"},
      {"gpu.cache = { value = 50, unit = \"MB\", source = \"vender\" }",
       "my.toml:2: gpu.cache: source: unknown word 'vender': did you mean 'vendor'?"},
      {"gpu.cache = { value = 50, unit = \"MB\", source = \"\" }",
       "my.toml:2: gpu.cache: source: expected a text in quotes, found an empty one"},
  });
}

TEST(MachineToml, AUnitOfAnotherDimensionNamesTheOneExpected) {
  expect_errors({
      {"gpu.memory = { value = 3.35, unit = \"TB/s\", source = \"vendor\" }",
       "my.toml:2: gpu.memory: expected bytes, as in 'B'; found unit 'TB/s' of bytes per second"},
      {"gpu.launch = { value = 3, unit = \"MHz\", source = \"vendor\" }",
       "my.toml:2: gpu.launch: expected seconds, as in 's'; found unit 'MHz' of hertz"},
      {"gpu.memory = { value = 80, unit = \"Gb\", source = \"vendor\" }",
       "my.toml:2: gpu.memory: unit: unknown word 'Gb': did you mean 'GB'?"},
      {"host.gpus = { value = 8, unit = \"B\", source = \"vendor\" }",
       "my.toml:2: host.gpus: expected a count, as in 'count'; found unit 'B' of bytes"},
  });
}

TEST(MachineToml, ANumberOutOfRangeIsRefused) {
  expect_errors({
      {"gpu.memory = { value = -1, unit = \"B\", source = \"vendor\" }",
       "my.toml:2: gpu.memory: expected a number from 1e-12 to 1e+24 in SI units, found -1"},
      {"gpu.memory = { value = 0, unit = \"B\", source = \"vendor\" }",
       "my.toml:2: gpu.memory: expected a number from 1e-12 to 1e+24 in SI units, found 0"},
      {"gpu.launch = { value = nan, unit = \"s\", source = \"vendor\" }",
       "my.toml:2: gpu.launch: expected a number from 1e-12 to 1e+24 in SI units, found nan"},
      {"gpu.launch = { value = inf, unit = \"s\", source = \"vendor\" }",
       "my.toml:2: gpu.launch: expected a number from 1e-12 to 1e+24 in SI units, found inf"},
      {"host.gpus = { value = 1.5, source = \"vendor\" }",
       "my.toml:2: host.gpus: expected a whole number, found 1.5"},
      {"host.busy_compute = { value = 1.5, unit = \"share\", source = \"vendor\" }",
       "my.toml:2: host.busy_compute: expected a share, at most 1; found 1.5"},
      {"gpu.launch = { value = 1, unit = \"us\", source = \"vendor\", half_width = 0 }",
       "my.toml:2: gpu.launch: half_width is relative: expected more than 0, at most 10; found 0"},
  });
  EXPECT_EQ(error_of("extends = \"small\"\n"
                     "gpu.launch = { value = 0, unit = \"us\", source = \"vendor\" }"),
            "");
}

TEST(MachineToml, TextThatIsNotTomlNamesFileAndLine) {
  EXPECT_TRUE(error_of("extends = \"small\"\n\nhost.gpus = {\n").starts_with("my.toml:3: "));
  EXPECT_TRUE(error_of("a = 1\na = 2").starts_with("my.toml:2: "));
  EXPECT_TRUE(error_of("value = 3,35").starts_with("my.toml:1: "));
  EXPECT_TRUE(error_of("\xff\xfe").starts_with("my.toml:1: "));
  EXPECT_TRUE(error_of("a = " + std::string(100'000, '[')).starts_with("my.toml:1: "));
  EXPECT_TRUE(error_of("[[$curve]]").starts_with("my.toml:1: "));
  EXPECT_EQ(error_of(std::string(2 << 20, ' ')),
            "my.toml: 2097152 bytes; a machine file has at most 1048576");
}

TEST(MachineToml, WhatTheParserDoesNotHoldAgainstAFileIsRefused) {
  std::string dots = "a";
  for (int i = 0; i < 250'000; ++i) dots += " . a";
  EXPECT_EQ(error_of("\n" + dots + " = 1"), "my.toml:2: more than 32 dots in one word");
  EXPECT_EQ(error_of("[" + std::string(40, '.') + "]"), "my.toml:1: more than 32 dots in one word");
  EXPECT_EQ(error_of("x = 1\n\u00b5s = 1"), "my.toml:2: a letter beyond ASCII outside quotes");
  // Found by its fuzz target: no text begins here, so the letter is not quoted.
  EXPECT_EQ(error_of("azzB=5'o!:::::BB\xef\xb9\xbf"), "my.toml:1: a quote inside a word");
  EXPECT_EQ(error_of("F=5 a.\"~\xc4\xb6"), "my.toml:1: a quote inside a word");
  EXPECT_EQ(error_of("F=5\x02"), "my.toml:1: a control character");
  EXPECT_EQ(error_of(std::string("# \0", 3)), "my.toml:1: a control character");
  EXPECT_EQ(error_of("x = \"a\\\ny = \u00b5"), "my.toml:2: a letter beyond ASCII outside quotes");
  EXPECT_EQ(error_of("name = \"\"\"\nx\"\"\""), "my.toml:1: a text over several lines");
  EXPECT_EQ(error_of("name = '''\nx'''"), "my.toml:1: a text over several lines");
}

TEST(MachineToml, QuotesAndCommentsMayHoldAnything) {
  const std::string dots(100, '.');
  const Machine machine =
      machine_of("\xef\xbb\xbf# \u00b5 " + dots + "\n# it's \u00b5 \"\"\" " + dots +
                 "\nextends = \"small\" # \"\n"
                 "name = \"\u00b5 \\\" # " +
                 dots + "\"\ngpu.name = '" + dots + "'");
  EXPECT_EQ(machine.name, "\u00b5 \" # " + dots);
  EXPECT_EQ(machine.word("gpu.name"), dots);
}

TEST(MachineToml, WhatStandsWhereATableOrTextBelongsIsNamed) {
  expect_errors({
      {"gpu = 1", "my.toml:2: gpu: expected a table, found a number"},
      {"gpu.peak = [1]", "my.toml:2: gpu.peak: expected a table, found an array"},
      {"gpu.name = 2024-01-01",
       "my.toml:2: gpu.name: expected a text in quotes, found a date or time"},
      {"gpu.arch = true", "my.toml:2: gpu.arch: expected a text in quotes, found true or false"},
      {"curve = 1", "my.toml:2: curve: expected [[curve]], found a number"},
      {"[curve]", "my.toml:2: curve: expected [[curve]], found a table"},
  });
}

TEST(MachineToml, AnIncompleteMachineNamesWhatItLacks) {
  EXPECT_EQ(error_of("gpu.name = \"x\"\ngpu.arch = \"cpu\"\nhost.cpu = \"amd\"\n"
                     "gpu.launch = { value = 1, unit = \"us\", source = \"vendor\" }"),
            "my.toml: the machine is not complete: it has no gpu.memory, gpu.memory_bandwidth, "
            "gpu.peak.float64, gpu.peak.float32, gpu.peak.bfloat16, gpu.peak.float16, host.gpus, "
            "host.launch, nvlink.domain, nic.count");
}

TEST(MachineToml, FilesThatExtendEachOtherOrTooManyAreRefused) {
  const auto error_with = [](const FindMachine& find) -> std::string {
    try {
      (void)read_machine({"a", "a.toml", "extends = \"b\""}, find);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(error_with([](std::string_view, const MachineText& by) {
              return by.name == "a" ? MachineText{"b", "b.toml", "extends = \"a\""}
                                    : MachineText{"a", "a.toml", "extends = \"b\""};
            }),
            "a.toml: machine files extend each other: a.toml, b.toml, a.toml");
  EXPECT_EQ(error_with([](std::string_view, const MachineText& by) {
              const std::string name = by.name + "a";
              return MachineText{name, name, "extends = \"b\""};
            }),
            "aaaaaaaaaaaaaaaaa: more than 16 files extend each other");
  EXPECT_EQ(error_with({}), "a.toml:1: extends: there is nothing to extend here");
  EXPECT_EQ(error_with([](std::string_view, const MachineText&) -> MachineText {
              throw Error(Fault::external, "gone");
            }),
            "a.toml:1: gone");
  EXPECT_EQ(error_of("\nextends = 1"),
            "my.toml:2: extends: expected a text in quotes, found a number");
}

TEST(MachineToml, AFaultyCurveIsNamed) {
  expect_errors({
      {"[[curve]]", "my.toml:2: curve: no family given"},
      {"[[curve]]\nfamily = \"matmull\"",
       "my.toml:3: curve: family: unknown word 'matmull': did you mean 'matmul'?"},
      {"[[curve]]\nfamily = \"matmul\"", "my.toml:2: curve of matmul: no unit given"},
      {"[[curve]]\nfamily = \"matmul\"\nunit = [\"B\", \"FLOP/s\"]",
       "my.toml:4: curve of matmul: expected flop, as in 'FLOP'; found unit 'B' of bytes"},
      {"[[curve]]\nfamily = \"matmul\"\nunit = [\"FLOP\"]",
       "my.toml:4: curve of matmul: unit: expected two in brackets, found 1"},
      {curve_of(""), "my.toml:2: curve of matmul: no points given"},
      {curve_of("points = []\n"),
       "my.toml:6: curve of matmul: expected points as [[size, value], ...], found none"},
      {curve_of("points = [[1, 2], [3]]\n"),
       "my.toml:6: curve of matmul: points: expected two in brackets, found 1"},
      {curve_of("points = [[1, 2],\n[1, 2]]\n"),
       "my.toml:7: curve of matmul: sizes must rise, found 1 after 1"},
      {curve_of("points = [[1, 0]]\n"),
       "my.toml:6: curve of matmul: expected a number from 1e-12 to 1e+24 in SI units, found 0"},
      {curve_of("points = [[1, \"2\"]]\n"),
       "my.toml:6: curve of matmul: points: expected a number, found a text"},
      {"[[curve]]\nfamily = \"matmul\"\ndtype = \"int8\"\nunit = [\"FLOP\", \"FLOP/s\"]\n"
       "points = [[1, 1]]\nsource = \"vendor\"",
       "my.toml:4: curve of matmul: dtype: unknown word 'int8': did you mean 'tf32'?"},
      {"[[curve]]\nfamily = \"pointwise\"\ndtype = \"float32\"\nunit = [\"B\", \"B/s\"]\n"
       "points = [[1, 1]]\nsource = \"vendor\"",
       "my.toml:2: curve of pointwise: has no dtype, bytes count"},
      {"[[curve]]\nfamily = \"pointwise\"\nop = \"linear\"",
       "my.toml:4: curve of pointwise: op 'linear' is none of this family"},
  });
}

TEST(MachineToml, AFaultyCollectiveIsNamed) {
  const std::string begin = "[[collective]]\ncollective = \"all_reduce\"\n";
  expect_errors({
      {"[[collective]]\ncollective = \"allreduce\"",
       "my.toml:3: collective: unknown word 'allreduce': did you mean 'all_reduce'?"},
      {begin + "ranks = 2\nhosts = 4", "my.toml:2: curve of all_reduce: 2 ranks on 4 hosts"},
      {begin + "ranks = 2.5",
       "my.toml:4: curve of all_reduce: ranks: expected a whole number from 1 to 1000000, found "
       "2.5"},
      {begin + "ranks = 2\nhosts = 1\nunit = [\"B\", \"s\"]\npoints = [[1, 1]]\nsource = "
               "\"derived\"\nlog_ranks = [1]",
       "my.toml:9: curve of all_reduce: log_ranks: expected two numbers, as in [16, 96]"},
      {begin + "ranks = 2\nhosts = 1\nunit = [\"B\", \"FLOP\"]",
       "my.toml:6: curve of all_reduce: expected seconds, as in 's'; found unit 'FLOP' of flop"},
  });
}

TEST(MachineToml, ACollectiveInRatesIsKeptInSeconds) {
  // 4 MB at 2 GB/s: 2 ms.
  const Machine machine = machine_of(
      "extends = \"small\"\n[[collective]]\ncollective = \"all_gather\"\nranks = 2\nhosts = 1\n"
      "unit = [\"MB\", \"GB/s\"]\npoints = [[4, 2]]\nsource = \"user_measured\"\n");
  ASSERT_EQ(machine.collectives.size(), 1U);
  EXPECT_DOUBLE_EQ(machine.collectives[0].points[0].second, 2e-3);
}

TEST(MachineToml, AMachineWrittenReadsBackEqual) {
  Machine machine = machine_of(
      "extends = \"small\"\n"
      "gpu.launch = { value = 1.7, unit = \"us\", source = \"derived\", half_width = 0.3 }\n" +
      curve_of("points = [[1e9, 3.3e12], [7e9, 0.1e12]]\n") +
      "[[curve]]\nfamily = \"pointwise\"\nunit = [\"KiB\", \"GB/s\"]\npoints = [[3, 0.3]]\n"
      "source = \"derived\"\nfrom = \"a, b\"\n"
      "[[curve]]\nfamily = \"pointwise\"\nop = \"add\"\nunit = [\"KiB\", \"GB/s\"]\n"
      "points = [[3, 0.4]]\nsource = \"derived\"\n"
      "[[collective]]\ncollective = \"all_reduce\"\nranks = 8\nhosts = 2\nunit = [\"MiB\", "
      "\"us\"]\n"
      "points = [[1, 33.3], [2, 44.4]]\nsource = \"user_measured\"\nlog_ranks = [4, 16]\n");
  EXPECT_EQ(machine.collectives.at(0).log_ranks, std::pair(4, 16));
  machine.name = "quotes \" and \\ and\nlines \x01 \x7f µ";
  machine.numbers["gpu.cache"] = {1.0 / 3, Source::vendor, "tab\there", 0.1};
  EXPECT_EQ(read_machine({"other", "other.toml", to_toml(machine)}), machine) << to_toml(machine);
}

}  // namespace
}  // namespace shardlab::sim
