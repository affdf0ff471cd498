#include "results/import.h"

#include "tests/fuzz/imported.h"

// Whatever is recognised.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace shardlab::results;
  expect_storable(data, size, [](const ImportSource& source) {
    auto read = read_import(source, {});
    return read ? *read : Imported{};
  });
  return 0;
}
