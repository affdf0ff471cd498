#include "results/published.h"

#include <gtest/gtest.h>

#include "engine/core/error.h"

namespace shardlab::results {
namespace {

const char* const head =
    "# Two rows.\n# scenario: vit\n# machine: m\n# profile: p\n# fixed: batch=1 depth=2\n"
    "# regime: sequence 8\nmode,gpus,sequence,seconds,peak_gib,kind,use\n";

std::string error_of(const std::string& text) {
  try {
    (void)read_published(text, "rows.csv");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Published, ReadsKeysAndRows) {
  const PublishedRows rows = read_published(std::string(head) +
                                                "inference,1,16,0.5,,table,calibrate\n"
                                                "training,8,16,,26,text,validate\n",
                                            "rows.csv");
  EXPECT_EQ(rows.title, "Two rows.");
  EXPECT_EQ(rows.scenario, "vit");
  EXPECT_EQ(rows.fixed.at("depth"), "2");
  EXPECT_EQ(rows.regime_parameter, "sequence");
  ASSERT_EQ(rows.rows.size(), 2U);
  EXPECT_EQ(rows.rows[0].seconds, 0.5);
  EXPECT_FALSE(rows.rows[0].peak_gib);
  EXPECT_EQ(rows.rows[1].gpus, 8);
  EXPECT_TRUE(rows.rows[1].train);
  EXPECT_EQ(rows.rows[1].parameters.at("sequence"), "16");
  EXPECT_EQ(rows.rows[1].use, PublishedRow::Use::validate);
}

TEST(Published, FaultsNameTheLine) {
  EXPECT_EQ(error_of(std::string(head) + "inference,1,16\n"),
            "rows.csv:8: 3 cells, the header has 7");
  EXPECT_EQ(error_of(std::string(head) + "inference,1,16,-2,,table,show\n"),
            "rows.csv:8: seconds '-2' is not a positive number");
  EXPECT_EQ(error_of(std::string(head) + "test,1,16,2,,table,show\n"),
            "rows.csv:8: mode 'test' is neither inference nor training");
  EXPECT_EQ(error_of(std::string(head) + "training,1,16,2,,table,fit\n"),
            "rows.csv:8: use 'fit' is none of calibrate, validate and show");
  EXPECT_EQ(error_of("# maschine: m\n"), "rows.csv:1: unknown key 'maschine'");
  EXPECT_EQ(error_of(head), "rows.csv: no rows");
  EXPECT_EQ(error_of(""),
            "rows.csv: scenario, machine and profile must be named in its first lines");
  EXPECT_EQ(error_of(std::string(head) + "inference,1.5,16,2,,table,show\n"),
            "rows.csv:8: gpus '1.5' is no whole number up to a million");
  EXPECT_EQ(error_of(std::string(head) + "inference,1e300,16,2,,table,show\n"),
            "rows.csv:8: gpus '1e300' is no whole number up to a million");
  EXPECT_EQ(error_of(std::string(head) + "inference,1,16,inf,,table,show\n"),
            "rows.csv:8: seconds 'inf' is not a positive number");
  EXPECT_EQ(error_of(std::string(head) + "inference,1,16,0,,table,show\n"),
            "rows.csv:8: seconds '0' is not a positive number");
  EXPECT_EQ(error_of(std::string(head) + "inference,1,16,2,5,,table,show\n"),
            "rows.csv:8: 8 cells, the header has 7")
      << "a decimal comma";
  EXPECT_EQ(error_of("# scenario: vit\ngpus,use\n"),
            "rows.csv:2: the header needs one column mode");
}

TEST(Published, MarksAndEndsOfLineOfWindowsAreNoFault) {
  std::string text = std::string("\xef\xbb\xbf") + head + "inference,1,16,0.5,,table,show\n";
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
    text.insert(at, "\r");
  EXPECT_EQ(read_published(text, "rows.csv").rows.at(0).use, PublishedRow::Use::show);
}

TEST(Published, EveryFileOfTheProgramCanBeRead) {
  EXPECT_GE(published_files().size(), 2U);
  for (const PublishedFile& file : published_files()) {
    const PublishedRows rows = read_published(file.text, file.name);
    EXPECT_FALSE(rows.rows.empty() && rows.waiting.empty()) << file.name;
  }
}

TEST(Published, ReadsWhatIsShownAndWhatWaits) {
  const PublishedRows rows = read_published(
      "# Claims.\n# scenario: vit\n# machine: m\n# profile: p\n# show_machines: m n\n"
      "# show_dtypes: float32\n# waiting: a: not yet\n# waiting: b: not yet\n"
      "mode,gpus,speedup,use\ninference,16,15,show\n",
      "rows.csv");
  EXPECT_EQ(rows.show_machines, (std::vector<std::string>{"m", "n"}));
  EXPECT_EQ(rows.show_dtypes, (std::vector<std::string>{"float32"}));
  EXPECT_EQ(rows.waiting, (std::vector<std::string>{"a: not yet", "b: not yet"}));
  ASSERT_EQ(rows.rows.size(), 1U);
  EXPECT_EQ(rows.rows[0].speedup, 15);
}

TEST(Published, AFileMayHoldNothingButWhatWaits) {
  EXPECT_TRUE(read_published("# Claims.\n# waiting: a: not yet\n", "rows.csv").rows.empty());
  EXPECT_NE(error_of("# Claims.\n"), "");
}

}  // namespace
}  // namespace shardlab::results
