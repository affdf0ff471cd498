#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "engine/core/error.h"
#include "tests/support/golden.h"

namespace {

/// A file in memory, kept for all calls.
int file() {
  static const int descriptor = memfd_create("fuzz", 0);
  return descriptor;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (ftruncate(file(), 0) != 0 || pwrite(file(), data, size, 0) != static_cast<ssize_t>(size))
    return 0;
  const std::filesystem::path path = "/proc/self/fd/" + std::to_string(file());
  try {
    for (const auto& [name, array] : shardlab::golden::read_safetensors(path))
      if (array.shape.count() != static_cast<std::int64_t>(array.values.size())) __builtin_trap();
  } catch (const shardlab::Error&) {
    return 0;
  }
  return 0;
}
