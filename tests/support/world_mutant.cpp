#include "tests/support/world_mutant.h"

#include <algorithm>

namespace shardlab::test {

void MutantBackend::run(const Call& call, Lane lane) {
  Ref<Buffer> scratch;
  if (fault_ == Fault::kernel_allocates) scratch = cpu_.allocate(4096, Category::library);
  cpu_.run(call, lane);
}

void* MutantBackend::do_allocate(std::int64_t bytes) {
  held_.push_back(cpu_.allocate(bytes, Category::activation));
  return held_.back()->data();
}

void MutantBackend::do_release(void* data, std::int64_t bytes, Event /*after*/) {
  const auto found = std::find_if(held_.begin(), held_.end(), [&](const Ref<Buffer>& buffer) {
    return buffer->data() == data && buffer->bytes() == bytes;
  });
  if (found == held_.end()) return;
  if (fault_ == Fault::releases_late) late_ = *found;
  held_.erase(found);
}

}  // namespace shardlab::test
