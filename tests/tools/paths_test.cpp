#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "results/store.h"
#include "tests/tools/typed.h"

namespace shardlab::test {
namespace {

/// Files with names of any letters, one of them a results file.
class Paths : public Typed {
 protected:
  const std::string name_ = "a b\nc \"d\" 'e' <f> &|%;$(g)";

  void SetUp() override {
    results::Store store(folder_.path(name_ + ".sqlite").string());
    results::RunHeader header;
    header.series.scenario = "vit";
    const results::RunId run = store.start_run(header);
    store.append(run, {.metrics = {{results::flop(), {{.rank = 0, .value = 8}}},
                                   {results::step_seconds(), {{.rank = 0, .value = 1}}}}});
    store.finish_run(run, results::RunStatus::complete);
  }

  /// The name with an ending, as a shell reads it.
  [[nodiscard]] std::string file(const std::string& ending) const { return quoted(name_ + ending); }
};

TEST_F(Paths, OfAnyLettersAreReadAndWritten) {
  const std::string db = " --db " + file(".sqlite"), both = file(".sqlite") + " " + file(".sqlite");
  for (const std::string& words :
       {"compare " + both + " --markdown " + file(".md") + " --junit " + file(".xml"),
        "report -o " + file(".html") + db + " --compare " + file(".sqlite"),
        "report --svg " + file(".svg") + db,
        "export --csv " + file(".csv") + " --json " + file(".json") + db, "show 1" + db,
        "import " + file(".json") + " --db " + file(".copy"),
        "db merge " + file(".all") + " " + file(".sqlite") + " " + file(".copy"),
        "db check " + file(".all")}) {
    const Ended ended = type(words);
    EXPECT_EQ(ended.exit, 0) << words << "\n" << ended.err;
  }
  for (const char* ending : {".md", ".xml", ".html", ".svg", ".csv", ".json", ".all"})
    EXPECT_NE(text_of(folder_.path(name_ + ending)), "") << ending;
  const std::string out = type("compare " + both).out;
  EXPECT_TRUE(has(out, "base: a b c \"d\" 'e' <f> &|%;$(g).sqlite\nnew:  a b")) << out;
}

TEST_F(Paths, OfBytesThatAreNoTextAreSaidToProgramsToo) {
  const std::string name = "a\xff" + std::string("b");
  std::filesystem::copy(folder_.path(name_ + ".sqlite"), folder_.path(name));
  std::ofstream(folder_.path(name + ".toml")) << "extends = \"dgx-h100\"\n";
  for (const std::string& words :
       {"db check " + name, "compare " + name + " " + name, "show --db " + name,
        "show machine ./" + name + ".toml",
        "predict vit --preset tiny --ranks 2 --machine ./" + name + ".toml",
        "plan vit --preset tiny --machine ./" + name + ".toml"}) {
    const Ended ended = type(words + " --json");
    EXPECT_EQ(ended.exit, 0) << words << "\n" << ended.err;
    EXPECT_TRUE(nlohmann::json::accept(ended.out)) << words << "\n" << ended.out;
  }
  EXPECT_EQ(
      run_command("OMP_WAIT_POLICY='\xff' " SHARDLAB_BINARY " run vit --preset tiny --iterations 1",
                  folder_)
          .exit,
      0);
}

TEST_F(Paths, OfResultsFilesAreNotWrittenOver) {
  const std::string before = text_of(folder_.path(name_ + ".sqlite"));
  const std::string db = file(".sqlite"), other = file(".other");
  std::filesystem::copy(folder_.path(name_ + ".sqlite"), folder_.path(name_ + ".other"));
  for (const std::string& words :
       {"compare " + db + " " + db + " --markdown " + other,
        "compare " + db + " " + db + " --junit " + other, "report -o " + other + " --db " + db,
        "report --svg " + other + " --db " + db, "report --png " + other + " --db " + db,
        "export --csv " + other + " --db " + db, "export --json " + other + " --db " + db,
        "probe -o " + other}) {
    const Ended ended = type(words);
    EXPECT_EQ(ended.exit, 2) << words << "\n" << ended.err;
    EXPECT_TRUE(has(ended.err, "that is a results file")) << words << "\n" << ended.err;
    EXPECT_EQ(text_of(folder_.path(name_ + ".other")), before) << words;
  }
}

}  // namespace
}  // namespace shardlab::test
