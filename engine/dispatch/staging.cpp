#include "engine/dispatch/staging.h"

#include "engine/core/error.h"
#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/intrinsic.h"

namespace shardlab {
namespace {

void* offset_of(const View& view, std::int64_t elements) {
  return view.data == nullptr ? nullptr : view.as<std::byte>() + elements * width_of(view.dtype);
}

/// A started call whose result is read later.
class Later final : public Filling {
 public:
  Later(Worker& worker, Communication communication, Ref<Buffer> lent)
      : worker_(worker), communication_(std::move(communication)), lent_(std::move(lent)) {}

  /// A result that nobody read: others may still use its memory.
  ~Later() override {
    if (finished_) return;
    try {
      finish();
    } catch (const Error&) {
      // The rank that failed tells; nobody waits for this result.
    }
  }

  void finish() override {
    finished_ = true;
    finish_communication(worker_, communication_);
    lent_ = {};
  }

 private:
  Worker& worker_;
  Communication communication_;
  Ref<Buffer> lent_;
  bool finished_ = false;
};

}  // namespace

Block block_of(const View& view) { return {view.data, view.shape.count(), view.dtype}; }

View part_of(View view, int dim, std::int64_t begin, std::int64_t extent) {
  view.data = offset_of(view, begin * view.strides[dim]);
  view.shape[dim] = extent;
  return view;
}

View run_of(const View& packed, std::int64_t begin, const Shape& shape) {
  return {offset_of(packed, begin), shape, dense_strides(shape), packed.dtype};
}

void copy_part(Worker& worker, const View& from, const View& to, const Spec& whole) {
  if (from.shape.count() == 0) return;
  static const Copy op;
  const View* in = &from;
  const View* out = &to;
  run_kernel(worker, op, Views(&in, 1), Views(&out, 1), whole);
}

Staging stage(Worker& worker, const Shape& shape, Dtype dtype) {
  Staging staging;
  staging.buffer =
      worker.backend().allocate(shape.count() * width_of(dtype), Category::communication);
  staging.view = {staging.buffer->data(), shape, dense_strides(shape), dtype};
  return staging;
}

Tensor make_like(const Tensor& like, const Layout* layout) {
  Spec spec = like.spec();
  spec.layout = layout;
  return allocate(like.worker(), spec, like.worker().category());
}

void communicate(const Tensor& out, const Moved& moved, const Ref<Buffer>& lent, bool later,
                 const std::function<Pending(Communicator&)>& start) {
  Worker& worker = out.worker();
  Communication communication = start_communication(worker, moved, start);
  if (later)
    out.state().filling = make_ref<Later>(worker, std::move(communication), lent);
  else
    finish_communication(worker, communication);
}

}  // namespace shardlab
