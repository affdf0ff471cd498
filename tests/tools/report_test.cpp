#include "tools/report.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <chrono>

#include "results/store.h"
#include "scenarios/all.h"
#include "tests/results/fixture.h"

namespace shardlab::test {
namespace {

using results::RunId;
using results::RunStatus;

class Report : public results::StorageTest {
 protected:
  Report() { add_all_scenarios(scenarios_); }

  /// A run with 20 timed iterations on each of its ranks, memory of six categories, and on request
  /// a timeline.
  void store_run(results::Store& store, const std::string& scenario, int size, int ranks,
                 int steps) {
    results::RunHeader header;
    header.series = {.scenario = scenario,
                     .parameters = fmt::format("{{\"size\":{}}}", size),
                     .mesh = fmt::format("domain={}", ranks)};
    header.environment.processor = "a processor";
    header.commit = "0123456789abcdef0123456789abcdef01234567";
    const RunId run = store.start_run(header);
    results::Rows rows;
    rows.metrics.push_back({results::step_seconds(), {}});
    for (int i = 0; i < 20; ++i)
      for (int rank = 0; rank < ranks; ++rank)
        rows.metrics.back().samples.push_back(
            {.iteration = i, .rank = rank, .value = (1 + 0.01 * (i % 7)) / ranks});
    for (const char* category :
         {"", "activation", "parameter", "gradient", "optimizer", "communication", "workspace"}) {
      rows.metrics.push_back(
          {*category == '\0' ? results::peak_bytes() : results::peak_bytes(category), {}});
      for (int rank = 0; rank < ranks; ++rank)
        rows.metrics.back().samples.push_back({.rank = rank, .value = 1e9 / ranks});
    }
    store.append(run, rows);
    results::Timeline timeline;
    for (int rank = 0; rank < (steps > 0 ? ranks : 0); ++rank)
      for (int i = 0; i < steps; ++i)
        timeline.steps.push_back({.rank = rank,
                                  .ordinal = i,
                                  .op = i % 3 == 0 ? "matmul" : "attention",
                                  .lane = "compute",
                                  .begin_seconds = i * 1e-3,
                                  .end_seconds = (i + 0.9) * 1e-3});
    if (!timeline.steps.empty()) store.append(run, timeline);
    store.finish_run(run, RunStatus::complete);
  }

  std::string page() {
    const results::Reader reader = results::open_for_reading(path);
    return results::page_of(ReportData(scenarios_, reader, {}).page("a report"));
  }

  Scenarios scenarios_;
};

TEST_F(Report, OfAThousandRunsIsUnderFiveMegabytes) {
  results::Store store(path);
  for (int size = 0; size < 250; ++size)
    for (const int ranks : {1, 2, 4, 8}) store_run(store, "vit", size, ranks, size < 4 ? 5000 : 0);
  const auto begin = std::chrono::steady_clock::now();
  const std::string text = page();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  RecordProperty("seconds", std::to_string(seconds.count()));
  RecordProperty("bytes", std::to_string(text.size()));
  EXPECT_LT(text.size(), 5'000'000U);
  EXPECT_NE(text.find("vit, float32, inference, size 0"), std::string::npos);
  EXPECT_NE(text.find("vit, float32, inference, size 249"), std::string::npos);
}

TEST_F(Report, RunsThatTimedNoStepAreATableOfTheirMetrics) {
  results::Store store(path);
  results::RunHeader header;
  header.series = {.scenario = "gate-test"};
  const RunId run = store.start_run(header);
  store.append(run, {.metrics = {{{.name = "false_alarms", .unit = "1"}, {{.value = 0.0125}}}}});
  store.finish_run(run, RunStatus::complete);
  EXPECT_NE(page().find("<td class=\"text\">false_alarms</td><td>1</td><td>0.0125</td>"),
            std::string::npos);
}

TEST_F(Report, StoredTextStaysText) {
  results::Store store(path);
  store_run(store, "<script>alert(1)</script>", 1, 2, 3);
  store_run(store, "<script>alert(1)</script>", 1, 1, 3);
  const std::string text = page();
  EXPECT_EQ(text.find("<script"), std::string::npos);
  EXPECT_NE(text.find("&lt;script&gt;alert(1)&lt;/script&gt;, float32, inference"),
            std::string::npos);
}

}  // namespace
}  // namespace shardlab::test
