#pragma once

#include "engine/core/backend.h"

namespace shardlab {

/// A backend that counts bytes, holds no values and runs nothing.
class MetaBackend final : public Backend {
 public:
  [[nodiscard]] const char* name() const override { return "meta"; }
  [[nodiscard]] bool has_values() const override { return false; }
  void run(const Call& call, Lane lane) override;
  void copy_in(const View& view, const void* host) override;
  void copy_out(const View& view, void* host) override;
  [[nodiscard]] Event record(Lane lane) override;
  void wait(Lane lane, Event event) override;
  void synchronize() override;

 protected:
  [[nodiscard]] void* do_allocate(std::int64_t bytes) override;
  void do_release(void* data, std::int64_t bytes, Event after) override;
};

}  // namespace shardlab
