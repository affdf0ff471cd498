#include "results/import_google_benchmark.h"

#include "tests/fuzz/imported.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace shardlab::results;
  expect_storable_json(data, size, [](const nlohmann::json& file, const ImportSource&) {
    return read_google_benchmark(file);
  });
  return 0;
}
