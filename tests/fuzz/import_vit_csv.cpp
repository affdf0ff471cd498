#include "results/import_vit_csv.h"

#include "tests/fuzz/imported.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace shardlab::results;
  expect_storable(data, size, [](const ImportSource& source) {
    const auto rows = read_csv(source.text, source.name);
    return is_vit_csv(rows) ? read_vit_csv(rows, source.name, {}) : Imported{};
  });
  return 0;
}
