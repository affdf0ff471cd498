#include "engine/core/buffer.h"

#include <gtest/gtest.h>

#include "engine/backends/meta/meta.h"

namespace shardlab {
namespace {

TEST(Ledger, CountsRequestsRoundedUpToSixtyFour) {
  MetaBackend backend;
  {
    const Ref<Buffer> a = backend.allocate(1, Category::activation);
    const Ref<Buffer> b = backend.allocate(64, Category::parameter);
    const Ref<Buffer> none = backend.allocate(0, Category::gradient);
    EXPECT_EQ(backend.ledger().live(), 128);
    EXPECT_EQ(backend.ledger().live(Category::activation), 64);
    EXPECT_EQ(backend.ledger().live(Category::gradient), 0);
  }
  EXPECT_EQ(backend.ledger().live(), 0);
  EXPECT_EQ(backend.ledger().peak(), 128);
  EXPECT_EQ(backend.ledger().at_peak(Category::parameter), 64);
}

TEST(Ledger, ResetPeakForgetsWhatWasFreed) {
  MetaBackend backend;
  const Ref<Buffer> kept = backend.allocate(100, Category::activation);
  { const Ref<Buffer> freed = backend.allocate(1000, Category::activation); }
  backend.ledger().reset_peak();
  EXPECT_EQ(backend.ledger().peak(), 128);
}

TEST(Buffer, RecategorizeMovesBytesToAnotherLineAndNotThePeak) {
  MetaBackend backend;
  const Ref<Buffer> buffer = backend.allocate(100, Category::activation);
  buffer->recategorize(Category::gradient);
  EXPECT_EQ(backend.ledger().live(Category::activation), 0);
  EXPECT_EQ(backend.ledger().live(Category::gradient), 128);
  EXPECT_EQ(backend.ledger().live(), 128);
  EXPECT_EQ(backend.ledger().peak(), 128);
}

}  // namespace
}  // namespace shardlab
