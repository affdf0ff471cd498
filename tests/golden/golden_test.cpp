#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/golden/families.h"

namespace shardlab::golden {
namespace {

namespace fs = std::filesystem;

const fs::path folder = SHARDLAB_GOLDEN_DIR;
const fs::path shared = fs::path(SHARDLAB_SOURCE_DIR).parent_path() / "shared" / "golden";

Absent absent() { return Absent(folder / "absent.txt"); }

std::set<std::string> ops_with(const fs::path& where, const char* extension) {
  std::set<std::string> ops;
  for (const fs::directory_entry& entry : fs::directory_iterator(where))
    if (entry.path().extension() == extension) ops.insert(entry.path().stem().string());
  return ops;
}

std::set<std::string> ops_of_families() {
  std::set<std::string> ops;
  for (const Family& family : families()) ops.insert(family.op);
  return ops;
}

class Golden : public testing::TestWithParam<Family> {};

TEST_P(Golden, EveryCaseHasItsValuesAndTheNumbersRunAndSkippedAreThoseOfTheTable) {
  const Family& family = GetParam();
  const Absent listed = absent();
  int run = 0;
  int skipped = 0;
  for (const Case& golden : read_cases(folder, family.op)) {
    const Verdict verdict = judge(family, golden, listed);
    run += verdict.kind == Verdict::Kind::run ? 1 : 0;
    skipped += verdict.kind == Verdict::Kind::skipped ? 1 : 0;
    for (const std::string& reason : verdict.reasons) {
      if (verdict.kind == Verdict::Kind::failed) ADD_FAILURE() << reason;
    }
  }
  EXPECT_EQ(run, family.run);
  EXPECT_EQ(skipped, family.skipped);
}

INSTANTIATE_TEST_SUITE_P(Of, Golden, testing::ValuesIn(families()),
                         [](const auto& info) { return std::string(info.param.op); });

TEST(GoldenFolder, HoldsTwoFilesOfEveryFamilyAndNoOther) {
  EXPECT_EQ(ops_with(folder, ".json"), ops_of_families());
  EXPECT_EQ(ops_with(folder, ".safetensors"), ops_of_families());
}

TEST(GoldenFolder, ListsNothingAsAbsentThatIsThereOrThatNoCaseAsksFor) {
  const Absent listed = absent();
  std::set<std::string> asked;
  for (const Family& family : families()) {
    EXPECT_FALSE(listed.has(family.op)) << family.op << " is there and listed as absent";
    for (const Case& golden : read_cases(folder, family.op))
      for (const std::string& attribute : special_attributes(golden))
        asked.insert(golden.op + " " + attribute);
  }
  for (const std::string& line : listed.lines()) {
    const bool of_attribute = line.find(' ') != std::string::npos;
    EXPECT_EQ(asked.count(line) != 0, of_attribute) << "no case asks for '" << line << "'";
  }
}

TEST(GoldenFolder, HasOrListsAsAbsentEveryOpOfTheSetThatItWasCopiedFrom) {
  if (!fs::is_directory(shared)) GTEST_SKIP() << "no " << shared << " to compare with";
  const Absent listed = absent();
  const std::set<std::string> all = ops_with(shared, ".json");
  const std::set<std::string> here = ops_with(folder, ".json");
  for (const std::string& op : all)
    EXPECT_NE(here.count(op) != 0, listed.has(op)) << op << " is neither here nor listed, or both";
  for (const std::string& line : listed.lines()) {
    if (line.find(' ') != std::string::npos) continue;
    EXPECT_EQ(all.count(line), 1U) << "'" << line << "' is listed and not in the set";
  }
}

TEST(GoldenFolder, HoldsTheFilesOfTheSetAsTheyAreThere) {
  if (!fs::is_directory(shared)) GTEST_SKIP() << "no " << shared << " to compare with";
  const auto bytes = [](const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  for (const std::string& op : ops_with(folder, ".json"))
    for (const char* extension : {".json", ".safetensors"}) {
      const std::string file = op + extension;
      EXPECT_TRUE(bytes(folder / file) == bytes(shared / file)) << file << " differs";
    }
}

}  // namespace
}  // namespace shardlab::golden
