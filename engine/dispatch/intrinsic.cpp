#include "engine/dispatch/intrinsic.h"

#include <algorithm>

#include "engine/core/check.h"
#include "engine/dispatch/dispatch.h"

namespace shardlab {
namespace {

std::uint64_t hash_of(const Shape& shape) {
  std::uint64_t hash = hash_join(hash_start, static_cast<std::uint64_t>(shape.ndim()));
  for (const std::int64_t extent : shape)
    hash = hash_join(hash, static_cast<std::uint64_t>(extent));
  return hash;
}

/// Letters of the dims of `whole`; `part` is aligned at the innermost dim and carries those of its
/// dims that are not stretched.
Placing broadcast_placing(const Shape& whole, const Shape& part, OperandUse& whole_use,
                          OperandUse& part_use, Placing placing) {
  const int extra = whole.ndim() - part.ndim();
  for (int d = 0; d < whole.ndim(); ++d) {
    whole_use[d].letter = placing.add(whole[d]);
    if (d >= extra && part[d - extra] == whole[d]) part_use[d - extra].letter = whole_use[d].letter;
  }
  return placing;
}

void check_broadcasts(const char* op, const Shape& part, const Shape& whole) {
  const int extra = whole.ndim() - part.ndim();
  check(extra >= 0, "{}: {} has more dims than {}", op, to_string(part), to_string(whole));
  for (int d = 0; d < part.ndim(); ++d)
    check(part[d] == 1 || part[d] == whole[d + extra], "{}: {} does not broadcast to {}", op,
          to_string(part), to_string(whole));
}

DimUse range_use(int letter, const Slice::Range& range) {
  DimUse use;
  use.letter = letter;
  use.begin = range.begin;
  use.end = range.end;
  return use;
}

std::int64_t range_count(const Slice::Range& range) {
  return (range.end - range.begin + range.step - 1) / range.step;
}

std::uint64_t hash_of(const Slice::Range& range) {
  std::uint64_t hash = hash_join(hash_start, static_cast<std::uint64_t>(range.dim));
  hash = hash_join(hash, static_cast<std::uint64_t>(range.begin));
  hash = hash_join(hash, static_cast<std::uint64_t>(range.end));
  return hash_join(hash, static_cast<std::uint64_t>(range.step));
}

Cost moves(Views outputs) { return {0, 2 * bytes_of(outputs)}; }

}  // namespace

const Signature& Copy::signature() const {
  static const Signature signature("... -> ...");
  return signature;
}
Cost Copy::cost(Views, Views outputs) const { return moves(outputs); }
void Copy::gradient(GradientCall& call) const { call.results[0] = call.incoming[0]; }

void Fill::infer(InputSpecs, std::span<Spec> outputs) const { outputs[0] = spec_; }
Placing Fill::placing(InputSpecs) const { return {}; }
std::uint64_t Fill::attributes() const { return hash_of(spec_.shape); }
Cost Fill::cost(Views, Views outputs) const { return {0, bytes_of(outputs)}; }

const Signature& KeepFirst::signature() const {
  static const Signature signature("... -> ...");
  return signature;
}
Cost KeepFirst::cost(Views, Views outputs) const { return moves(outputs); }

const Signature& Add::signature() const {
  static const Signature signature("..., ... -> ...");
  return signature;
}

void Add::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  if (inputs[0]->shape == inputs[1]->shape && inputs[0]->dtype == inputs[1]->dtype) {
    outputs[0].shape = inputs[0]->shape;
    outputs[0].dtype = inputs[0]->dtype;
    return;
  }
  Op::infer(inputs, outputs);
}

Placing Add::placing(InputSpecs inputs) const {
  Placing placing = Op::placing(inputs);
  placing.pass = PartialPass::sum;
  return placing;
}

void Add::gradient(GradientCall& call) const {
  for (int i = 0; i < 2; ++i)
    if (call.wants(i)) call.results[i] = sum_to(call.incoming[0], call.specs[i].shape);
}

void SumTo::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  check_broadcasts(name(), shape_, inputs[0]->shape);
  outputs[0].shape = shape_;
  outputs[0].dtype = inputs[0]->dtype;
}

Placing SumTo::placing(InputSpecs inputs) const {
  Placing placing;
  OperandUse in{};
  OperandUse out{};
  placing = broadcast_placing(inputs[0]->shape, shape_, in, out, placing);
  placing.input[0] = in;
  placing.output[0] = out;
  placing.pass = PartialPass::sum;
  return placing;
}

std::uint64_t SumTo::attributes() const { return hash_of(shape_); }
Cost SumTo::cost(Views inputs, Views outputs) const {
  return {inputs[0]->shape.count(), bytes_of(inputs) + bytes_of(outputs)};
}

void SumTo::gradient(GradientCall& call) const {
  if (call.wants(0)) call.results[0] = expand(call.incoming[0], call.specs[0]);
}

void Expand::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  check_broadcasts(name(), inputs[0]->shape, like_.shape);
  outputs[0].shape = like_.shape;
  outputs[0].dtype = inputs[0]->dtype;
}

Placing Expand::placing(InputSpecs inputs) const {
  Placing placing;
  OperandUse in{};
  OperandUse out{};
  placing = broadcast_placing(like_.shape, inputs[0]->shape, out, in, placing);
  placing.input[0] = in;
  placing.output[0] = out;
  return placing;
}

std::uint64_t Expand::attributes() const { return hash_of(like_.shape); }
Cost Expand::cost(Views inputs, Views outputs) const {
  return {0, bytes_of(inputs) + bytes_of(outputs)};
}

void Expand::gradient(GradientCall& call) const {
  if (call.wants(0)) call.results[0] = sum_to(call.incoming[0], call.specs[0].shape);
}

void Slice::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  const Shape& shape = inputs[0]->shape;
  check(range_.begin >= 0 && range_.begin <= range_.end && range_.end <= shape[range_.dim],
        "slice: {} .. {} of dim {}, which is {}", range_.begin, range_.end, range_.dim,
        shape[range_.dim]);
  outputs[0].shape = shape;
  outputs[0].shape[range_.dim] = range_count(range_);
  outputs[0].dtype = inputs[0]->dtype;
}

Placing Slice::placing(InputSpecs inputs) const {
  const Shape& shape = inputs[0]->shape;
  Placing placing;
  for (int d = 0; d < shape.ndim(); ++d) {
    const int letter = placing.add(shape[d], d == range_.dim && range_.step != 1);
    placing.input[0][d].letter = letter;
    placing.output[0][d].letter = letter;
    if (d == range_.dim) placing.output[0][d] = range_use(letter, range_);
  }
  placing.pass = PartialPass::any;
  return placing;
}

std::uint64_t Slice::attributes() const { return hash_of(range_); }

bool Slice::look(const View& input, const Shape& start, int /*output*/, View& view) const {
  const int dim = range_.dim;
  const std::int64_t skipped =
      std::clamp<std::int64_t>(range_.begin - start[dim], 0, input.shape[dim]);
  view.strides = input.strides;
  view.strides[dim] *= range_.step;
  view.data = input.data;
  if (view.data != nullptr)
    view.data = input.as<std::byte>() + skipped * input.strides[dim] * width_of(input.dtype);
  return true;
}

void Slice::gradient(GradientCall& call) const {
  if (!call.wants(0)) return;
  Worker& worker = call.incoming[0].worker();
  Spec like = cotangent_spec(worker, call.specs[0]);
  if (range_.step != 1 && like.layout != nullptr) {
    Layout layout = *like.layout;
    layout.set_dim(range_.dim, {});
    like.layout = worker.layouts().intern(layout);
  }
  call.results[0] = dispatch(make_ref<Embed>(range_, like), {call.incoming[0]});
}

void Embed::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  check(inputs[0]->shape[range_.dim] == range_count(range_), "embed: {} elements for a range of {}",
        inputs[0]->shape[range_.dim], range_count(range_));
  outputs[0].shape = like_.shape;
  outputs[0].dtype = inputs[0]->dtype;
}

Placing Embed::placing(InputSpecs) const {
  Placing placing;
  for (int d = 0; d < like_.shape.ndim(); ++d) {
    const int letter = placing.add(like_.shape[d], d == range_.dim && range_.step != 1);
    placing.input[0][d].letter = letter;
    placing.output[0][d].letter = letter;
    if (d == range_.dim) placing.input[0][d] = range_use(letter, range_);
  }
  return placing;
}

std::uint64_t Embed::attributes() const { return hash_join(hash_of(range_), hash_of(like_.shape)); }
Cost Embed::cost(Views inputs, Views outputs) const {
  return {0, bytes_of(inputs) + bytes_of(outputs)};
}

void Embed::gradient(GradientCall& call) const {
  if (call.wants(0)) call.results[0] = slice(call.incoming[0], range_);
}

void Concat::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  Shape shape = inputs[0]->shape;
  shape[dim_] = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Shape& part = inputs[i]->shape;
    check(part.ndim() == shape.ndim() && inputs[i]->dtype == inputs[0]->dtype,
          "concat: part {} has {} dims of {}, part 0 {} of {}", i, part.ndim(),
          name_of(inputs[i]->dtype), shape.ndim(), name_of(inputs[0]->dtype));
    for (int d = 0; d < shape.ndim(); ++d)
      check(d == dim_ || part[d] == shape[d], "concat: dim {} is {} in part {}, {} in part 0", d,
            part[d], i, shape[d]);
    shape[dim_] += part[dim_];
  }
  outputs[0].shape = shape;
  outputs[0].dtype = inputs[0]->dtype;
}

Placing Concat::placing(InputSpecs inputs) const {
  const Shape& shape = inputs[0]->shape;
  Placing placing;
  for (int d = 0; d < shape.ndim(); ++d) {
    if (d == dim_) continue;
    const int letter = placing.add(shape[d]);
    for (std::size_t i = 0; i < inputs.size(); ++i) placing.input[i][d].letter = letter;
    placing.output[0][d].letter = letter;
  }
  placing.pass = PartialPass::sum;
  return placing;
}

std::uint64_t Concat::attributes() const { return static_cast<std::uint64_t>(dim_); }
Cost Concat::cost(Views, Views outputs) const { return moves(outputs); }

void Concat::gradient(GradientCall& call) const {
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < call.specs.size(); ++i) {
    const std::int64_t end = begin + call.specs[i].shape[dim_];
    if (call.wants(static_cast<int>(i)))
      call.results[i] = slice(call.incoming[0], {dim_, begin, end, 1});
    begin = end;
  }
}

Tensor add(const Tensor& a, const Tensor& b) { return dispatch(make_ref<Add>(), {a, b}); }

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return dispatch(make_ref<SumTo>(shape), {x});
}

Tensor expand(const Tensor& x, const Spec& like) {
  if (x.shape() == like.shape) return x;
  return dispatch(make_ref<Expand>(cotangent_spec(x.worker(), like)), {x});
}

Spec cotangent_spec(Worker& worker, const Spec& spec) {
  if (spec.layout == nullptr || spec.layout->partial().empty()) return spec;
  Layout whole = *spec.layout;
  whole.set_partial({}, Reduction::sum);
  return {spec.shape, spec.dtype, worker.layouts().intern(whole)};
}

Tensor slice(const Tensor& x, Slice::Range range) {
  range.dim = resolve_dim(range.dim, x.ndim(), "slice");
  check(range.step >= 1, "slice: a step of {}", range.step);
  return dispatch(make_ref<Slice>(range), {x});
}

Tensor concat(std::span<const Tensor> parts, int dim) {
  check(!parts.empty() && parts.size() <= max_inputs, "concat: {} parts; 1 to {} are possible",
        parts.size(), max_inputs);
  Tensor joined;
  dispatch(make_ref<Concat>(resolve_dim(dim, parts[0].ndim(), "concat")), parts,
           std::span(&joined, 1));
  return joined;
}

Tensor full(Worker& worker, const Spec& spec, double value) {
  return create(worker, make_ref<Fill>(value, spec));
}

}  // namespace shardlab
