#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "engine/core/error.h"
#include "tests/support/golden.h"

namespace shardlab::golden {
namespace {

/// A folder of one op, gone after the test.
class GoldenFiles : public testing::Test {
 protected:
  GoldenFiles() {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("shardlab-" + std::to_string(::getpid()) + "-" + test.name());
    std::filesystem::create_directory(folder_);
    arrays(header_, data_);
    write("op.json", list_);
  }
  ~GoldenFiles() override { std::filesystem::remove_all(folder_); }

  void write(const char* name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  void arrays(const std::string& header, const std::string& data) const {
    const std::uint64_t length = header.size();
    std::string text(sizeof length, '\0');
    std::memcpy(text.data(), &length, sizeof length);
    write("op.safetensors", text + header + data);
  }

  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }

  void header_with(const std::string& from, const std::string& to) const {
    arrays(replaced(header_, from, to), data_);
  }
  void list_with(const std::string& from, const std::string& to) const {
    write("op.json", replaced(list_, from, to));
  }

  /// Reading fails and says so with all these words.
  void expect_error(Fault fault, const std::vector<std::string>& words) const {
    try {
      static_cast<void>(read_cases(folder_, "op"));
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), fault) << error.what();
      for (const std::string& word : words)
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
            << "'" << word << "' is not in '" << error.what() << "'";
    }
  }

  static std::string bytes_of(double x, double y, std::int64_t z) {
    std::string bytes(24, '\0');
    std::memcpy(bytes.data(), &x, 8);
    std::memcpy(bytes.data() + 8, &y, 8);
    std::memcpy(bytes.data() + 16, &z, 8);
    return bytes + std::string("\1\0", 2);
  }

  std::filesystem::path folder_;
  const std::string data_ = bytes_of(1.5, -std::numeric_limits<double>::infinity(), -7);
  const std::string header_ =
      R"({"x":{"dtype":"F64","shape":[2],"data_offsets":[0,16]},)"
      R"("i":{"dtype":"I64","shape":[],"data_offsets":[16,24]},)"
      R"("m":{"dtype":"U8","shape":[1,2],"data_offsets":[24,26]},)"
      R"("e":{"dtype":"F64","shape":[3,0],"data_offsets":[26,26]},"__metadata__":{"a":"b"}})";
  const std::string list_ =
      R"([{"id":"op-a","op":"op","attributes":{"dim":-1},"source":"s","note":"n",)"
      R"("inputs":{"x":{"tensor":"x","shape":[2],"dtype":"float64"},)"
      R"("mask":{"tensor":"m","shape":[1,2],"dtype":"uint8"}},)"
      R"("outputs":{"y":{"tensor":"x","shape":[2],"dtype":"float64"},)"
      R"("index":{"tensor":"i","shape":[],"dtype":"int64"},)"
      R"("nothing":{"tensor":"e","shape":[3,0],"dtype":"float64"}},)"
      R"("cotangents":{"y":{"tensor":"x","shape":[2],"dtype":"float64"}},)"
      R"("gradients":{"x":{"tensor":"x","shape":[2],"dtype":"float64"}},)"
      R"("may_refuse":true,"torch_float32_error":{"forward":1e-7,"gradient":0.0}}])";
};

TEST_F(GoldenFiles, HoldArraysOfThreeTypesAndScalarsAndNoElements) {
  const std::vector<Case> cases = read_cases(folder_, "op");
  ASSERT_EQ(cases.size(), 1U);
  const Case& c = cases[0];
  EXPECT_EQ(c.id, "op-a");
  EXPECT_EQ(c.attributes["dim"], -1);
  EXPECT_EQ(c.forward_error32, 1e-7);
  EXPECT_TRUE(c.may_refuse);
  const double minus_infinity = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(c.operand("x").values, (std::vector<double>{1.5, minus_infinity}));
  EXPECT_EQ(c.operand("mask").values, (std::vector<double>{1, 0}));
  EXPECT_EQ(c.operand("mask").kind, Array::Kind::mask);
  EXPECT_EQ(c.outputs.at("index").values, (std::vector<double>{-7}));
  EXPECT_EQ(c.outputs.at("index").shape, Shape{});
  EXPECT_EQ(c.outputs.at("nothing").shape, (Shape{3, 0}));
  EXPECT_TRUE(c.outputs.at("nothing").values.empty());
}

TEST_F(GoldenFiles, MissingFilesAreNamed) {
  std::filesystem::remove(folder_ / "op.json");
  expect_error(Fault::external, {"op.json", "cannot be read"});
  std::filesystem::remove(folder_ / "op.safetensors");
  expect_error(Fault::external, {"op.safetensors", "cannot be read"});
}

TEST_F(GoldenFiles, AFileCutShortIsRefused) {
  write("op.safetensors", "1234567");
  expect_error(Fault::invalid, {"op.safetensors", "7 bytes"});
  write("op.safetensors", std::string("\377\377\377\377\377\377\377\177{}", 10));
  expect_error(Fault::invalid, {"header of 9223372036854775807 bytes in a file of 10"});
  arrays(header_, data_.substr(0, 25));
  expect_error(Fault::invalid, {": e", "[26, 26] of 25"});
}

TEST_F(GoldenFiles, AFileWithBytesOfNoArrayIsRefused) {
  arrays(header_, data_ + "x");
  expect_error(Fault::invalid, {"26 bytes of arrays in 27 bytes of data"});
}

TEST_F(GoldenFiles, AHeaderThatIsNoObjectOfArraysIsRefused) {
  arrays("{\"x\"", "");
  expect_error(Fault::invalid, {"header: not JSON"});
  arrays("[]", "");
  expect_error(Fault::invalid, {"header: not an object"});
  header_with("\"F64\",\"shape\":[2]", "\"F16\",\"shape\":[2]");
  expect_error(Fault::invalid, {": x", "F16", "expected F64, I64 or U8"});
  header_with("\"shape\":[2],", "");
  expect_error(Fault::invalid, {": x", "'shape' is missing"});
  header_with("[2]", "[3]");
  expect_error(Fault::invalid, {": x", "16 bytes", "[3] of F64 needs 24"});
  header_with("[2]", "[-2]");
  expect_error(Fault::invalid, {": x", "an extent is -2"});
  header_with("[2]", "[1073741824, 1073741824, 1073741824]");
  expect_error(Fault::invalid, {": x", "an extent is 1073741824"});
  header_with("[2]", "[1, 1, 1, 1, 1, 1, 1, 1, 2]");
  expect_error(Fault::invalid, {": x", "9 dims"});
  header_with("[2]", "\"two\"");
  expect_error(Fault::invalid, {": x", "'shape' has the wrong type", "two"});
  header_with("[0,16]", "[16,0]");
  expect_error(Fault::invalid, {": x", "[16, 0]"});
  header_with("[0,16]", "[0]");
  expect_error(Fault::invalid, {": x", "[0]"});
}

TEST_F(GoldenFiles, ValuesThatCannotBeComparedAreRefused) {
  arrays(header_, bytes_of(1, std::nan(""), 0));
  expect_error(Fault::invalid, {": x", "element 1 is NaN"});
  arrays(header_, bytes_of(1, 2, (1LL << 53) + 2));
  expect_error(Fault::invalid, {": i", "9007199254740994 does not fit"});
  arrays(header_, bytes_of(1, 2, 3).replace(24, 1, "\2"));
  expect_error(Fault::invalid, {": m", "mask holds 2"});
}

TEST_F(GoldenFiles, AListThatDisagreesWithTheArraysIsRefused) {
  list_with(R"("tensor":"m")", R"("tensor":"n")");
  expect_error(Fault::invalid, {"op-a", "inputs 'mask'", "no array n"});
  list_with(R"("shape":[1,2],"dtype":"uint8")", R"("shape":[2,1],"dtype":"uint8")");
  expect_error(Fault::invalid, {"op-a", "uint8 [2, 1]", "uint8 [1, 2]"});
  list_with(R"("dtype":"uint8")", R"("dtype":"int64")");
  expect_error(Fault::invalid, {"op-a", "int64 [1, 2]", "uint8 [1, 2]"});
  list_with(R"(,"index":{"tensor":"i","shape":[],"dtype":"int64"})", "");
  expect_error(Fault::invalid, {"array i belongs to no case"});
}

TEST_F(GoldenFiles, AMalformedListIsRefused) {
  write("op.json", list_ + "]");
  expect_error(Fault::invalid, {"op.json", "not JSON"});
  write("op.json", "{}");
  expect_error(Fault::invalid, {"op.json", "not a list"});
  write("op.json", "[1]");
  expect_error(Fault::invalid, {"op.json", "not an object"});
  list_with(R"("id":"op-a",)", "");
  expect_error(Fault::invalid, {"'id' is missing"});
  list_with(R"("op":"op")", R"("op":"other")");
  expect_error(Fault::invalid, {"op-a", "of op other"});
  list_with(R"({"dim":-1})", "1");
  expect_error(Fault::invalid, {"op-a", "attributes are not an object"});
  list_with(R"("source")", R"("tolerance")");
  expect_error(Fault::invalid, {"op-a", "unknown field 'tolerance'"});
  list_with(R"("may_refuse":true)", R"("may_refuse":1)");
  expect_error(Fault::invalid, {"op-a", "'may_refuse' has the wrong type: 1"});
  list_with(R"("cotangents":{"y")", R"("cotangents":{"z")");
  expect_error(Fault::invalid, {"op-a", "cotangent 'z' fits no output"});
  list_with(R"("gradients":{"x")", R"("gradients":{"z")");
  expect_error(Fault::invalid, {"op-a", "gradient 'z' fits no input"});
  list_with(R"("may_refuse":true)", R"("loss":"z")");
  expect_error(Fault::invalid, {"op-a", "no output 'z'"});
  const std::string once = list_.substr(1, list_.size() - 2);
  write("op.json", "[" + once + "," + once + "]");
  expect_error(Fault::invalid, {"op-a", "given twice"});
}

TEST(RelativeError, IsTheLargestDifferenceOverTheLargestValue) {
  EXPECT_EQ(relative_error({1, 4.5}, {1, 4}), 0.125);
  EXPECT_EQ(relative_error({0.25, 0}, {0, 0}), 0.25);
  EXPECT_EQ(relative_error({}, {}), 0);
}

TEST(RelativeError, IsInfiniteWhereSizesOrInfinitiesOrNanDiffer) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(relative_error({1, -infinity}, {1, -infinity}), 0);
  EXPECT_EQ(relative_error({1, infinity}, {1, -infinity}), infinity);
  EXPECT_EQ(relative_error({1, 0}, {1, -infinity}), infinity);
  EXPECT_EQ(relative_error({-infinity}, {1}), infinity);
  EXPECT_EQ(relative_error({std::nan("")}, {1}), infinity);
  EXPECT_EQ(relative_error({1, 1}, {1}), infinity);
}

}  // namespace
}  // namespace shardlab::golden
