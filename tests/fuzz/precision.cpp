#include <string_view>

#include "engine/core/dtype.h"
#include "engine/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    if (text != shardlab::name_of(shardlab::parse_precision(text))) __builtin_trap();
  } catch (const shardlab::Error&) {
    return 0;
  }
  return 0;
}
