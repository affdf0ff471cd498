#pragma once

#include <vector>

#include "engine/backends/cpu/cpu.h"

namespace shardlab::test {

/// A cpu backend under another one that may break the rules of memory.
class MutantBackend final : public Backend {
 public:
  enum class Fault : std::uint8_t { none, kernel_allocates, releases_late };
  explicit MutantBackend(Fault fault) : fault_(fault) {}
  ~MutantBackend() override { held_.clear(); }

  [[nodiscard]] const char* name() const override { return "mutant"; }
  [[nodiscard]] bool has_values() const override { return true; }
  void run(const Call& call, Lane lane) override;
  void copy_in(const View& view, const void* host) override { cpu_.copy_in(view, host); }
  void copy_out(const View& view, void* host) override { cpu_.copy_out(view, host); }
  [[nodiscard]] Event record(Lane lane) override { return cpu_.record(lane); }
  void wait(Lane lane, Event event) override { cpu_.wait(lane, event); }
  void synchronize() override { cpu_.synchronize(); }

  /// Counted beneath.
  [[nodiscard]] const cpu::CpuStats& stats() const { return cpu_.stats(); }

 protected:
  [[nodiscard]] void* do_allocate(std::int64_t bytes) override;
  void do_release(void* data, std::int64_t bytes, Event after) override;

 private:
  Fault fault_;
  CpuBackend cpu_;
  std::vector<Ref<Buffer>> held_;
  Ref<Buffer> late_;
};

}  // namespace shardlab::test
