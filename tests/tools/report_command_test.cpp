#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

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

  /// What headless Chromium makes of a file of the folder.
  struct Browsed {
    std::string dom;
    std::vector<std::string> complaints;  ///< Lines of the console.
    std::vector<std::string> requests;    ///< Addresses that the page asked for.
  };

  Browsed browse(const std::string& file) {
    const Ended ended = run_command(
        "HOME=\"$PWD\" timeout 60 chromium --headless --no-sandbox --disable-gpu "
        "--user-data-dir=\"$PWD/profile\" --disable-background-networking "
        "--disable-component-update --no-first-run --host-resolver-rules='MAP * ~NOTFOUND' "
        "--log-net-log=\"$PWD/net.json\" --enable-logging=stderr --dump-dom \"file://$PWD/" +
            file + "\"",
        folder_);
    EXPECT_EQ(ended.exit, 0) << ended.err;
    Browsed browsed{.dom = ended.out, .complaints = {}, .requests = {}};
    std::istringstream console(ended.err);
    for (std::string line; std::getline(console, line);)
      if (has(line, "CONSOLE")) browsed.complaints.push_back(line);
    // An event a line; the browser's own requests have no origin, and the last line may be cut.
    std::ifstream log(folder_.path("net.json"));
    for (std::string line; std::getline(log, line);) {
      if (line.ends_with(',')) line.pop_back();
      const Json event = Json::parse(line, nullptr, false);
      if (!event.is_object() || !event.contains("params")) continue;
      const Json& about = event["params"];
      if (about.value("initiator", "not an origin") != "not an origin")
        browsed.requests.push_back(about.value("url", ""));
    }
    return browsed;
  }

  /// The page with some markup added, and without its policy, which would stop that.
  void spoil(const std::string& page, const std::string& file, const std::string& markup) {
    std::string text = page;
    const std::size_t policy = text.find("<meta http-equiv=\"Content-Security-Policy\"");
    ASSERT_NE(policy, std::string::npos);
    text.erase(policy, text.find('>', policy) + 1 - policy);
    text.insert(text.find("<main>"), markup);
    std::ofstream(folder_.path(file)) << text;
  }

  /// A cell of a table, whatever else stands in it after the number.
  static bool has_cell(const std::string& dom, const std::string& number) {
    return has(dom, "<td>" + number + "<");
  }

  bool has_chromium() { return run_command("command -v chromium", folder_).exit == 0; }
};

TEST_F(ReportCommand, WritesAPageAndSaysSo) {
  make_runs();
  const Ended report = type("report -o 'my report.html'");
  EXPECT_EQ(report.exit, 0) << report.err;
  EXPECT_TRUE(has(report.out, "my report.html: 1 problem,")) << report.out;
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
  std::filesystem::copy(folder_.path("shardlab.sqlite"), folder_.path("base.sqlite"));
  ASSERT_EQ(type("run vit --preset tiny --ranks 1,2 --train --iterations 3").exit, 0);
  ASSERT_EQ(type("report -o report.html --compare base.sqlite").exit, 0);
  const Browsed page = browse("report.html");
  EXPECT_EQ(page.complaints, std::vector<std::string>{});
  EXPECT_EQ(page.requests, std::vector<std::string>{});
  std::size_t numbers = 0;
  const auto expect_cell = [&](const std::string& number) {
    EXPECT_TRUE(has_cell(page.dom, number)) << number;
    ++numbers;
  };
  for (const Json& curve : Json::parse(type("show --json").out)) {
    const std::string mark = curve["execution"] == "predict" ? "~" : "";
    for (const Json& row : curve["rows"]) {
      expect_cell(mark + results::show_seconds(row["seconds"]));
      expect_cell(results::show_bytes(row["peak_bytes"]));
      expect_cell(results::show_bytes(row["bytes_received"]));
      if (row["interval"].is_object())
        expect_cell(mark + results::show_range(row["interval"]["low"], row["interval"]["high"]));
      if (row["efficiency"].is_number())
        expect_cell(mark + results::show_percent(row["efficiency"]));
    }
  }
  const Json verdicts = Json::parse(type("compare base.sqlite shardlab.sqlite --json").out);
  for (const Json& finding : verdicts["findings"])
    for (const char* side : {"base", "new"}) {
      if (finding[side].is_null() || finding[side]["samples"] == 0) continue;
      const double median = finding[side]["median"];
      const bool predicted = finding["series"]["execution"] == "predict" && !finding["exact"];
      if (finding["unit"] == "s")
        expect_cell((predicted ? "~" : "") + results::show_seconds(median));
      else if (finding["exact"] && finding["unit"] != "1")
        expect_cell(fmt::format("{:.0f} {}", median, finding["unit"].get<std::string>()));
    }
  EXPECT_GT(numbers, 60U);  // 5 runs of 3 or more; 9 exact ones of each of both sides, and times.
  for (const auto& [verdict, count] : verdicts["counts"].items())
    if (count > 0) {
      EXPECT_TRUE(has(page.dom, fmt::format("{} {}", count.get<int>(), verdict))) << verdict;
    }
}

TEST_F(ReportCommand, ABrowserFindsScriptsThatFailAndPicturesFromElsewhere) {
  if (!has_chromium()) GTEST_SKIP() << "chromium is not installed";
  make_runs();
  ASSERT_EQ(type("report -o report.html").exit, 0);
  const std::string page = text_of(folder_.path("report.html"));
  const std::string picture = "<img src=\"http://127.0.0.1:9/a.png\">";
  spoil(page, "spoilt.html", picture + "<script>nothing.here()</script>");
  const Browsed spoilt = browse("spoilt.html");
  EXPECT_EQ(spoilt.requests, std::vector<std::string>{"http://127.0.0.1:9/a.png"});
  ASSERT_EQ(spoilt.complaints.size(), 1U);
  EXPECT_TRUE(has(spoilt.complaints[0], "nothing is not defined")) << spoilt.complaints[0];
  // The policy of the page stops both.
  std::string guarded = page;
  guarded.insert(guarded.find("<main>"), picture + "<script>nothing.here()</script>");
  std::ofstream(folder_.path("guarded.html")) << guarded;
  const Browsed stopped = browse("guarded.html");
  EXPECT_EQ(stopped.requests, std::vector<std::string>{});
  EXPECT_EQ(stopped.complaints.size(), 2U);
}

}  // namespace
}  // namespace shardlab::test
