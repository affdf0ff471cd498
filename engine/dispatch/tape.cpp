#include "engine/dispatch/tape.h"

#include "engine/core/check.h"
#include "engine/dispatch/worker.h"

namespace shardlab {

void Tape::append(Ref<const Op> op, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Saves saves = op->saves();
  Entry entry;
  entry.op = std::move(op);
  entry.scope = current_scope(outputs[0].worker().trace());
  entry.first_input = static_cast<std::int32_t>(inputs_.size());
  entry.inputs = static_cast<std::int32_t>(inputs.size());
  entry.first_output = static_cast<std::int32_t>(outputs_.size());
  entry.outputs = static_cast<std::int32_t>(outputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    TensorState& state = inputs[i].state();
    Input& input = inputs_.emplace_back();
    input.spec = state.spec;
    input.link = state.link;
    input.saved = (saves.inputs >> i & 1U) != 0;
    if (!input.saved && !state.link.leaf) continue;
    input.tensor = inputs[i].ref();
    input.version = state.buffer->version();
  }
  const std::int64_t number = end();
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    TensorState& state = outputs[o].state();
    Output& output = outputs_.emplace_back();
    output.spec = state.spec;
    if ((saves.outputs >> o & 1U) != 0) {
      output.tensor = outputs[o].ref();
      output.version = state.buffer->version();
    }
    state.link = {number, static_cast<std::int32_t>(o), false};
  }
  entries_.push_back(std::move(entry));
}

void Tape::clear() {
  base_ = end();
  entries_.clear();
  inputs_.clear();
  outputs_.clear();
}

void Tape::truncate(std::int64_t from) {
  const Entry& first = entry(from);
  inputs_.resize(static_cast<std::size_t>(first.first_input));
  outputs_.resize(static_cast<std::size_t>(first.first_output));
  entries_.resize(static_cast<std::size_t>(from - base_));
}

void Tape::drop(std::int64_t number) {
  Entry& dropped = entry(number);
  for (int i = 0; i < dropped.inputs; ++i) input(dropped, i).tensor = {};
  for (int o = 0; o < dropped.outputs; ++o) {
    output(dropped, o).tensor = {};
    output(dropped, o).incoming = {};
  }
  dropped.op = {};
}

void note_reads(Tape& tape, std::span<const Tensor> inputs) {
  Tape::Capture& capture = *tape.capture;
  for (const Tensor& input : inputs) {
    const TapeLink& link = input.state().link;
    if (!link.leaf && (link.entry < 0 || link.entry >= capture.from)) continue;
    bool known = false;
    for (const Tensor& tensor : capture.tensors) known = known || tensor == input;
    if (!known) capture.tensors.push_back(input);
  }
}

}  // namespace shardlab
