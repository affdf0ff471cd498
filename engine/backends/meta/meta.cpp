#include "engine/backends/meta/meta.h"

#include "engine/core/error.h"

namespace shardlab {

void MetaBackend::run(const Call& /*call*/, Lane /*lane*/) {}
void MetaBackend::copy_in(const View& /*view*/, const void* /*host*/) {}

void MetaBackend::copy_out(const View& /*view*/, void* /*host*/) {
  throw Error(Fault::unsupported, "meta: there are no values to read");
}

Event MetaBackend::record(Lane lane) { return {lane, 0}; }
void MetaBackend::wait(Lane /*lane*/, Event /*event*/) {}
void MetaBackend::synchronize() {}
void* MetaBackend::do_allocate(std::int64_t /*bytes*/) { return nullptr; }
void MetaBackend::do_release(void* /*data*/, std::int64_t /*bytes*/, Event /*after*/) {}

}  // namespace shardlab
