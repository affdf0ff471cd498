#include <filesystem>
#include <fstream>
#include <map>

#include "results/database.h"
#include "results/store.h"
#include "tests/tools/typed.h"

namespace shardlab::test {
namespace {

namespace fs = std::filesystem;

/// Two runs in `good`, and what can be wrong with a file beside it.
class BadDatabase : public Typed {
 protected:
  BadDatabase() {
    results::Store store(folder_.path("good").string());
    for (const char* mesh : {"domain=1", "domain=2"}) {
      results::RunHeader header;
      header.series = {.scenario = "vit", .mesh = mesh};
      header.commit = "0123456789";
      const results::RunId run = store.start_run(header);
      results::MetricSamples times{results::step_seconds(), {}};
      for (std::int64_t i = 0; i < 500; ++i)
        times.samples.push_back({.iteration = i, .rank = 0, .value = 0.02});
      store.append(run, {.metrics = {times}});
      store.finish_run(run, results::RunStatus::complete);
    }
  }

  void copy_good(const std::string& name) { fs::copy(folder_.path("good"), folder_.path(name)); }

  /// Every file of the folder with its content, but what the command printed.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      if (entry.path().extension() != ".txt")
        all[entry.path().filename().string()] = text_of(entry.path());
    return all;
  }

  void make(const std::string& name) {
    const fs::path file = folder_.path(name);
    if (name == "truncated") {
      copy_good(name);
      fs::resize_file(file, fs::file_size(file) / 2);
    } else if (name == "newer") {
      copy_good(name);
      results::Database(file.string(), results::Database::Mode::write, 1)
          .execute("PRAGMA user_version = 99");
    } else if (name == "foreign") {
      results::Database(file.string(), results::Database::Mode::create, 1)
          .execute("CREATE TABLE song (title TEXT)");
    } else {
      std::ofstream(file) << "milliseconds,gpus\n" << std::string(5000, 'x');
    }
  }
};

// BAD is the file; what is not there before may not be there afterwards.
const char* const all_words[] = {
    "compare BAD good",
    "compare good BAD --json",
    "compare good BAD --markdown out.md --junit out.xml --annotations",
    "compare 1 2 --db BAD",
    "history step --db BAD",
    "history step --db BAD --json",
    "history step --accept 0123456 --note meant --db BAD",
    "report -o out.html --db BAD",
    "report -o out.html --db good --compare BAD",
    "report --svg out.svg --db BAD",
    "export --csv out.csv --json out.json --db BAD",
    "export --json - --db BAD",
    "show --db BAD",
    "show runs --json --db BAD",
    "show 1 --db BAD",
    "explain 1 --db BAD",
    "import rows.json --db BAD",
    "db check BAD",
    "db check good BAD",
    "db merge out BAD",
    "db merge out good BAD",
    "db merge BAD good",
    "run vit --preset tiny --iterations 1 --db BAD",
    "predict vit --preset tiny --machine dgx-h100 --ranks 2 --db BAD",
    "predict vit --preset tiny --machine this-cpu --db BAD",
    "gate-test --pairs 2 --reports 2 --seconds 0 --db BAD",
};

TEST_F(BadDatabase, IsNamedByEveryVerbAndNoFileChanges) {
  std::ofstream(folder_.path("rows.json")) << R"({"results": [{"command": "a", "times": [1]}]})";
  for (const char* bad : {"truncated", "newer", "foreign", "a 'text'\nof \"two\" lines"}) {
    make(bad);
    const auto before = files();
    for (std::string words : all_words) {
      words.replace(words.find("BAD"), 3, quoted(bad));
      const Ended ended = type(words);
      EXPECT_EQ(ended.exit, 4) << words << "\n" << ended.out << ended.err;
      EXPECT_TRUE(has(ended.out + ended.err, bad)) << words << "\n" << ended.err;
      EXPECT_TRUE(files() == before) << words << " changes a file";
    }
  }
}

TEST_F(BadDatabase, IsRefusedBeforeMinutesOfMeasuring) {
  make("foreign");
  const Ended ended = type("probe --db foreign");
  EXPECT_EQ(ended.exit, 4);
  EXPECT_FALSE(has(ended.err, " ...")) << ended.err;
}

// An empty file is read from a copy, and so is one of an older schema.
TEST_F(BadDatabase, ACopyThatIsReadInsteadIsNotNamed) {
  std::ofstream(folder_.path("empty"));
  expect("show 1 --db empty", 2, "shardlab: empty: no run '1'");
  expect("history step --db empty", 2, "shardlab: empty: no run in it has samples");
  EXPECT_EQ(text_of(folder_.path("empty")), "");
}

}  // namespace
}  // namespace shardlab::test
