#include "results/import_hyperfine.h"

#include "tests/fuzz/imported.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace shardlab::results;
  expect_storable_json(data, size, [](const nlohmann::json& file, const ImportSource&) {
    return read_hyperfine(file);
  });
  return 0;
}
