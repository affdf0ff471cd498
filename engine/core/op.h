#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "engine/core/signature.h"
#include "engine/core/tensor.h"

namespace shardlab {

/// Work of one rank, from its local shapes.
struct Cost {
  std::int64_t flop = 0;
  std::int64_t bytes = 0;  ///< Operands read plus results written.
};

/// What the gradient of an op reads, one bit an input or output; the rest is kept as Spec.
struct Saves {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
};

/// A gradient to be written: what was saved, what came in, what is wanted.
struct GradientCall {
  std::span<const Tensor> inputs;    ///< Empty handles where not saved.
  std::span<const Tensor> outputs;   ///< Empty handles where not saved.
  std::span<const Spec> specs;       ///< Of the inputs.
  std::span<const Tensor> incoming;  ///< Cotangent of each output; an empty handle means zero.
  std::uint32_t wanted = 0;          ///< One bit an input.
  Worker* worker = nullptr;
  std::span<Tensor> results;  ///< Cotangent of each wanted input.

  [[nodiscard]] bool wants(int input) const { return (wanted >> input & 1U) != 0; }
};

using InputSpecs = std::span<const Spec* const>;
using Views = std::span<const View* const>;

/// An operation on whole tensors: attributes, signature, shapes, cost and gradient; no kernels.
class Op : public Counted {
 public:
  virtual ~Op() = default;

  /// Also the key of kernel tables.
  [[nodiscard]] virtual const char* name() const = 0;

  /// Ops outside the grammar override `infer` and `placing` instead.
  [[nodiscard]] virtual const Signature& signature() const;

  [[nodiscard]] virtual int outputs() const { return 1; }

  /// Checks the operands and says shape and dtype of each output.
  ///
  /// Errors   Error{invalid} from global metadata only, so that all ranks agree.
  virtual void infer(InputSpecs inputs, std::span<Spec> outputs) const;

  /// The sharding rules of a call.
  [[nodiscard]] virtual Placing placing(InputSpecs inputs) const;

  /// A layout that the caller has fixed for output 0; null lets the rules decide.
  [[nodiscard]] virtual const Layout* fixed_layout() const { return nullptr; }

  /// Distinguishes attributes that `placing` depends on.
  [[nodiscard]] virtual std::uint64_t attributes() const { return 0; }

  /// Default: one flop an element of output 0, each element read or written once.
  [[nodiscard]] virtual Cost cost(Views inputs, Views outputs) const;

  /// Bytes of scratch memory; depends on shapes and dtype only, never on the machine.
  [[nodiscard]] virtual std::int64_t workspace_bytes(Views, Views) const { return 0; }

  /// Inputs that every kernel reads with strides; others are made dense first.
  [[nodiscard]] virtual std::uint32_t strided_inputs() const { return 0; }

  /// The input whose memory an output updates in place, or -1.
  [[nodiscard]] virtual int updates(int /*output*/) const { return -1; }

  /// Whether outputs are other looks at the memory of input 0, with no kernel.
  [[nodiscard]] virtual bool looks() const { return false; }

  /// Sets data and strides of an output whose local shape is set, if `input` can be seen that way;
  /// a dense one always can. `start` is the global index of the first local element of the input.
  virtual bool look(const View& /*input*/, const Shape& /*start*/, int /*output*/,
                    View& /*view*/) const {
    return false;
  }

  [[nodiscard]] virtual Saves saves() const { return {}; }

  /// Writes the gradient in public ops on whole tensors.
  ///
  /// Errors   Error{unsupported} naming the op unless overridden.
  virtual void gradient(GradientCall& call) const;
};

/// Bytes of views, each element counted once.
[[nodiscard]] std::int64_t bytes_of(Views views);

}  // namespace shardlab
