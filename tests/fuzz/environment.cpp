#include <string_view>

#include "engine/core/error.h"
#include "results/series.h"

// What is read as an environment is written and read again as the same.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  shardlab::results::EnvironmentKey key;
  try {
    key = shardlab::results::environment_from({reinterpret_cast<const char*>(data), size});
  } catch (const shardlab::Error&) {
    return 0;
  }
  if (!(shardlab::results::environment_from(shardlab::results::text_of(key)) == key))
    __builtin_trap();
  return 0;
}
