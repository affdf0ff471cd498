#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/core/op.h"

namespace shardlab {

/// The ops of a forward pass in program order, replayed backwards.
///
/// An entry keeps what its op says its gradient reads, as given and never as moved; the rest is
/// kept as Spec. Entry numbers only grow, so a link to a dropped entry is recognised.
class Tape {
 public:
  struct Input {
    Spec spec;
    TapeLink link;
    Ref<TensorState> tensor;  ///< If saved or a leaf.
    std::uint32_t version = 0;
    bool saved = false;
  };
  struct Output {
    Spec spec;
    Ref<TensorState> tensor;  ///< If saved.
    std::uint32_t version = 0;
    Tensor incoming;  ///< Cotangent collected during a replay.
  };
  struct Entry {
    Ref<const Op> op;
    const std::string* scope = nullptr;  ///< Part of the model, while a trace is kept.
    std::int32_t first_input = 0;
    std::int32_t inputs = 0;
    std::int32_t first_output = 0;
    std::int32_t outputs = 0;
  };

  /// Appends a call and links its outputs to it.
  void append(Ref<const Op> op, std::span<const Tensor> inputs, std::span<Tensor> outputs);

  /// Number of the next entry.
  [[nodiscard]] std::int64_t end() const {
    return base_ + static_cast<std::int64_t>(entries_.size());
  }
  [[nodiscard]] std::int64_t begin() const { return base_; }

  /// Drops all entries, or those from number `from` on.
  void clear();
  void truncate(std::int64_t from);

  [[nodiscard]] Entry& entry(std::int64_t number) { return entries_[number - base_]; }
  [[nodiscard]] Input& input(const Entry& entry, int i) { return inputs_[entry.first_input + i]; }
  [[nodiscard]] Output& output(const Entry& entry, int i) {
    return outputs_[entry.first_output + i];
  }

  /// Lets go of what an entry saved.
  void drop(std::int64_t number);

  /// While set, collects every tracked tensor made before entry `from` that a call reads.
  struct Capture {
    std::int64_t from = 0;
    std::vector<Tensor> tensors;
  };
  Capture* capture = nullptr;

 private:
  std::int64_t base_ = 0;
  std::vector<Entry> entries_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
};

/// Notes that a call reads `inputs` if a capture is on.
void note_reads(Tape& tape, std::span<const Tensor> inputs);

/// How gradients are taken.
struct GradientOptions {
  bool record = false;    ///< Puts the gradients on the tape themselves, for second order.
  std::int64_t from = 0;  ///< Stops at tensors made before this entry of the tape.
};

/// Gradients of the sum of outputs times seeds with respect to `wrt`; touches no leaf.
///
/// Shapes   One result for each of `wrt`, of its shape.
/// Errors   Error{invalid} naming a tensor of `wrt` that the outputs do not reach;
///          Error{unsupported} naming an op without a gradient.
[[nodiscard]] std::vector<Tensor> gradients(std::span<const Tensor> outputs,
                                            std::span<const Tensor> wrt,
                                            std::span<const Tensor> seeds,
                                            GradientOptions options = {});

/// What `backward` reached.
struct BackwardReport {
  std::vector<std::string> unreached;  ///< Parameters that the loss does not read.
};

/// Adds the gradient of `loss` to every leaf that it reaches, and clears the tape.
///
/// A leaf's gradient moves once to where the leaf is stored, as soon as its last reader has been
/// replayed; with `reduce = false` it stays Partial, to be joined by those of later micro-batches.
BackwardReport backward(const Tensor& loss, bool reduce = true);

/// Runs `f` without keeping what its gradients need, and runs it again when they are asked for.
[[nodiscard]] Tensor checkpoint(const std::function<Tensor(std::span<const Tensor>)>& f,
                                std::span<const Tensor> inputs);

}  // namespace shardlab
