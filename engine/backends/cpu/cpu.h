#pragma once

#include <array>
#include <cstddef>

#include "engine/backends/cpu/allocator.h"
#include "engine/backends/cpu/matrix_product.h"
#include "engine/core/backend.h"

namespace shardlab {

namespace cpu {
struct KernelRow;
}

/// Memory and kernels of one rank on the cores of this machine. Work is done when `run` returns.
class CpuBackend final : public Backend {
 public:
  [[nodiscard]] const char* name() const override { return "cpu"; }
  [[nodiscard]] bool has_values() const override { return true; }
  void run(const Call& call, Lane lane) override;
  void copy_in(const View& view, const void* host) override;
  void copy_out(const View& view, void* host) override;
  [[nodiscard]] Event record(Lane lane) override;
  void wait(Lane lane, Event event) override;
  void synchronize() override;

  /// Counted by the allocator itself, not by the ledger.
  [[nodiscard]] const cpu::CpuStats& stats() const { return allocator_.stats(); }
  void reset_peak() { allocator_.reset_peak(); }

 protected:
  [[nodiscard]] void* do_allocate(std::int64_t bytes) override;
  void do_release(void* data, std::int64_t bytes, Event after) override;

 private:
  [[nodiscard]] const cpu::KernelRow* row_of(const char* op);
  [[nodiscard]] const cpu::KernelRow* find(const char* op);

  /// Rows found before, by the address of the name.
  struct Found {
    const char* op = nullptr;
    const cpu::KernelRow* row = nullptr;
  };
  cpu::Allocator allocator_;
  cpu::LibraryPart library_{allocator_};
  cpu::MatrixProduct product_{library_};
  std::array<Found, 256> found_{};
};

}  // namespace shardlab
