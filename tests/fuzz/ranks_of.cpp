#include <string_view>

#include "engine/core/error.h"
#include "results/series.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  try {
    if (shardlab::results::ranks_of({reinterpret_cast<const char*>(data), size}) < 1)
      __builtin_trap();
  } catch (const shardlab::Error&) {
    return 0;
  }
  return 0;
}
