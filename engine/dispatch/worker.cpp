#include "engine/dispatch/worker.h"

#include <algorithm>

#include "engine/core/check.h"

namespace shardlab {

Worker::Worker(Parts parts)
    : backend_(std::move(parts.backend)),
      network_(std::move(parts.network)),
      layouts_(std::move(parts.layouts)),
      at_(layouts_->mesh().coordinates(parts.rank)),
      precision_(parts.precision),
      seed_(parts.seed) {}

Worker::~Worker() = default;

Worker::Opened& Worker::opened(const AxisList& axes) {
  for (Opened& opened : communicators_)
    if (opened.axes == axes) return opened;
  expect(communicators_.size() < 64, "more than 64 communicators");
  return communicators_.emplace_back(Opened{axes, network_->open(mesh(), axes, at_)});
}

Communicator& Worker::communicator(const AxisList& axes) { return *opened(axes).communicator; }

Lane Worker::comm_lane(const AxisList& axes) {
  return {Lane::Kind::comm, static_cast<std::uint8_t>(&opened(axes) - communicators_.data())};
}

void Worker::add_note(const std::string& note) {
  if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
}

Shape Worker::local_shape(const Layout* layout, const Shape& shape) {
  if (layout == nullptr) return shape;
  for (int d = 0; d < layout->ndim(); ++d) {
    const DimLayout& dim = layout->dim(d);
    if (dim.split == nullptr || dim.split->uniform()) continue;
    const std::uint64_t key = hash_join(dim.split->hash(), hash_join(hash_start, dim.axes.mask()));
    answers_.log(key, at_, [layout, d](const Coordinates& at) {
      return static_cast<std::uint64_t>(layout->extent(d, 0, at));
    });
  }
  return layout->local_shape(shape, at_);
}

}  // namespace shardlab
