#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/tools/typed.h"

namespace shardlab::test {
namespace {

using Json = nlohmann::json;

/// A copy of the committed quantities, to be changed.
class ExactCommand : public Typed {
 protected:
  ExactCommand() {
    std::filesystem::copy(SHARDLAB_SOURCE_DIR "/tests/exact", folder_.path("here"));
  }

  /// Replaces the first `from` behind `after`.
  void change(const std::string& file, const std::string& after, const std::string& from,
              const std::string& to) {
    std::string text = text_of(folder_.path("here/" + file));
    const std::size_t at = text.find(from, text.find(after));
    ASSERT_NE(at, std::string::npos) << from;
    std::ofstream(folder_.path("here/" + file)) << text.replace(at, from.size(), to);
  }
};

TEST_F(ExactCommand, WhatIsEqualHasNoDifferences) {
  const Ended ended = type("exact here --json");
  EXPECT_EQ(ended.exit, 0) << ended.err;
  const Json found = Json::parse(ended.out);
  EXPECT_EQ(found["folder"], "here");
  EXPECT_GT(found["series"], 30);
  EXPECT_EQ(found["committed_series"], found["series"]);
  EXPECT_EQ(found["accepted"], false);
  EXPECT_EQ(found["differences"], Json::array());
}

// Two ranks send each other 768 bytes; 64 bytes less were committed.
TEST_F(ExactCommand, WhatGrewIsSaidToProgramsWithItsPlace) {
  const std::string series = "ring_attention\tinference\tdomain=2\t-";
  change("quantities.tsv", series, "\t1536\t", "\t1472\t");
  change("parts.tsv", series, "exchange\t2\t1536\t", "exchange\t2\t1472\t");
  const Ended ended = type("exact here --json");
  EXPECT_EQ(ended.exit, 1) << ended.err;
  const Json found = Json::parse(ended.out);
  EXPECT_EQ(found["accepted"], false);
  EXPECT_EQ(found["differences"],
            Json::parse(R"json([{"series": {"scenario": "ring_attention", "train": false,
                                        "mesh": "domain=2", "parameters": {}},
                             "quantity": "bytes_sent", "unit": "B", "verdict": "worse",
                             "committed": 1472, "now": 1536,
                             "reason": "1472 -> 1536 B, +64 B (+4.35 %)",
                             "causes": ["exchange in forward: 2 calls of 736 B -> 2 calls of 768 B"]
}])json"))
      << ended.out;
  const Ended accepted = type("exact here --json --accept");
  EXPECT_EQ(accepted.exit, 0) << accepted.err;
  EXPECT_EQ(Json::parse(accepted.out)["accepted"], true);
  EXPECT_EQ(Json::parse(accepted.out)["differences"].size(), 1U);
  EXPECT_EQ(text_of(folder_.path("here/quantities.tsv")),
            text_of(SHARDLAB_SOURCE_DIR "/tests/exact/quantities.tsv"));
}

TEST_F(ExactCommand, AQuantityOfOneSideHasNoNumberOnTheOther) {
  change("quantities.tsv", "scenario", "\tflop\t", "\tfloops\t");
  const Ended ended = type("exact here --json");
  EXPECT_EQ(ended.exit, 1) << ended.err;
  const Json found = Json::parse(ended.out);
  const auto of = [&](const char* quantity) {
    for (const Json& each : found["differences"])
      if (each["quantity"] == quantity && each["series"]["scenario"] == "ring_attention")
        return each;
    return Json();
  };
  EXPECT_EQ(of("flop")["verdict"], "new") << ended.out;
  EXPECT_EQ(of("flop")["committed"], nullptr);
  EXPECT_EQ(of("flop")["now"], 9216);
  EXPECT_EQ(of("floops")["verdict"], "vanished");
  EXPECT_EQ(of("floops")["committed"], 9216);
  EXPECT_EQ(of("floops")["now"], nullptr);
  EXPECT_TRUE(
      has(type("exact here").out, "floops       has a column, but is not measured any more"))
      << type("exact here").out;
}

TEST_F(ExactCommand, AFolderThatIsNotThereIsNamed) {
  expect("exact nowhere --json", 2, "nowhere: no such folder");
  std::ofstream(folder_.path("here/quantities.tsv"), std::ios::app) << "more\n";
  expect("exact here --json", 2, "quantities.tsv, line 44");
}

}  // namespace
}  // namespace shardlab::test
