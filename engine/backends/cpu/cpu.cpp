#include "engine/backends/cpu/cpu.h"

#include <cstdint>
#include <cstring>

#include "engine/backends/cpu/kernels.h"
#include "engine/core/check.h"
#include "engine/core/op.h"

namespace shardlab {
namespace {

bool same(const char* a, const char* b) { return std::strcmp(a, b) == 0; }

/// Ops whose float32 products some devices compute as tf32.
bool multiplies_matrices(const char* op) {
  return same(op, "linear") || same(op, "matmul") || same(op, "outer_sum");
}

std::size_t bytes_of(const View& view) {
  return static_cast<std::size_t>(view.shape.count() * width_of(view.dtype));
}

}  // namespace

void CpuBackend::run(const Call& call, Lane /*lane*/) {
  const char* const op = call.op->name();
  const cpu::KernelRow* const row = row_of(op);
  const Dtype dtype = call.outputs[0]->dtype;
  const cpu::Kernel kernel = row == nullptr ? nullptr : (*row)[dtype];
  if (kernel == nullptr) [[unlikely]]
    fail(Fault::unsupported, "cpu: no kernel for {} on {}", op, name_of(dtype));
  if (call.math == MathMode::tf32 && dtype == Dtype::float32 && multiplies_matrices(op))
    fail(Fault::unsupported, "cpu: {} in tf32; float32 products are exact here", op);
  cpu::Tools tools{product_};
  kernel(call, tools);
}

const cpu::KernelRow* CpuBackend::row_of(const char* op) {
  const auto address = reinterpret_cast<std::uintptr_t>(op);
  Found& found = found_[(address ^ address >> 8) % found_.size()];
  // The same address may hold another name by now.
  if (found.op != op || found.row == nullptr || !same(found.row->op, op)) found = {op, find(op)};
  return found.row;
}

const cpu::KernelRow* CpuBackend::find(const char* op) {
  for (const cpu::KernelRow& row : cpu::kernel_table())
    if (same(row.op, op)) return &row;
  return nullptr;
}

void CpuBackend::copy_in(const View& view, const void* host) {
  if (const std::size_t bytes = bytes_of(view); bytes > 0) std::memcpy(view.data, host, bytes);
}

void CpuBackend::copy_out(const View& view, void* host) {
  if (const std::size_t bytes = bytes_of(view); bytes > 0) std::memcpy(host, view.data, bytes);
}

Event CpuBackend::record(Lane lane) { return {lane, 0}; }
void CpuBackend::wait(Lane /*lane*/, Event /*event*/) {}
void CpuBackend::synchronize() {}

void* CpuBackend::do_allocate(std::int64_t bytes) { return allocator_.allocate(bytes); }

void CpuBackend::do_release(void* data, std::int64_t bytes, Event /*after*/) {
  allocator_.release(data, bytes);
}

}  // namespace shardlab
