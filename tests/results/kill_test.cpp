#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "results/check_database.h"
#include "results/query.h"
#include "results/writer.h"
#include "tests/results/fixture.h"

namespace shardlab::results {
namespace {

class KillTest : public StorageTest {
 protected:
  // On a disk, where a commit takes long enough to be hit.
  KillTest() : StorageTest(Place::disk) { EXPECT_EQ(pipe(ends), 0); }
  ~KillTest() override {
    close(ends[0]);
    close(ends[1]);
  }

  void tell() const { EXPECT_EQ(::write(ends[1], "x", 1), 1); }
  void await() const {
    fcntl(ends[0], F_SETFL, 0);
    char byte = 0;
    ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  }
  // How often the child told something.
  [[nodiscard]] int told() const {
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    int count = 0;
    for (char byte = 0; ::read(ends[0], &byte, 1) == 1;) ++count;
    return count;
  }

  int ends[2] = {-1, -1};
};

TEST_F(KillTest, ARunIsRunningWhileItsProcessLivesAndInterruptedAfterwards) {
  const pid_t child = start_child([&] {
    Store store(path);
    const RunId run = store.start_run(header_of("vit"));
    store.append(run, {.metrics = {samples_of(step_seconds(), 5, 2)}});
    tell();
    pause();
    return 0;
  });
  await();
  const auto status = [&] {
    const Reader reader = open_for_reading(path);
    EXPECT_EQ(list_runs(reader).at(0).status, read_run(reader, {1}).status);
    return list_runs(reader).at(0).status;
  };
  EXPECT_EQ(status(), RunStatus::running);
  kill(child, SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(status(), RunStatus::interrupted) << "dead, not yet collected";
  EXPECT_EQ(wait_for(child), -SIGKILL);
  EXPECT_EQ(status(), RunStatus::interrupted);
  EXPECT_EQ(read_run(open_for_reading(path), {1}).rows.metrics.at(0).samples.size(), 10U);
}

TEST_F(KillTest, AFinishedRunStaysFinishedWhenItsProcessIsGone) {
  const pid_t child = start_child([&] {
    Store store(path);
    store.finish_run(store.start_run(header_of("vit")), RunStatus::complete);
    return 0;
  });
  EXPECT_EQ(wait_for(child), 0);
  EXPECT_EQ(list_runs(open_for_reading(path)).at(0).status, RunStatus::complete);
}

TEST(Writer, IsRunningOnlyIfBootProcessAndStartAgree) {
  const std::string writer = this_writer();
  EXPECT_TRUE(is_running(writer));
  EXPECT_FALSE(is_running("other" + writer));
  EXPECT_FALSE(is_running(writer + "1"));
  const auto first = writer.find(' '), second = writer.rfind(' ');
  EXPECT_FALSE(is_running(writer.substr(0, first) + " 4194305" + writer.substr(second)));
  EXPECT_FALSE(is_running(writer.substr(0, first) + " ../self" + writer.substr(second)));
  EXPECT_FALSE(is_running(writer.substr(0, second)));
  EXPECT_FALSE(is_running(""));
}

// Every append adds 40 samples that carry its number and tells so after its commit.
TEST_F(KillTest, AtAnyMomentLeavesAllThatWasCommittedAndNothingHalfWritten) {
  // A slower entry of the suite asks for more.
  const char* const asked = std::getenv("SHARDLAB_KILLS");
  const int kills = asked != nullptr ? std::atoi(asked) : 40;
  std::mt19937 random(1777);
  std::uniform_int_distribution<int> moment(0, 30000);
  constexpr std::int64_t samples = 40;
  int copies = 0;
  for (int i = 0; i < kills; ++i) {
    const pid_t child = start_child([&] {
      Store store(path);
      const RunId run = store.start_run(header_of("vit", "domain=1"));
      for (std::int64_t n = 0;; ++n) {
        MetricSamples all{step_seconds(), {}};
        for (std::int64_t k = 0; k < samples; ++k)
          all.samples.push_back(
              {.iteration = n * samples + k, .rank = 0, .value = static_cast<double>(n)});
        store.append(run, {.metrics = {all}});
        tell();
      }
      return 0;
    });
    const bool waits = i % 4 != 0;  // the others may hit the creation of the file
    if (waits) await();
    std::this_thread::sleep_for(std::chrono::microseconds(moment(random)));
    kill(child, SIGKILL);
    ASSERT_EQ(wait_for(child), -SIGKILL);
    const int appended = told() + (waits ? 1 : 0);
    if (!std::filesystem::exists(path)) continue;
    const auto left = content_of_folder(folder);
    const Reader reader = open_for_reading(path);
    if (!reader.notice().empty()) ++copies;
    for (const RunInfo& info : list_runs(reader)) EXPECT_EQ(info.status, RunStatus::interrupted);
    EXPECT_TRUE(i % 8 != 0 || check_database(path).problems.empty());
    EXPECT_TRUE(content_of_folder(folder) == left) << "reading has changed the file or its journal";
    if (appended == 0) continue;
    const auto stored = read_run(reader, list_runs(reader, {.limit = 1}).at(0).id);
    const auto& found = stored.rows.metrics.at(0).samples;
    EXPECT_EQ(found.size() % samples, 0U);
    EXPECT_GE(found.size(), static_cast<std::size_t>(appended * samples));
    EXPECT_LE(found.size(), static_cast<std::size_t>((appended + 1) * samples));
    for (const Sample& s : found) EXPECT_EQ(s.value, static_cast<double>(s.iteration / samples));
  }
  RecordProperty("read_from_copies", copies);
  const auto runs = list_runs(open_for_reading(path)).size();
  EXPECT_GT(runs, 0U);
  Store(path).start_run(header_of("vit"));
  EXPECT_EQ(list_runs(open_for_reading(path)).size(), runs + 1);
}

TEST_F(KillTest, EightProcessesThatWriteAtOnceLoseNothing) {
  constexpr int processes = 8, runs = 4, appends = 5;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p)
    children.push_back(start_child([&, p] {
      Store store(path);
      for (int r = 0; r < runs; ++r) {
        RunHeader header = header_of("scenario " + std::to_string(r));
        header.seed = p;
        const RunId run = store.start_run(header);
        for (int a = 0; a < appends; ++a) {
          MetricSamples all{step_seconds(), {}};
          for (std::int32_t rank = 0; rank < 2; ++rank)
            all.samples.push_back({.iteration = a, .rank = rank, .value = p * 100.0 + a});
          store.append(run, {.metrics = {all}});
        }
        store.finish_run(run, RunStatus::complete);
      }
      return 0;
    }));
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  const Reader reader = open_for_reading(path);
  const auto list = list_runs(reader);
  EXPECT_EQ(list.size(), static_cast<std::size_t>(processes * runs));
  for (const RunInfo& info : list) {
    EXPECT_EQ(info.status, RunStatus::complete);
    const StoredRun run = read_run(reader, info.id);
    ASSERT_EQ(run.rows.metrics.at(0).samples.size(), 2U * appends);
    for (const Sample& s : run.rows.metrics[0].samples)
      EXPECT_EQ(s.value, static_cast<double>(run.header.seed * 100 + s.iteration));
  }
  EXPECT_EQ(reader.database().integer("SELECT count(*) FROM series"), runs);
  EXPECT_EQ(reader.database().integer("SELECT count(*) FROM environment"), 1);
  EXPECT_EQ(reader.database().text("PRAGMA integrity_check"), "ok");
}

}  // namespace
}  // namespace shardlab::results
