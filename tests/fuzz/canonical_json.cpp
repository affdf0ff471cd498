#include <string>
#include <string_view>

#include "engine/core/error.h"
#include "results/json.h"

// The canonical text is its own canonical text.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::string text;
  try {
    text = shardlab::results::canonical_json({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const shardlab::Error&) {
    return 0;
  }
  if (shardlab::results::canonical_json(text, "fuzz") != text) __builtin_trap();
  return 0;
}
