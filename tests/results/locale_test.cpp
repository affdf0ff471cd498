#include <map>
#include <sstream>

#include "results/comparison_json.h"
#include "results/faces.h"
#include "results/json.h"
#include "results/page.h"
#include "results/plot_scaling.h"
#include "results/scaling.h"
#include "results/show.h"
#include "results/svg.h"
#include "tests/results/commas.h"
#include "tests/results/comparison_sample.h"
#include "tests/results/fixture.h"

namespace shardlab::results {
namespace {

class LocaleTest : public StorageTest {
 protected:
  void SetUp() override {
    Store store(path);
    for (const char* mesh : {"domain=1", "domain=2", "domain=4"}) {
      const RunId run = store.start_run(header_of("vit", mesh));
      store.append(run, {.metrics = {samples_of(step_seconds(), 9, 1, 1234.5),
                                     samples_of(bytes_sent(), 9, 1, 1234567)}});
      store.finish_run(run, RunStatus::complete);
    }
  }

  /// What is written for programs, browsers and people, of the same runs and verdicts.
  [[nodiscard]] std::map<std::string, std::string> written() const {
    const Reader reader = open_for_reading(path);
    const std::vector<Curve> curves = scaling_curves(reader);
    const Plot plot = scaling_plot(problems_of(curves).at(0)).value();
    Page page{.title = "page"};
    page.comparison = sample_comparison();
    page.sections = {{.title = "one", .plots = {plot}}};
    return {{"run", to_json(read_run(reader, {1}))},
            {"comparison", to_json(sample_comparison())},
            {"Markdown", markdown_of(sample_comparison())},
            {"JUnit", junit_of(sample_comparison())},
            {"annotations", annotations_of(sample_comparison())},
            {"HTML", html_of(sample_comparison())},
            {"SVG", svg_file(plot, Theme::both)},
            {"page", page_of(page)},
            {"text", show_seconds(1.5) + show_bytes(1234567.5)}};
  }
};

TEST_F(LocaleTest, DecimalCommasAreInNothingThatIsWritten) {
  const auto expected = written();
  const Commas commas;
  std::ostringstream probe;
  probe << 1234.5;
  ASSERT_EQ(probe.str(), "1.234,5") << "the locale is in force";
  for (const auto& [name, text] : written()) EXPECT_EQ(text, expected.at(name)) << name;
}

}  // namespace
}  // namespace shardlab::results
