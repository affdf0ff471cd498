#include "results/mark.h"

#include "tests/results/fixture.h"

namespace shardlab::results {
namespace {

class MarkTest : public StorageTest {
 protected:
  MarkTest() : store(path) {
    store.append(store.start_run(header_of("vit")), {.metrics = {samples_of(flop(), 1, 1)}});
    mark.series = header_of("vit").series;
    mark.metric = "flop";
    mark.commit = "abc";
    mark.note = "a layer more";
  }

  [[nodiscard]] std::vector<Mark> marks() const {
    return read_marks(open_for_reading(path), "flop");
  }

  Store store;
  Mark mark;
};

TEST_F(MarkTest, WhatWasAcceptedIsReadBack) {
  EXPECT_TRUE(marks().empty());
  store.accept({mark});
  ASSERT_EQ(marks().size(), 1U);
  EXPECT_EQ(marks()[0].series, canonical(mark.series));
  EXPECT_EQ(marks()[0].commit, "abc");
  EXPECT_EQ(marks()[0].note, "a layer more");
  EXPECT_EQ(marks()[0].created.size(), 27U);
  EXPECT_TRUE(read_marks(open_for_reading(path), "loss").empty());
}

TEST_F(MarkTest, AcceptingAgainKeepsTheNewNoteOnly) {
  store.accept({mark});
  mark.note = "two layers more";
  store.accept({mark});
  ASSERT_EQ(marks().size(), 1U);
  EXPECT_EQ(marks()[0].note, "two layers more");
}

TEST_F(MarkTest, WhatIsTakenBackIsGone) {
  store.accept({mark});
  EXPECT_EQ(store.reopen({mark}), 1);
  EXPECT_EQ(store.reopen({mark}), 0);
  EXPECT_TRUE(marks().empty());
}

TEST_F(MarkTest, SeriesMetricsAndCommitsThatAreNotThereAreRefusedAndNothingIsStored) {
  std::vector<Mark> bad(3, mark);
  bad[0].series.scenario = "nothing";
  bad[1].metric = "nothing";
  bad[2].commit = "";
  for (const Mark& each : bad) {
    const Error error = error_of([&] { store.accept({mark, each}); });
    EXPECT_EQ(error.fault(), Fault::invalid) << error.what();
  }
  EXPECT_TRUE(marks().empty());
}

}  // namespace
}  // namespace shardlab::results
