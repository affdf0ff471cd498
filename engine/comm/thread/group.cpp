#include "engine/comm/thread/group.h"

#include <numeric>
#include <utility>

namespace shardlab::thread {

Group::Group(std::vector<int> ranks, std::string axes)
    : ranks_(std::move(ranks)),
      everyone_(ranks_.size()),
      axes_(std::move(axes)),
      posts_(depth * ranks_.size()),
      started_(ranks_.size()),
      finished_(depth * ranks_.size()),
      written_(ranks_.size()) {
  std::iota(everyone_.begin(), everyone_.end(), 0);
}

}  // namespace shardlab::thread
