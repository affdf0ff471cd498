#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/core/buffer.h"
#include "engine/core/dtype.h"
#include "engine/core/shape.h"

namespace shardlab {

class Op;

/// Where work is queued: one host and one compute lane a rank, one comm lane a communicator.
struct Lane {
  enum class Kind : std::uint8_t { host, compute, comm } kind = Kind::compute;
  std::uint8_t index = 0;
  friend bool operator==(const Lane&, const Lane&) = default;
};

[[nodiscard]] std::string to_string(Lane lane);

/// A point in the work of a lane; 0 is the start of the program.
struct Event {
  Lane lane;
  std::uint64_t number = 0;
};

/// Local elements as kernels see them.
///
/// Units    Strides are elements.
struct View {
  void* data = nullptr;
  Shape shape;
  Strides strides{};
  Dtype dtype = Dtype::float32;

  template <typename T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data);
  }
};

/// Work for one kernel: operands are checked, outputs allocated, all local to the rank.
struct Call {
  const Op* op = nullptr;
  std::span<const View* const> inputs;
  std::span<const View* const> outputs;
  /// As many bytes as the op's workspace formula says; null if it says none.
  void* workspace = nullptr;
  /// Global index of the first local element of output 0, and the global shape of that output.
  Shape start;
  Shape whole;
  MathMode math = MathMode::exact;
};

/// Memory and kernels of one rank on one kind of device.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual const char* name() const = 0;

  /// Whether buffers hold values; meta has none.
  [[nodiscard]] virtual bool has_values() const = 0;

  /// Memory for at least `bytes`, aligned to 64, charged to `category`.
  ///
  /// Errors   Error{external} if there is none left.
  [[nodiscard]] Ref<Buffer> allocate(std::int64_t bytes, Category category);

  /// Queues a kernel on a lane; errors of asynchronous devices may surface later.
  ///
  /// Errors   Error{unsupported} naming op and dtype if there is no such kernel.
  virtual void run(const Call& call, Lane lane) = 0;

  /// Copies dense host memory into a dense view, and back; both wait for earlier work.
  virtual void copy_in(const View& view, const void* host) = 0;
  virtual void copy_out(const View& view, void* host) = 0;

  /// Marks the work queued on a lane so far, and makes a lane wait for a mark.
  [[nodiscard]] virtual Event record(Lane lane) = 0;
  virtual void wait(Lane lane, Event event) = 0;
  virtual void synchronize() = 0;

  /// Gives memory back once `buffer`'s work is done; called with its last reference.
  void release(const Buffer& buffer);

  /// Most bytes that libraries held since the last reset: scratchpads, packed copies, staging.
  [[nodiscard]] virtual std::int64_t library_peak_bytes() const { return 0; }
  virtual void reset_library_peak() {}

  [[nodiscard]] Ledger& ledger() { return ledger_; }
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }

 protected:
  [[nodiscard]] virtual void* do_allocate(std::int64_t bytes) = 0;

  /// Called in the issuing thread's order; the device may still be at `after`.
  virtual void do_release(void* data, std::int64_t bytes, Event after) = 0;

 private:
  Ledger ledger_;
};

}  // namespace shardlab
