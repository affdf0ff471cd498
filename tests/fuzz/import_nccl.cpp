#include "tools/import_nccl.h"

#include "tests/fuzz/imported.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace shardlab;
  results::expect_storable(data, size, [](const results::ImportSource& source) {
    return read_nccl_import(sim::read_nccl_log(source.text, source.name), {});
  });
  return 0;
}
