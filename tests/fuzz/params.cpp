#include <string>

#include "engine/core/error.h"
#include "engine/core/scenario.h"

namespace {

template <typename Read>
void attempt(const Read& read) {
  try {
    read();
  } catch (const shardlab::Error& error) {
    if (error.fault() != shardlab::Fault::invalid) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  shardlab::Params params;
  params.set("x", std::string(reinterpret_cast<const char*>(data), size));
  attempt([&] { (void)params.integer("x"); });
  attempt([&] { (void)params.number("x"); });
  attempt([&] {
    for (const std::int64_t extent : params.sizes("x"))
      if (extent < 1) __builtin_trap();
  });
  return 0;
}
