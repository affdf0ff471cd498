#include "engine/sim/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "engine/sim/machines.h"
#include "engine/sim/sheet.h"
#include "tests/engine/sim/machine_case.h"

namespace shardlab::sim {
namespace {

namespace fs = std::filesystem;

/// A folder of machine files that goes with the test.
class Folder {
 public:
  Folder() : path_(fs::path(testing::TempDir()) / fs::path("machines-" + name())) {
    fs::remove_all(path_);
    fs::create_directories(path_ / "deeper");
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string write(const std::string& file, const std::string& text) const {
    std::ofstream(path_ / file) << text;
    return (path_ / file).string();
  }
  std::string path() const { return path_.string(); }

 private:
  static std::string name() {
    return testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  fs::path path_;
};

std::string error_of_machine(const std::string& name) {
  try {
    (void)find_machine(name);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Sheet, EveryPathIsThereOnceWithOneSentence) {
  std::set<std::string_view> paths;
  for (const KnownNumber& known : known_numbers()) {
    EXPECT_TRUE(paths.insert(known.path).second) << known.path;
    EXPECT_TRUE(known.text.ends_with('.')) << known.path;
    EXPECT_EQ(find_number(known.path), &known);
  }
  for (const KnownWord& known : known_words()) {
    EXPECT_TRUE(paths.insert(known.path).second) << known.path;
    EXPECT_TRUE(known.text.ends_with('.')) << known.path;
    EXPECT_EQ(find_word(known.path), &known);
  }
  EXPECT_EQ(find_number("gpu.memry"), nullptr);
}

TEST(Sheet, AWordIsAmongWordsOnlyAsAWhole) {
  EXPECT_TRUE(among("roce", "infiniband roce efa"));
  EXPECT_FALSE(among("roc", "infiniband roce efa"));
  EXPECT_FALSE(among("", "infiniband roce efa"));
}

TEST(BuiltInMachines, AreTheseAndEachIsFoundByItsName) {
  std::vector<std::string> names;
  for (const BuiltInMachine& each : built_in_machines()) names.emplace_back(each.name);
  const std::vector<std::string> expected{"dgx-a100", "dgx-b200",    "dgx-h100",
                                          "dgx-h200", "gb200-nvl72", "gb300-nvl72",
                                          "mi300x-8", "pcie-h100",   "slow-ethernet"};
  EXPECT_EQ(names, expected);
  for (const std::string& name : names) EXPECT_EQ(find_machine(name).name, name);
}

TEST(BuiltInMachines, EachHoldsEveryRequiredPathAndSaysWhereEachNumberComesFrom) {
  for (const BuiltInMachine& each : built_in_machines()) {
    const Machine machine = find_machine(each.name);
    EXPECT_EQ(missing(machine), std::vector<std::string>{}) << each.name;
    for (const auto& [path, number] : machine.numbers)
      EXPECT_NE(number.from, "") << each.name << ' ' << path;
    for (const Curve& curve : machine.curves)
      EXPECT_NE(curve.from, "") << each.name << ' ' << name_of(curve.family);
  }
}

TEST(BuiltInMachines, EachHasACurveOfEveryFamilyAndOfEveryPrecisionThatModelsRunIn) {
  const auto has = [](const Machine& machine, Family family, Precision precision) {
    Curve subject;
    subject.family = family;
    subject.precision = precision;
    return std::any_of(machine.curves.begin(), machine.curves.end(),
                       [&](const Curve& curve) { return same_subject(curve, subject); });
  };
  for (const BuiltInMachine& each : built_in_machines()) {
    const Machine machine = find_machine(each.name);
    EXPECT_TRUE(has(machine, Family::pointwise, {})) << each.name;
    EXPECT_TRUE(has(machine, Family::matmul, {Dtype::float32, MathMode::tf32})) << each.name;
    for (const Dtype dtype : {Dtype::float32, Dtype::bfloat16, Dtype::float16})
      for (const Family family : {Family::matmul, Family::attention, Family::attention_gradient})
        EXPECT_TRUE(has(machine, family, {dtype, MathMode::exact}))
            << each.name << ' ' << name_of(family) << ' ' << name_of(dtype);
  }
}

TEST(BuiltInMachines, NoRateIsAboveThePeakThatBoundsIt) {
  for (const BuiltInMachine& each : built_in_machines()) {
    const Machine machine = find_machine(each.name);
    for (const Curve& curve : machine.curves)
      for (const auto& [size, rate] : curve.points)
        EXPECT_LE(rate, machine.value(peak_path(curve.family, curve.precision)))
            << each.name << ' ' << name_of(curve.family) << " at " << size;
  }
}

TEST(BuiltInMachines, LargerKernelsTakeLonger) {
  for (const BuiltInMachine& each : built_in_machines())
    for (const Curve& curve : find_machine(each.name).curves)
      for (std::size_t i = 1; i < curve.points.size(); ++i) {
        const auto& [size, rate] = curve.points[i];
        const auto& [size_before, rate_before] = curve.points[i - 1];
        EXPECT_GT(size / rate, size_before / rate_before)
            << each.name << ' ' << name_of(curve.family) << " at " << size;
      }
}

TEST(BuiltInMachines, UnitsAreConverted) {
  const Machine h100 = find_machine("dgx-h100");
  EXPECT_EQ(h100.value("gpu.memory"), 81559.0 * 1024 * 1024);
  EXPECT_EQ(h100.value("gpu.peak.bfloat16"), 989e12);
  EXPECT_EQ(h100.value("nic.bandwidth"), 50e9);
  EXPECT_EQ(h100.word("fabric.kind"), "infiniband");
  const Machine gb200 = find_machine("gb200-nvl72");
  EXPECT_EQ(gb200.value("nvlink.domain"), 72);
  EXPECT_EQ(gb200.value("host.gpus"), 4);
}

TEST(BuiltInMachines, ACollectiveIsKeptInSecondsAndOnlyWhereItWasMeasured) {
  // 16 GiB at 482.26 GB/s of bus bandwidth on 8 ranks: 17179869184 * 7/4 / 482.26e9 s.
  const Machine h200 = find_machine("dgx-h200");
  ASSERT_EQ(h200.collectives.size(), 1U);
  EXPECT_EQ(h200.collectives[0].points.back().first, 17179869184.0);
  EXPECT_NEAR(h200.collectives[0].points.back().second, 0.062342, 1e-5);
  // GB200 has other hosts and another domain than DGX B200, which it extends.
  EXPECT_EQ(find_machine("dgx-b200").collectives.size(), 1U);
  EXPECT_EQ(find_machine("gb200-nvl72").collectives.size(), 0U);
}

TEST(BuiltInMachines, AnUnknownNameNamesTheNearest) {
  EXPECT_EQ(error_of_machine("dgx-h10"),
            "unknown machine 'dgx-h10': did you mean 'dgx-h100'? Known are dgx-a100, dgx-b200, "
            "dgx-h100, dgx-h200, gb200-nvl72, gb300-nvl72, mi300x-8, pcie-h100, slow-ethernet, and "
            "files as in "
            "./my.toml");
}

TEST(MachineFiles, AUsersFileExtendsABuiltInMachineAndIsNamedByItself) {
  const Folder folder;
  const std::string path = folder.write("dgx-h100.toml",
                                        "extends = \"dgx-h100\"\n"
                                        "host.gpus = { value = 4, source = \"vendor\" }\n");
  const Machine machine = find_machine(path);
  EXPECT_EQ(machine.name, "dgx-h100");
  EXPECT_EQ(machine.value("host.gpus"), 4);
  EXPECT_EQ(machine.value("nvlink.domain"), 8);
}

TEST(MachineFiles, AFileIsFoundFromWhereTheOneThatExtendsItLies) {
  const Folder folder;
  folder.write("base.toml", small_machine());
  const std::string path =
      folder.write("deeper/mine.toml", "extends = \"../base.toml\"\nhost.cpu = \"arm\"\n");
  EXPECT_EQ(find_machine(path).word("host.cpu"), "arm");
}

TEST(MachineFiles, FilesThatExtendEachOtherAreNamed) {
  const Folder folder;
  folder.write("a.toml", "extends = \"b.toml\"\n");
  folder.write("b.toml", "extends = \"./deeper/../a.toml\"\n");
  const std::string error = error_of_machine(folder.path() + "/a.toml");
  EXPECT_NE(error.find("machine files extend each other"), std::string::npos) << error;
  EXPECT_NE(error.find("b.toml"), std::string::npos) << error;
}

TEST(MachineFiles, WhatCannotBeReadIsNamed) {
  const Folder folder;
  const std::string absent = folder.path() + "/absent.toml";
  EXPECT_EQ(error_of_machine(absent), absent + ": no machine file there");
  EXPECT_EQ(error_of_machine(folder.path() + "/"),
            folder.path() + "/: a folder, not a machine file");
  const std::string noise = folder.write("noise.toml", std::string(10 << 20, '\xff'));
  EXPECT_NE(error_of_machine(noise).find("10485760 bytes; a machine file has at most 1048576"),
            std::string::npos);
}

TEST(Machine, WhatItLacksIsNamedWithItsMeaning) {
  const Machine machine = machine_of("extends = \"small\"\n");
  try {
    (void)machine.number("gpu.cache");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::invalid);
    EXPECT_STREQ(error.what(), "machine my has no gpu.cache: Last-level cache.");
  }
  try {
    (void)machine.word("fabric.colour");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::internal);
  }
}

TEST(Machine, AProcessorNeedsNoNetworkAndAGpuDoes) {
  Machine machine = machine_of(small_machine());
  EXPECT_TRUE(missing(machine).empty());
  machine.words["gpu.arch"] = "sm90";
  const std::vector<std::string> paths = missing(machine);
  EXPECT_NE(std::find(paths.begin(), paths.end(), "fabric.kind"), paths.end());
  EXPECT_NE(std::find(paths.begin(), paths.end(), "nccl.buffer"), paths.end());
}

const std::string base_curves = small_machine() + R"(
[[curve]]
family = "matmul"
dtype = ["float32", "bfloat16"]
unit = ["GFLOP", "GFLOP/s"]
points = [[1, 80], [10, 90]]
source = "public_measured"
from = "a log"

[[collective]]
collective = "all_reduce"
ranks = 8
hosts = 1
unit = ["MB", "us"]
points = [[1, 100]]
source = "public_measured"

[[collective]]
collective = "all_reduce"
ranks = 16
hosts = 2
unit = ["MB", "us"]
points = [[1, 200]]
source = "public_measured"
)";

Machine on_curves(const std::string& lines) {
  return read_machine({"my", "my.toml", "extends = \"base\"\n" + lines},
                      [](std::string_view, const MachineText&) {
                        return MachineText{"base", "base.toml", base_curves};
                      });
}

TEST(Machine, AnInheritedCurveFollowsItsPeakAndIsDerivedThen) {
  // Peak 100 -> 150 GFLOP/s: 80 -> 120 GFLOP/s; the other precision stays as it was.
  const Machine machine =
      on_curves("gpu.peak.float32 = { value = 150, unit = \"GFLOP/s\", source = \"vendor\" }\n");
  ASSERT_EQ(machine.curves.size(), 2U);
  EXPECT_DOUBLE_EQ(machine.curves[0].points[0].second, 120e9);
  EXPECT_EQ(machine.curves[0].source, Source::derived);
  EXPECT_EQ(machine.curves[0].from, "a log, times 1.5 as gpu.peak.float32");
  EXPECT_EQ(machine.curves[0].half_width, 0.20);
  EXPECT_DOUBLE_EQ(machine.curves[1].points[0].second, 80e9);
  EXPECT_EQ(machine.curves[1].source, Source::public_measured);
}

TEST(Machine, ACurveReplacesTheInheritedOnesOfItsFamilyAndPrecision) {
  const Machine machine = on_curves(
      "[[curve]]\nfamily = \"matmul\"\ndtype = \"float32\"\nunit = [\"GFLOP\", \"GFLOP/s\"]\n"
      "points = [[5, 99]]\nsource = \"user_measured\"\n");
  ASSERT_EQ(machine.curves.size(), 2U);
  EXPECT_EQ(machine.curves[0].source, Source::user_measured);
  EXPECT_EQ(machine.curves[0].points.size(), 1U);
  EXPECT_EQ(machine.curves[1].precision.dtype, Dtype::bfloat16);
}

TEST(Machine, ACollectiveIsNotInheritedOverOtherWires) {
  EXPECT_EQ(on_curves("").collectives.size(), 2U);
  const Machine network = on_curves("nic.count = { value = 1, source = \"vendor\" }\n");
  ASSERT_EQ(network.collectives.size(), 1U);
  EXPECT_EQ(network.collectives[0].hosts, 1);
  const Machine domain = on_curves("nvlink.domain = { value = 8, source = \"vendor\" }\n");
  EXPECT_EQ(domain.collectives.size(), 0U);
}

}  // namespace
}  // namespace shardlab::sim
