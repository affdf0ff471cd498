#include "engine/backends/cpu/allocator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/error.h"

namespace shardlab::cpu {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool keeps_blocks = false;
#else
constexpr bool keeps_blocks = true;
#endif

TEST(CpuAllocator, BytesCountRoundedUpTo64) {
  Allocator allocator;
  void* const small = allocator.allocate(1);
  void* const large = allocator.allocate(5000001);
  EXPECT_EQ(allocator.stats().live, 64 + 5000064);
  allocator.release(small, 1);
  EXPECT_EQ(allocator.stats().live, 5000064);
  EXPECT_EQ(allocator.stats().peak, 64 + 5000064);
  allocator.release(large, 5000001);
  EXPECT_EQ(allocator.stats().live, 0);
  allocator.reset_peak();
  EXPECT_EQ(allocator.stats().peak, 0);
}

TEST(CpuAllocator, LibraryMemoryIsCountedApart) {
  Allocator allocator;
  LibraryPart library(allocator);
  void* const data = library.allocate(100);
  EXPECT_EQ(allocator.stats().live, 0);
  EXPECT_EQ(allocator.stats().library_live, 128);
  library.release(data, 100);
  EXPECT_EQ(allocator.stats().library_live, 0);
  EXPECT_EQ(allocator.stats().library_peak, 128);
}

TEST(CpuAllocator, EveryByteOfEverySizeCanBeWrittenWithoutTouchingAnother) {
  Allocator allocator;
  std::mt19937_64 random(1);
  struct Block {
    std::byte* data;
    std::int64_t bytes;
    std::byte mark;
  };
  std::vector<Block> blocks;
  const auto check = [](const Block& block) {
    for (const std::int64_t at : {std::int64_t{0}, block.bytes / 2, block.bytes - 1})
      ASSERT_EQ(block.data[at], block.mark) << block.bytes << " bytes, at " << at;
  };
  for (int round = 0; round < 4000; ++round) {
    if (blocks.size() > 40 || (!blocks.empty() && random() % 3 == 0)) {
      const std::size_t victim = random() % blocks.size();
      check(blocks[victim]);
      allocator.release(blocks[victim].data, blocks[victim].bytes);
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(victim));
      continue;
    }
    const auto bytes =
        static_cast<std::int64_t>(1 + random() % (std::uint64_t{1} << random() % 23));
    auto* const data = static_cast<std::byte*>(allocator.allocate(bytes));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0U);
    const Block block{data, bytes, static_cast<std::byte>(round % 251)};
    std::memset(data, round % 251, static_cast<std::size_t>(bytes));
    blocks.push_back(block);
  }
  std::int64_t live = 0;
  for (const Block& block : blocks) {
    check(block);
    live += (block.bytes + 63) / 64 * 64;
  }
  EXPECT_EQ(allocator.stats().live, live);
  for (const Block& block : blocks) allocator.release(block.data, block.bytes);
}

TEST(CpuAllocator, AStepThatRepeatsTakesNothingFromTheSystem) {
  if (!keeps_blocks) GTEST_SKIP() << "blocks are not kept under AddressSanitizer";
  Allocator allocator;
  const auto step = [&] {
    std::vector<std::pair<void*, std::int64_t>> blocks;
    for (const std::int64_t bytes : {64, 256, 5000, 70000, 1 << 20, 3 << 20, 40 << 20})
      for (int copy = 0; copy < 3; ++copy) blocks.emplace_back(allocator.allocate(bytes), bytes);
    std::set<void*> addresses;
    for (const auto& [data, bytes] : blocks) {
      addresses.insert(data);
      allocator.release(data, bytes);
    }
    return addresses;
  };
  const std::set<void*> first = step();
  const std::int64_t reserved = allocator.stats().reserved;
  for (int repeat = 0; repeat < 5; ++repeat) EXPECT_EQ(step(), first);
  EXPECT_EQ(allocator.stats().reserved, reserved);
}

TEST(CpuAllocator, ReservedMemoryIsAtMostAnEighthMoreThanBigBlocks) {
  if (!keeps_blocks) GTEST_SKIP() << "blocks are not kept under AddressSanitizer";
  Allocator allocator;
  for (std::int64_t bytes = (1 << 20) + 1; bytes < 64 << 20; bytes = bytes * 9 / 8 + 77) {
    const std::int64_t before = allocator.stats().reserved;
    void* const data = allocator.allocate(bytes);
    const std::int64_t taken = allocator.stats().reserved - before;
    EXPECT_GE(taken, bytes);
    EXPECT_LE(taken, bytes + bytes / 8);
    allocator.release(data, bytes);
  }
}

TEST(CpuAllocator, TooMuchMemoryIsRefusedWithBytesAskedAndLive) {
  Allocator allocator;
  void* const held = allocator.allocate(1000);
  try {
    (void)allocator.allocate(std::int64_t{1} << 60);
    FAIL() << "2^60 bytes were handed out";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::external);
    const std::string text = error.what();
    EXPECT_NE(text.find("1152921504606846976"), std::string::npos) << text;
    EXPECT_NE(text.find("1024 live"), std::string::npos) << text;
  }
  EXPECT_EQ(allocator.stats().live, 1024);
  allocator.release(held, 1000);
}

}  // namespace
}  // namespace shardlab::cpu
