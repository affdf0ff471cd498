#include "results/query.h"

#include "tests/results/fixture.h"

namespace shardlab::results {
namespace {

class QueryTest : public StorageTest {
 protected:
  RunId add(const std::string& scenario, const std::string& created) {
    RunHeader header = header_of(scenario);
    header.created = created;
    header.commit = "abc";
    header.dirty = true;
    Store store(path);
    const RunId run = store.start_run(header);
    store.finish_run(run, RunStatus::complete);
    return run;
  }
};

TEST_F(QueryTest, RunsAreListedNewestFirstWhateverTheOrderOfInsertion) {
  const RunId b = add("vit", "2031-01-02T00:00:00.000000Z");
  const RunId a = add("ring", "2031-01-01T00:00:00.000000Z");
  const RunId c = add("vit", "2031-01-03T00:00:00.000000Z");
  const RunId d = add("vit", "2031-01-03T00:00:00.000000Z");
  const Reader reader = open_for_reading(path);
  const auto ids = [&](const RunFilter& filter) {
    std::vector<RunId> found;
    for (const RunInfo& run : list_runs(reader, filter)) found.push_back(run.id);
    return found;
  };
  EXPECT_EQ(ids({}), (std::vector{d, c, b, a}));
  EXPECT_EQ(ids({.limit = 2}), (std::vector{d, c}));
  EXPECT_EQ(ids({.limit = 0}), std::vector<RunId>{});
  EXPECT_EQ(ids({.scenario = "ring"}), std::vector{a});
  EXPECT_EQ(ids({.scenario = "vit", .limit = 2}), (std::vector{d, c}));
  EXPECT_EQ(ids({.scenario = "nothing"}), std::vector<RunId>{});
}

TEST_F(QueryTest, ALineOfTheListSaysWhatTheRunIs) {
  const RunId id = add("vit", "2031-01-02T00:00:00.000000Z");
  const Reader reader = open_for_reading(path);
  const RunInfo run = list_runs(reader).at(0);
  const StoredRun stored = read_run(reader, id);
  EXPECT_EQ(run.uuid, stored.uuid);
  EXPECT_EQ(run.created, stored.header.created);
  EXPECT_EQ(run.status, RunStatus::complete);
  EXPECT_EQ(run.series, stored.header.series);
  EXPECT_EQ(run.environment, hash_of(stored.header.environment));
  EXPECT_EQ(run.commit, "abc");
  EXPECT_TRUE(run.dirty);
  EXPECT_FALSE(run.oversubscribed);
}

TEST_F(QueryTest, ARunIsFoundByNumberAndByTheBeginningOfItsUuid) {
  const RunId a = add("vit", ""), b = add("vit", "");
  const Reader reader = open_for_reading(path);
  EXPECT_EQ(find_run(reader, "1"), a);
  EXPECT_EQ(find_run(reader, "2"), b);
  const std::string uuid = read_run(reader, b).uuid;
  EXPECT_EQ(find_run(reader, uuid), b);
  EXPECT_EQ(find_run(reader, uuid.substr(0, 18)), b);
  for (const char* bad : {"", "3", "x", "99999999999999999999", "-1", "%", "1 "})
    EXPECT_EQ(error_of([&] { static_cast<void>(find_run(reader, bad)); }).fault(), Fault::invalid)
        << bad;
}

TEST_F(QueryTest, ABeginningThatTwoUuidsShareIsRefused) {
  add("vit", "");
  add("vit", "");
  Database(path, Database::Mode::write, 1).execute("UPDATE run SET uuid = 'abc' || id");
  const Reader reader = open_for_reading(path);
  EXPECT_TRUE(contains(error_of([&] { static_cast<void>(find_run(reader, "ab")); }).what(),
                       "several runs begin with 'ab'"));
  EXPECT_EQ(find_run(reader, "abc2").value, 2);
}

TEST_F(QueryTest, ARunThatDoesNotExistIsNamed) {
  add("vit", "");
  const Reader reader = open_for_reading(path);
  const Error error = error_of([&] { static_cast<void>(read_run(reader, {7})); });
  EXPECT_EQ(error.fault(), Fault::invalid);
  EXPECT_TRUE(contains(error.what(), path + ": no run 7")) << error.what();
}

TEST_F(QueryTest, MetricsOfARunAreThoseItHasSamplesOf) {
  Store store(path);
  const RunId a = store.start_run(header_of("vit")), b = store.start_run(header_of("vit"));
  store.append(a, {.metrics = {samples_of(step_seconds(), 1, 1), samples_of(flop(), 1, 1)}});
  store.append(b, {.metrics = {samples_of(flop(), 1, 1), {loss(), {}}}});
  const Reader reader = open_for_reading(path);
  EXPECT_EQ(metrics_of(reader, a), (std::vector{step_seconds(), flop()}));
  EXPECT_EQ(metrics_of(reader, b), std::vector{flop()});
}

}  // namespace
}  // namespace shardlab::results
