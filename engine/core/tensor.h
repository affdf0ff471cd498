#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/core/backend.h"
#include "engine/core/layout.h"

namespace shardlab {

class Worker;
struct TensorState;

/// Shape, dtype and layout of a whole tensor; no layout for one that lives on this rank alone.
struct Spec {
  Shape shape;
  Dtype dtype = Dtype::float32;
  const Layout* layout = nullptr;
};

/// Where a tensor came from on the tape: an entry and its output, or a leaf.
struct TapeLink {
  std::int64_t entry = -1;  ///< Number since the worker began; -1 for none.
  std::int32_t output = 0;
  bool leaf = false;  ///< A gradient is accumulated into it.
  [[nodiscard]] bool tracked() const { return leaf || entry >= 0; }
};

/// A handle to a sharded value: this rank's part of it, and what is known of the whole.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ref<TensorState> state) : state_(std::move(state)) {}

  explicit operator bool() const { return static_cast<bool>(state_); }

  /// Shape, dtype and layout of the whole.
  [[nodiscard]] const Spec& spec() const;
  [[nodiscard]] const Shape& shape() const { return spec().shape; }
  [[nodiscard]] int ndim() const { return spec().shape.ndim(); }
  [[nodiscard]] std::int64_t extent(int dim) const;
  [[nodiscard]] Dtype dtype() const { return spec().dtype; }
  [[nodiscard]] const Layout* layout() const { return spec().layout; }

  [[nodiscard]] Worker& worker() const;
  [[nodiscard]] bool tracked() const;

  /// The gradient that `backward` left here; empty if none.
  [[nodiscard]] Tensor gradient() const;

  [[nodiscard]] TensorState& state() const { return *state_; }
  [[nodiscard]] const Ref<TensorState>& ref() const { return state_; }
  friend bool operator==(const Tensor&, const Tensor&) = default;

 private:
  Ref<TensorState> state_;
};

/// A trainable leaf: where it is kept and where ops read it (FSDP: Shard and Replicate).
struct Parameter : Counted {
  std::string name;
  const Layout* used = nullptr;
};

/// A started communication that fills a tensor.
class Filling : public Counted {
 public:
  virtual ~Filling() = default;
  virtual void finish() = 0;
};

/// What a Tensor stands for.
struct TensorState : Counted {
  Worker* worker = nullptr;
  Spec spec;
  Ref<Buffer> buffer;
  View view;
  TapeLink link;
  Ref<Parameter> parameter;
  /// The whole value of a Partial one, once some reader needed it.
  Ref<TensorState> reduced;
  Ref<TensorState> gradient;
  /// To be finished by the first reader.
  Ref<Filling> filling;
};

inline const Spec& Tensor::spec() const { return state_->spec; }
inline Worker& Tensor::worker() const { return *state_->worker; }
inline bool Tensor::tracked() const { return state_->link.tracked(); }
inline Tensor Tensor::gradient() const { return Tensor(state_->gradient); }

}  // namespace shardlab
