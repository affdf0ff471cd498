#include "results/import_runs.h"

#include "tests/fuzz/imported.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace shardlab::results;
  expect_storable_json(data, size, [](const nlohmann::json& file, const ImportSource& source) {
    return read_runs(file, source.name);
  });
  return 0;
}
