#pragma once

#include <initializer_list>
#include <span>

#include "engine/core/op.h"
#include "engine/dispatch/worker.h"

namespace shardlab {

/// Runs an op on whole tensors: infer, choose a rule, move operands that differ, allocate, run the
/// kernel on local parts, append a Step, append to the tape.
///
/// Errors   Error{invalid} from global metadata, the same on all ranks and before any data moves.
void dispatch(const Ref<const Op>& op, std::span<const Tensor> inputs, std::span<Tensor> outputs);

/// The same for an op of one output.
[[nodiscard]] Tensor dispatch(const Ref<const Op>& op, std::initializer_list<Tensor> inputs);

/// Runs an op without inputs; its `fixed_layout` says where the output lies.
[[nodiscard]] Tensor create(Worker& worker, const Ref<const Op>& op);

/// Makes a tensor without values.
[[nodiscard]] Tensor allocate(Worker& worker, const Spec& spec, Category category);

/// Runs a kernel on views of this rank: below dispatch, for moves and local regions.
void run_kernel(Worker& worker, const Op& op, Views inputs, Views outputs, const Spec& whole);

/// This rank's view of a tensor, after any communication that fills it.
[[nodiscard]] const View& ready_view(const Tensor& tensor);

/// A dense tensor of the same values; `x` itself if it is dense.
[[nodiscard]] Tensor dense(const Tensor& x);

/// This rank's part as a tensor of its own; ops on it skip placement.
[[nodiscard]] Tensor local(const Tensor& x);

/// The whole tensor whose part on this rank is `part`.
///
/// Errors   Error{invalid} if `part` has not the local shape of `layout`.
[[nodiscard]] Tensor whole(const Tensor& part, const Layout* layout, const Shape& shape);

/// Appends a Step for a kernel or look; does nothing unless steps are kept.
void note_step(Worker& worker, Step::Kind kind, const Op& op, const Spec& spec, const Shape& local,
               const Cost& cost, double begin_seconds);

/// Copies the elements of this rank's part to or from dense host memory; waits for earlier work.
///
/// Errors   Error{unsupported} under meta: there are no values.
void read(const Tensor& tensor, void* host);
void write(const Tensor& tensor, const void* host);

}  // namespace shardlab
