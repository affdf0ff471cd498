#pragma once

#include "engine/core/op.h"

namespace shardlab {

/// Copies elements one by one, between any strides.
class Copy final : public Op {
 public:
  [[nodiscard]] const char* name() const override { return "copy"; }
  [[nodiscard]] const Signature& signature() const override;
  [[nodiscard]] std::uint32_t strided_inputs() const override { return 1; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  void gradient(GradientCall& call) const override;
};

/// Fills with one value.
class Fill final : public Op {
 public:
  Fill(double value, Spec spec) : value_(value), spec_(std::move(spec)) {}
  [[nodiscard]] const char* name() const override { return "fill"; }
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] Placing placing(InputSpecs inputs) const override;
  [[nodiscard]] const Layout* fixed_layout() const override { return spec_.layout; }
  [[nodiscard]] std::uint64_t attributes() const override;
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  [[nodiscard]] double value() const { return value_; }

 private:
  double value_;
  Spec spec_;
};

/// Keeps the value on the first rank of some axes and zero elsewhere: Replicate to Partial.
class KeepFirst final : public Op {
 public:
  explicit KeepFirst(bool first) : first_(first) {}
  [[nodiscard]] const char* name() const override { return "keep_first"; }
  [[nodiscard]] const Signature& signature() const override;
  [[nodiscard]] std::uint32_t strided_inputs() const override { return 1; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  [[nodiscard]] bool first() const { return first_; }

 private:
  bool first_;
};

/// Sum of two tensors, broadcast.
class Add final : public Op {
 public:
  [[nodiscard]] const char* name() const override { return "add"; }
  [[nodiscard]] const Signature& signature() const override;
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] Placing placing(InputSpecs inputs) const override;
  [[nodiscard]] std::uint32_t strided_inputs() const override { return 3; }
  void gradient(GradientCall& call) const override;
};

/// Sum over leading and stretched dims back to a shape that broadcasts to the input's.
class SumTo final : public Op {
 public:
  explicit SumTo(Shape shape) : shape_(shape) {}
  [[nodiscard]] const char* name() const override { return "sum_to"; }
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] Placing placing(InputSpecs inputs) const override;
  [[nodiscard]] std::uint64_t attributes() const override;
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  void gradient(GradientCall& call) const override;

 private:
  Shape shape_;
};

/// Repeats along stretched and new leading dims, to the shape and layout of another tensor.
class Expand final : public Op {
 public:
  explicit Expand(Spec like) : like_(std::move(like)) {}
  [[nodiscard]] const char* name() const override { return "expand"; }
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] Placing placing(InputSpecs inputs) const override;
  [[nodiscard]] const Layout* fixed_layout() const override { return like_.layout; }
  [[nodiscard]] std::uint64_t attributes() const override;
  [[nodiscard]] std::uint32_t strided_inputs() const override { return 1; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  void gradient(GradientCall& call) const override;

 private:
  Spec like_;
};

/// Elements begin .. end of a dim, every `step`-th: another look at the same memory.
class Slice final : public Op {
 public:
  struct Range {
    int dim = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t step = 1;
  };
  explicit Slice(Range range) : range_(range) {}
  [[nodiscard]] const char* name() const override { return "slice"; }
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] Placing placing(InputSpecs inputs) const override;
  [[nodiscard]] std::uint64_t attributes() const override;
  [[nodiscard]] std::uint32_t strided_inputs() const override { return 1; }
  [[nodiscard]] bool looks() const override { return true; }
  bool look(const View& input, const Shape& start, int output, View& view) const override;
  void gradient(GradientCall& call) const override;

 private:
  Range range_;
};

/// Zeros with the input at a range of a dim, lying like another tensor: the gradient of Slice.
class Embed final : public Op {
 public:
  Embed(Slice::Range range, Spec like) : range_(range), like_(std::move(like)) {}
  [[nodiscard]] const char* name() const override { return "embed"; }
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] Placing placing(InputSpecs inputs) const override;
  [[nodiscard]] const Layout* fixed_layout() const override { return like_.layout; }
  [[nodiscard]] std::uint64_t attributes() const override;
  [[nodiscard]] std::uint32_t strided_inputs() const override { return 1; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  void gradient(GradientCall& call) const override;
  [[nodiscard]] const Slice::Range& range() const { return range_; }

 private:
  Slice::Range range_;
  Spec like_;
};

/// Tensors one after another along a dim.
class Concat final : public Op {
 public:
  explicit Concat(int dim) : dim_(dim) {}
  [[nodiscard]] const char* name() const override { return "concat"; }
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] Placing placing(InputSpecs inputs) const override;
  [[nodiscard]] std::uint64_t attributes() const override;
  [[nodiscard]] std::uint32_t strided_inputs() const override { return ~0U; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  void gradient(GradientCall& call) const override;
  [[nodiscard]] int dim() const { return dim_; }

 private:
  int dim_;
};

/// Sum of tensors, broadcast; Partial sums pass through.
[[nodiscard]] Tensor add(const Tensor& a, const Tensor& b);

/// Sums a broadcast result back to the shape of an operand; `x` itself if it has that shape.
[[nodiscard]] Tensor sum_to(const Tensor& x, const Shape& shape);

/// Repeats `x` to the shape and layout of another tensor.
[[nodiscard]] Tensor expand(const Tensor& x, const Spec& like);

/// Where a cotangent of a tensor lies: like the tensor, but whole where that holds pending pieces,
/// since the cotangent of each piece is that of their sum.
[[nodiscard]] Spec cotangent_spec(Worker& worker, const Spec& spec);

/// Elements of a dim; negative dims count from the end.
[[nodiscard]] Tensor slice(const Tensor& x, Slice::Range range);

/// Joins at most `max_inputs` tensors along a dim.
[[nodiscard]] Tensor concat(std::span<const Tensor> parts, int dim);

/// A tensor of one value, where `spec.layout` says.
[[nodiscard]] Tensor full(Worker& worker, const Spec& spec, double value);

}  // namespace shardlab
