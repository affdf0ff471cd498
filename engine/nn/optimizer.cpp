#include "engine/nn/optimizer.h"

#include "engine/core/check.h"
#include "engine/dispatch/intrinsic.h"

namespace shardlab::nn {

AdamWOptimizer::AdamWOptimizer(Worker& worker, AdamWOptions options) : options_(options) {
  const AllocateAs category(worker, Category::optimizer);
  for (const Tensor& parameter : worker.parameters())
    slots_.push_back(
        {parameter, full(worker, parameter.spec(), 0), full(worker, parameter.spec(), 0)});
}

void AdamWOptimizer::step() {
  for (const Slot& slot : slots_)
    check(static_cast<bool>(slot.parameter.gradient()),
          "adamw: parameter {} has no gradient; the loss does not reach it",
          slot.parameter.state().parameter->name);
  ++steps_;
  for (const Slot& slot : slots_) {
    adamw_step(slot.parameter, slot.parameter.gradient(), slot.first, slot.second, options_,
               steps_);
    slot.parameter.state().gradient = {};
  }
}

}  // namespace shardlab::nn
