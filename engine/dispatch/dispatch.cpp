#include "engine/dispatch/dispatch.h"

#include <utility>

#include "engine/core/check.h"
#include "engine/dispatch/intrinsic.h"
#include "engine/dispatch/redistribute.h"

namespace shardlab {
namespace {

Ref<TensorState> new_state(Worker& worker, const Spec& spec, const Shape& local) {
  Ref<TensorState> state = make_ref<TensorState>();
  state->worker = &worker;
  state->spec = spec;
  state->view.shape = local;
  state->view.dtype = spec.dtype;
  state->view.strides = dense_strides(local);
  return state;
}

void fill_from(TensorState& state, Ref<Buffer> buffer) {
  state.view.data = buffer->data();
  state.buffer = std::move(buffer);
}

Shape start_of(const Worker& worker, const Spec& spec);

/// One dispatch in progress.
struct Dispatch {
  Worker& worker;
  const Ref<const Op>& op;
  std::span<const Tensor> inputs;
  std::span<Tensor> outputs;
  std::array<Tensor, max_inputs> operands{};
  std::array<Spec, max_outputs> specs{};
  const Plan* plan = nullptr;
  bool on_this_rank = false;

  void run() {
    infer();
    place();
    const double begin = worker.trace().keeping() ? Trace::now_seconds() : 0;
    std::array<const View*, max_inputs> in{};
    if (op->looks()) {
      look(begin);
    } else {
      make_operands_dense();
      for (std::size_t i = 0; i < inputs.size(); ++i) in[i] = &operands[i].state().view;
      run_kernel(Views(in).first(inputs.size()), begin);
    }
    if (worker.tape().capture != nullptr) note_reads(worker.tape(), inputs);
    if (worker.taping()) record();
  }

  void infer() {
    std::array<const Spec*, max_inputs> in{};
    int local_operands = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      expect(static_cast<bool>(inputs[i]), "{}: operand {} is empty", op->name(), i);
      in[i] = &inputs[i].spec();
      if (in[i]->layout == nullptr) ++local_operands;
    }
    on_this_rank = local_operands > 0;
    check(local_operands == 0 || local_operands == static_cast<int>(inputs.size()),
          "{}: mixes {} tensors of this rank with {} whole ones", op->name(), local_operands,
          static_cast<int>(inputs.size()) - local_operands);
    op->infer(InputSpecs(in).first(inputs.size()), std::span(specs).first(outputs.size()));
  }

  void place() {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const TensorState& state = inputs[i].state();
      if (state.filling) (void)ready_view(inputs[i]);
      const bool stored_elsewhere =
          state.parameter && state.parameter->used != state.spec.layout && !updated(i);
      operands[i] = stored_elsewhere ? move(inputs[i], state.parameter->used) : inputs[i];
    }
    if (on_this_rank) return;
    if (worker.mesh().size() == 1 || inputs.empty()) {
      for (std::size_t o = 0; o < outputs.size(); ++o) {
        specs[o].layout = inputs.empty() ? op->fixed_layout()
                                         : worker.layouts().replicated(specs[o].shape.ndim());
        if (inputs.empty()) (void)worker.local_shape(specs[o].layout, specs[o].shape);
      }
      return;
    }
    std::array<Operand, max_inputs> seen{};
    for (std::size_t i = 0; i < inputs.size(); ++i)
      seen[i] = {&operands[i].spec(), inputs[i].state().parameter || updated(i)};
    const std::span<const Operand> all = std::span(seen).first(inputs.size());
    const std::uint64_t key = PlanCache::key(*op, all);
    plan = worker.plans().find(key);
    if (plan == nullptr) plan = &new_plan(key, all);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (operands[i].layout() != plan->inputs[i]) {
        expect(!updated(i), "{}: operand {} is updated in place but lies elsewhere", op->name(), i);
        operands[i] = move(operands[i], plan->inputs[i]);
      }
    for (std::size_t o = 0; o < outputs.size(); ++o) specs[o].layout = plan->outputs[o];
  }

  const Plan& new_plan(std::uint64_t key, std::span<const Operand> all) {
    const Plan fresh =
        choose_plan(*op, all, std::span(specs).first(outputs.size()), worker.layouts());
    // Whatever kernels see of this rank's place is asked for here, so that the log has it.
    for (std::size_t i = 0; i < inputs.size(); ++i)
      (void)worker.local_shape(fresh.inputs[i], inputs[i].shape());
    for (std::size_t o = 0; o < outputs.size(); ++o)
      (void)worker.local_shape(fresh.outputs[o], specs[o].shape);
    return worker.plans().keep(key, fresh);
  }

  [[nodiscard]] bool updated(std::size_t input) const {
    for (std::size_t o = 0; o < outputs.size(); ++o)
      if (op->updates(static_cast<int>(o)) == static_cast<int>(input)) return true;
    return false;
  }

  [[nodiscard]] Shape local_shape(const Spec& spec) const {
    return spec.layout == nullptr || !spec.layout->sharded()
               ? spec.shape
               : spec.layout->local_shape(spec.shape, worker.coordinates());
  }

  void make_operands_dense() {
    const std::uint32_t strided = op->strided_inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if ((strided >> i & 1U) == 0) operands[i] = dense(operands[i]);
  }

  void look(double begin) {
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const int output = static_cast<int>(o);
      const Ref<TensorState> state = new_state(worker, specs[o], local_shape(specs[o]));
      const Shape start = start_of(worker, operands[0].spec());
      if (!op->look(operands[0].state().view, start, output, state->view)) {
        operands[0] = dense(operands[0]);
        expect(op->look(operands[0].state().view, start, output, state->view),
               "{}: cannot look at dense memory", op->name());
      }
      state->buffer = operands[0].state().buffer;
      outputs[o] = Tensor(state);
    }
    ++worker.trace().totals().dispatches;
    if (worker.trace().keeping())
      note_step(worker, Step::Kind::look, *op, specs[0], outputs[0].state().view.shape, {}, begin);
  }

  void run_kernel(Views in, double begin) {
    std::array<const View*, max_outputs> out{};
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const int updates = op->updates(static_cast<int>(o));
      if (updates >= 0) {
        outputs[o] = inputs[static_cast<std::size_t>(updates)];
        outputs[o].state().buffer->changed();
      } else {
        const Ref<TensorState> state = new_state(worker, specs[o], local_shape(specs[o]));
        fill_from(*state,
                  worker.backend().allocate(state->view.shape.count() * width_of(specs[o].dtype),
                                            worker.category()));
        outputs[o] = Tensor(state);
      }
      out[o] = &outputs[o].state().view;
    }
    const Views results = Views(out).first(outputs.size());
    Call call;
    call.op = op.get();
    call.inputs = in;
    call.outputs = results;
    call.start = start_of(worker, specs[0]);
    call.whole = specs[0].shape;
    call.math = worker.precision().math;
    Ref<Buffer> workspace;
    if (const std::int64_t bytes = op->workspace_bytes(in, results); bytes > 0) {
      workspace = worker.backend().allocate(bytes, Category::workspace);
      call.workspace = workspace->data();
    }
    worker.backend().run(call, Lane{});
    const Cost cost = op->cost(in, results);
    Totals& totals = worker.trace().totals();
    ++totals.dispatches;
    totals.flop += cost.flop;
    if (worker.trace().keeping())
      note_step(worker, Step::Kind::kernel, *op, specs[0], out[0]->shape, cost, begin);
  }

  void record() {
    bool tracked = false;
    for (const Tensor& input : inputs) tracked = tracked || input.tracked();
    if (tracked) worker.tape().append(op, inputs, outputs);
  }
};

Shape start_of(const Worker& worker, const Spec& spec) {
  Shape start = spec.shape;
  const bool sharded = spec.layout != nullptr && spec.layout->sharded();
  for (int d = 0; d < start.ndim(); ++d)
    start[d] = sharded ? spec.layout->start(d, worker.coordinates()) : 0;
  return start;
}

}  // namespace

void dispatch(const Ref<const Op>& op, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  check(!inputs.empty() && static_cast<bool>(inputs[0]), "{}: operand 0 is empty", op->name());
  Dispatch{inputs[0].worker(), op, inputs, outputs}.run();
}

Tensor dispatch(const Ref<const Op>& op, std::initializer_list<Tensor> inputs) {
  Tensor output;
  dispatch(op, std::span(inputs.begin(), inputs.size()), std::span(&output, 1));
  return output;
}

Tensor create(Worker& worker, const Ref<const Op>& op) {
  Tensor output;
  Dispatch{worker, op, {}, std::span(&output, 1)}.run();
  return output;
}

Tensor allocate(Worker& worker, const Spec& spec, Category category) {
  const Ref<TensorState> state =
      new_state(worker, spec, worker.local_shape(spec.layout, spec.shape));
  fill_from(*state,
            worker.backend().allocate(state->view.shape.count() * width_of(spec.dtype), category));
  return Tensor(state);
}

void run_kernel(Worker& worker, const Op& op, Views inputs, Views outputs, const Spec& whole) {
  const double begin = worker.trace().keeping() ? Trace::now_seconds() : 0;
  Call call;
  call.op = &op;
  call.inputs = inputs;
  call.outputs = outputs;
  call.whole = outputs[0]->shape;
  call.start = call.whole;
  for (int d = 0; d < call.start.ndim(); ++d) call.start[d] = 0;
  worker.backend().run(call, Lane{});
  const Cost cost = op.cost(inputs, outputs);
  worker.trace().totals().flop += cost.flop;
  if (worker.trace().keeping())
    note_step(worker, Step::Kind::kernel, op, whole, outputs[0]->shape, cost, begin);
}

const View& ready_view(const Tensor& tensor) {
  TensorState& state = tensor.state();
  if (state.filling) std::exchange(state.filling, {})->finish();
  return state.view;
}

Tensor dense(const Tensor& x) {
  const View& view = ready_view(x);
  if (is_dense(view.shape, view.strides)) return x;
  Worker& worker = x.worker();
  static const Copy copy;
  const Tensor packed = allocate(worker, x.spec(), worker.category());
  const View* in = &view;
  const View* out = &packed.state().view;
  run_kernel(worker, copy, Views(&in, 1), Views(&out, 1), x.spec());
  return packed;
}

Tensor local(const Tensor& x) {
  const View& view = ready_view(x);
  check(x.layout() == nullptr || x.layout()->partial().empty(),
        "local: the value is Partial; redistribute it first");
  const Ref<TensorState> state = make_ref<TensorState>();
  state->worker = &x.worker();
  state->spec = {view.shape, x.dtype(), nullptr};
  state->view = view;
  state->buffer = x.state().buffer;
  return Tensor(state);
}

Tensor whole(const Tensor& part, const Layout* layout, const Shape& shape) {
  Worker& worker = part.worker();
  const Shape expected = worker.local_shape(layout, shape);
  check(part.shape() == expected, "whole: the part is {}, the layout says {}",
        to_string(part.shape()), to_string(expected));
  const Ref<TensorState> state = make_ref<TensorState>();
  state->worker = &worker;
  state->spec = {shape, part.dtype(), layout};
  state->view = ready_view(part);
  state->buffer = part.state().buffer;
  return Tensor(state);
}

void note_step(Worker& worker, Step::Kind kind, const Op& op, const Spec& spec, const Shape& local,
               const Cost& cost, double begin_seconds) {
  Step step;
  step.kind = kind;
  step.op = op.name();
  step.dtype = spec.dtype;
  step.scope = current_scope(worker.trace());
  step.shape = spec.shape;
  step.layout = spec.layout;
  step.local = local;
  step.flop = cost.flop;
  step.bytes = cost.bytes;
  step.live_bytes = worker.backend().ledger().live();
  step.begin_seconds = begin_seconds;
  step.end_seconds = Trace::now_seconds();
  worker.trace().append(step);
}

void read(const Tensor& tensor, void* host) {
  Worker& worker = tensor.worker();
  if (!worker.backend().has_values())
    fail(Fault::unsupported, "a value is read, but {} holds none", worker.backend().name());
  const Tensor packed = dense(tensor);
  worker.backend().copy_out(packed.state().view, host);
}

void write(const Tensor& tensor, const void* host) {
  const View& view = ready_view(tensor);
  check(is_dense(view.shape, view.strides), "write: the tensor is a strided look");
  tensor.worker().backend().copy_in(view, host);
  tensor.state().buffer->changed();
}

}  // namespace shardlab
