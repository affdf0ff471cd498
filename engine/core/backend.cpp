#include "engine/core/backend.h"

#include "engine/core/check.h"

namespace shardlab {

std::string to_string(Lane lane) {
  switch (lane.kind) {
    case Lane::Kind::host:
      return "host";
    case Lane::Kind::compute:
      return "compute";
    case Lane::Kind::comm:
      return fmt::format("comm{}", lane.index);
  }
  return "unknown";
}

Ref<Buffer> Backend::allocate(std::int64_t bytes, Category category) {
  check(bytes >= 0, "allocation of {} bytes", bytes);
  void* data = do_allocate(bytes);
  ledger_.charge(category, engine_bytes(bytes));
  return make_ref<Buffer>(*this, data, bytes, category);
}

void Backend::release(const Buffer& buffer) {
  ledger_.credit(buffer.category(), engine_bytes(buffer.bytes()));
  do_release(buffer.data(), buffer.bytes(), record(Lane{}));
}

}  // namespace shardlab
