#include "engine/core/check.h"
#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/gradients.h"

namespace shardlab {
namespace {

using Function = std::function<Tensor(std::span<const Tensor>)>;

/// The same value as a tensor of its own, with no past on the tape.
Tensor detached(const Tensor& x) {
  const Ref<TensorState> state = make_ref<TensorState>();
  state->worker = &x.worker();
  state->spec = x.spec();
  state->view = ready_view(x);
  state->buffer = x.state().buffer;
  return Tensor(state);
}

/// A function whose inside is computed again for its gradient. Its operands are the inputs and
/// every tracked tensor that the function read from outside.
class Checkpoint final : public Op {
 public:
  Checkpoint(Function f, std::size_t inputs, std::uint64_t random_calls)
      : f_(std::move(f)), inputs_(inputs), random_calls_(random_calls) {}
  [[nodiscard]] const char* name() const override { return "checkpoint"; }
  [[nodiscard]] Saves saves() const override { return {~0U, 0}; }

  void gradient(GradientCall& call) const override {
    Worker& worker = call.incoming[0].worker();
    if (worker.taping())
      fail(Fault::unsupported, "checkpoint: its gradient has none of its own; use record = false");
    Tape& tape = worker.tape();
    const std::int64_t mark = tape.end();
    const std::uint64_t random_calls = worker.random_calls();
    worker.set_random_calls(random_calls_);
    for (std::size_t i = 0; i < call.inputs.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        // The first of equal operands gets the gradient of all.
        if (call.inputs[i] == call.inputs[j]) call.wanted &= ~(1U << i);
    std::vector<Tensor> wrt;
    for (std::size_t i = 0; i < call.inputs.size(); ++i)
      if (call.wants(static_cast<int>(i))) wrt.push_back(call.inputs[i]);
    std::vector<Tensor> found;
    {
      const Taping taping(worker, true);
      const Tensor output = f_(call.inputs.first(inputs_));
      found = gradients_where_reached(std::span(&output, 1), wrt, call.incoming.first(1),
                                      {false, mark});
    }
    worker.set_random_calls(random_calls);
    if (tape.end() > mark) tape.truncate(mark);
    std::size_t next = 0;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      if (!call.wants(static_cast<int>(i))) continue;
      call.results[i] = found[next++];
      // Read, but by nothing that the output depends on.
      if (!call.results[i]) call.wanted &= ~(1U << i);
    }
  }

 private:
  Function f_;
  std::size_t inputs_;
  std::uint64_t random_calls_;
};

}  // namespace

Tensor checkpoint(const Function& f, std::span<const Tensor> inputs) {
  check(!inputs.empty(), "checkpoint: no inputs");
  Worker& worker = inputs[0].worker();
  if (!worker.taping()) return f(inputs);
  Tape& tape = worker.tape();
  const std::uint64_t random_calls = worker.random_calls();
  Tape::Capture capture{tape.end(), {}};
  Tape::Capture* outer = std::exchange(tape.capture, &capture);
  Tensor output;
  try {
    const NoGrad no_grad(worker);
    output = f(inputs);
  } catch (...) {
    tape.capture = outer;
    throw;
  }
  tape.capture = outer;
  // Nothing made inside is tracked: the function gave back a tensor from outside.
  if (output.tracked()) return output;
  std::vector<Tensor> operands(inputs.begin(), inputs.end());
  for (const Tensor& tensor : capture.tensors) {
    bool given = false;
    for (const Tensor& operand : operands) given = given || operand == tensor;
    if (!given) operands.push_back(tensor);
  }
  bool tracked = false;
  for (const Tensor& operand : operands) tracked = tracked || operand.tracked();
  if (!tracked) return output;
  // It may be a constant from outside, whose own link must stay as it is.
  output = detached(output);
  tape.append(make_ref<Checkpoint>(f, inputs.size(), random_calls), operands,
              std::span(&output, 1));
  return output;
}

}  // namespace shardlab
