#include "results/published.h"

#include <cmath>
#include <string>
#include <string_view>

#include "engine/core/error.h"

// What is read has rows whose numbers can be divided by.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace shardlab::results;
  try {
    const PublishedRows rows =
        read_published({reinterpret_cast<const char*>(data), size}, "fuzz.csv");
    if (rows.rows.empty() || rows.scenario.empty()) __builtin_trap();
    for (const PublishedRow& row : rows.rows) {
      if (row.gpus < 1 || row.line < 1) __builtin_trap();
      if (row.seconds && !(std::isfinite(*row.seconds) && *row.seconds > 0)) __builtin_trap();
      if (row.peak_gib && !(std::isfinite(*row.peak_gib) && *row.peak_gib > 0)) __builtin_trap();
    }
  } catch (const shardlab::Error& error) {
    if (error.fault() != shardlab::Fault::invalid) __builtin_trap();
  }
  return 0;
}
