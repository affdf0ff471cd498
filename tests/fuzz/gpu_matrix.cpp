#include <string_view>

#include "engine/core/error.h"
#include "engine/sim/gpu_matrix.h"

namespace {

void expect(bool ok) {
  if (!ok) __builtin_trap();
}

}  // namespace

// What is read as a matrix is its own mirror image, and every GPU has the NICs that there are.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using shardlab::sim::GpuMatrix;
  using shardlab::sim::MatrixLink;
  try {
    const GpuMatrix matrix = GpuMatrix::read({reinterpret_cast<const char*>(data), size}, "fuzz");
    const std::size_t devices = matrix.devices().size();
    for (std::size_t row = 0; row < devices; ++row) {
      for (std::size_t column = 0; column < devices; ++column) {
        const auto cell = matrix.between(row, column);
        expect(cell == matrix.between(column, row));
        expect((cell.link == MatrixLink::self) == (row == column));
        expect((cell.link == MatrixLink::nvlink) == (cell.nvlinks > 0));
      }
      const bool nics = matrix.nics() > (matrix.devices()[row].gpu ? 0 : 1);
      expect(matrix.nearest_nics(row).empty() != nics);
    }
  } catch (const shardlab::Error& error) {
    expect(error.fault() != shardlab::Fault::internal);
  }
  return 0;
}
