#include "tools/reproduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "scenarios/all.h"
#include "tests/tools/typed.h"
#include "tools/reproduce_verb.h"

namespace shardlab::test {
namespace {

using results::PublishedRow;
using Json = nlohmann::json;

const Scenarios& scenarios() {
  static const Scenarios all = [] {
    Scenarios made;
    add_all_scenarios(made);
    return made;
  }();
  return all;
}

/// Errors of the rows to validate for which `picked` holds.
template <typename Picked>
std::vector<double> errors_of(const Reproduction& reproduction, const Picked& picked) {
  std::vector<double> errors;
  for (const Reproduced& each : reproduction.rows)
    if (each.row->use == PublishedRow::Use::validate && each.error() && picked(*each.row))
      errors.push_back(std::abs(*each.error()));
  return errors;
}

bool long_enough(const PublishedRow& row) {
  return std::stod(row.parameters.at("sequence")) >= 8192;
}

// A point a row: each is met but for what digits of the tables round.
TEST(Reproduce, RowsOnOneGpuAreMetByTheirCalibration) {
  for (const char* name : {"ring_attention", "vit"}) {
    const results::PublishedRows published = published_named(name);
    for (const Reproduced& each : reproduce(scenarios(), published).rows)
      if (each.row->use == PublishedRow::Use::calibrate) {
        EXPECT_LT(std::abs(*each.error()), 1e-3) << name << ":" << each.row->line;
      }
  }
}

// A validate row must not move when another one does: only calibrate rows are read.
TEST(Reproduce, RowsToValidateAreNotReadByTheCalibration) {
  const results::PublishedRows published = published_named("ring_attention");
  results::PublishedRows wrong = published;
  for (PublishedRow& row : wrong.rows)
    if (row.use == PublishedRow::Use::validate) row.seconds = 3 * *row.seconds;
  const Reproduction right = reproduce(scenarios(), published);
  const Reproduction other = reproduce(scenarios(), wrong);
  for (std::size_t i = 0; i < right.rows.size(); ++i)
    EXPECT_EQ(right.rows[i].prediction.simulated.seconds,
              other.rows[i].prediction.simulated.seconds)
        << i;
}

TEST(Reproduce, TheRingFrom8192TokensIsWithinTheMarks) {
  const results::PublishedRows published = published_named("ring_attention");
  const std::vector<double> errors = errors_of(reproduce(scenarios(), published), long_enough);
  ASSERT_EQ(errors.size(), 30U);
  double sum = 0;
  for (const double error : errors) {
    EXPECT_LE(error, 0.12);
    sum += error;
  }
  EXPECT_LE(sum / 30, 0.04);
}

// Within half an octave; of eight GPUs in training, 7.1 ms against 3.64 at 2048 tokens and 8.9
// against 13.8 at 4096: ln(1.951) / ln(1.951 / 0.645) = 0.604 of the octave, 3112 tokens.
TEST(Reproduce, ManyGpusBeatOneFromThePublishedSequenceOn) {
  const results::PublishedRows published = published_named("ring_attention");
  const Reproduction reproduction = reproduce(scenarios(), published);
  EXPECT_NEAR(crossing(reproduction, true, 8, false).value_or(0), 3112, 3);
  for (const bool train : {false, true})
    for (const int gpus : {2, 4, 8})
      EXPECT_LT(std::abs(std::log2(crossing(reproduction, train, gpus, true).value_or(0) /
                                   crossing(reproduction, train, gpus, false).value_or(1))),
                0.5)
          << train << " " << gpus;
}

// Training at 1024 x 1024 on 4 and 8 GPUs is missed, by 90 and 150 ms of the host.
TEST(Reproduce, TheVitIsWithinTheMarksButForTheShortTrainingSteps) {
  const results::PublishedRows published = published_named("vit");
  const Reproduction reproduction = reproduce(scenarios(), published);
  const auto met = [](const PublishedRow& row) {
    return !(row.train && row.gpus > 2 && row.parameters.at("size") == "1024x1024");
  };
  const std::vector<double> errors = errors_of(reproduction, met);
  ASSERT_EQ(errors.size(), 10U);
  for (const double error : errors) EXPECT_LE(error, 0.10);
  for (const Reproduced& each : reproduction.rows)
    EXPECT_LE(std::abs(each.memory_error().value_or(0)), 0.05);
}

TEST(Reproduce, RowsToShowAreShownForEveryMachineAndDtypeAndNotJudged) {
  const results::PublishedRows published = published_named("shardtensor_paper");
  const Reproduction reproduction = reproduce(scenarios(), published);
  EXPECT_TRUE(reproduction.rows.empty());
  EXPECT_EQ(reproduction.shown.size(), 2U * 2 * 3);
  for (const Shown& each : reproduction.shown) EXPECT_GT(each.one_rank_seconds, each.seconds);
}

class ReproduceCommand : public Typed {};

TEST_F(ReproduceCommand, ClaimsWithoutAScenarioAreNamed) {
  const std::string out = type("reproduce ring_causal").out;
  EXPECT_TRUE(has(out, "waiting: zigzag tokens")) << out;
  EXPECT_TRUE(has(out, "causal attention does not exist yet")) << out;
}

TEST_F(ReproduceCommand, AStoredRunStandsBesideItsRow) {
  EXPECT_FALSE(has(type("reproduce ring_attention").out, "measured"));
  const Ended ran = type(
      "run ring_attention --preset paper --batch 1 --heads 8 --head-dim 256 --sequence 1024 "
      "--ranks 1 --warmup 1 --iterations 1 --no-timeline");
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const std::string out = type("reproduce ring_attention").out;
  EXPECT_TRUE(has(out, "published  measured  predicted")) << out;
  EXPECT_TRUE(has(out, "measured: runs 1 on ") && has(out, "(cpu)")) << out;
  int found = 0;
  const Json json = Json::parse(type("reproduce ring_attention --json").out);
  for (const Json& row : json[0]["rows"])
    if (!row["measured_seconds"].is_null()) {
      ++found;
      EXPECT_EQ(row["gpus"], 1);
      EXPECT_EQ(row["parameters"]["sequence"], "1024");
      EXPECT_FALSE(row["train"].get<bool>());
    }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace shardlab::test
