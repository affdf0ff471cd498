#include <string_view>

#include "engine/core/error.h"
#include "engine/core/mesh.h"
#include "results/series.h"

// What the engine reads as a mesh can be written and read again, and the database reads it alike.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const shardlab::Mesh mesh = shardlab::Mesh::parse(text);
    if (!(shardlab::Mesh::parse(mesh.text()) == mesh)) __builtin_trap();
    if (shardlab::results::ranks_of(mesh.text()) != mesh.size()) __builtin_trap();
  } catch (const shardlab::Error&) {
    return 0;
  }
  return 0;
}
