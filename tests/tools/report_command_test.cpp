#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "results/show.h"
#include "tests/tools/typed.h"

namespace shardlab::test {
namespace {

using Json = nlohmann::json;

class ReportCommand : public Typed {
 protected:
  void make_runs() {
    ASSERT_EQ(type("run vit --preset tiny --ranks 1,2 --train --check --iterations 3").exit, 0);
    ASSERT_EQ(type("predict vit --preset tiny --ranks 1,2,4 --train --machine dgx-h100").exit, 0);
  }

  /// What headless Chromium makes of a file of the folder: its DOM, and what its console says.
  Ended browse(const std::string& file) {
    return run_command(
        "HOME=\"$PWD\" timeout 120 chromium --headless --no-sandbox --disable-gpu "
        "--user-data-dir=\"$PWD/profile\" --disable-background-networking "
        "--enable-logging=stderr --dump-dom \"file://$PWD/" +
            file + "\"",
        folder_);
  }

  bool has_chromium() { return run_command("command -v chromium", folder_).exit == 0; }
};

TEST_F(ReportCommand, WritesAPageAndSaysSo) {
  make_runs();
  const Ended report = type("report -o 'my report.html'");
  EXPECT_EQ(report.exit, 0) << report.err;
  EXPECT_TRUE(has(report.out, "my report.html: 1 problems")) << report.out;
  const std::string page = text_of(folder_.path("my report.html"));
  for (const char* part : {"<!DOCTYPE html>", "Step time over ranks", "Efficiency over ranks",
                           "Memory", "One step of run", "Where the time goes", "~dgx-h100"})
    EXPECT_TRUE(has(page, part)) << part;
  for (const char* part : {"<script", "src=", "http:", "https:", "@import"})
    EXPECT_FALSE(has(page, part)) << part;
  EXPECT_EQ(Json::parse(type("report -o b.html --json").out)[0]["file"], "b.html");
}

TEST_F(ReportCommand, SinglePlotsAreWrittenAsSvg) {
  make_runs();
  for (const char* plot : {"scaling", "efficiency", "memory", "timeline", "waterfall"}) {
    const Ended report = type(std::string("report --svg plot.svg --plot ") + plot);
    EXPECT_EQ(report.exit, 0) << plot << report.err;
    EXPECT_TRUE(text_of(folder_.path("plot.svg")).starts_with("<svg")) << plot;
  }
}

TEST_F(ReportCommand, APngIsWrittenOrSaysWhatIsMissing) {
  make_runs();
  const Ended report = type("report --png plot.png");
  if (report.exit == 3)
    EXPECT_TRUE(has(report.err, "librsvg2-dev")) << report.err;
  else
    EXPECT_TRUE(text_of(folder_.path("plot.png")).starts_with("\x89PNG")) << report.err;
}

TEST_F(ReportCommand, RefusesWhatItCannotDo) {
  expect("report", 2, "-o report.html");
  expect("report -o a.html", 4, "shardlab.sqlite");
  make_runs();
  expect("report -o shardlab.sqlite", 2, "that is the results file");
  expect("report --svg a.svg --plot memori", 2, "did you mean 'memory'?");
  expect("report -o a.html --series none", 3, "no run to report of 'none'");
  expect("report -o none/a.html", 4, "none/a.html: cannot be written");
  expect("report --svg a.svg --plot timeline --run 99", 2, "99");
  expect("report --htm a.html", 2, "did you mean --");
}

TEST_F(ReportCommand, ReadingChangesNothing) {
  make_runs();
  const std::string before = text_of(folder_.path("shardlab.sqlite"));
  EXPECT_EQ(type("report -o a.html").exit, 0);
  EXPECT_EQ(text_of(folder_.path("shardlab.sqlite")), before);
}

TEST_F(ReportCommand, ABrowserShowsEveryNumberAndAsksForNothing) {
  if (!has_chromium()) GTEST_SKIP() << "chromium is not installed";
  make_runs();
  ASSERT_EQ(type("report -o report.html").exit, 0);
  const Ended page = browse("report.html");
  ASSERT_EQ(page.exit, 0) << page.err;
  EXPECT_FALSE(has(page.err, "CONSOLE")) << page.err;
  for (const Json& curve : Json::parse(type("show --json").out)) {
    const std::string mark = curve["execution"] == "predict" ? "~" : "";
    for (const Json& row : curve["rows"]) {
      std::vector<std::string> numbers{mark + results::show_seconds(row["seconds"]),
                                       results::show_bytes(row["peak_bytes"]),
                                       results::show_bytes(row["bytes_received"])};
      if (row["interval"].is_object())
        numbers.push_back(mark +
                          results::show_range(row["interval"]["low"], row["interval"]["high"]));
      if (row["efficiency"].is_number())
        numbers.push_back(mark + results::show_percent(row["efficiency"]));
      for (const std::string& number : numbers)
        EXPECT_TRUE(has(page.out, ">" + number + "</td>")) << number;
    }
  }
  // The same page with a picture from elsewhere is caught.
  std::string text = text_of(folder_.path("report.html"));
  text.insert(text.find("<main>"), "<img src=\"http://127.0.0.1:9/a.png\">");
  std::ofstream(folder_.path("other.html")) << text;
  EXPECT_TRUE(has(browse("other.html").err, "CONSOLE"));
}

}  // namespace
}  // namespace shardlab::test
