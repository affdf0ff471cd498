#include "engine/dispatch/intrinsic.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/softmax.h"
#include "tests/golden/apply.h"

namespace shardlab::golden::apply {
namespace {

void binary(Trial& trial, Tensor (*op)(const Tensor&, const Tensor&)) {
  trial.give("y", op(trial.operand("a"), trial.operand("b")));
}

void unary(Trial& trial, Tensor (*op)(const Tensor&)) { trial.give("y", op(trial.operand("x"))); }

}  // namespace

void add(Trial& trial) { binary(trial, shardlab::add); }
void subtract(Trial& trial) { binary(trial, shardlab::subtract); }
void multiply(Trial& trial) { binary(trial, shardlab::multiply); }
void divide(Trial& trial) { binary(trial, shardlab::divide); }

void gelu(Trial& trial) {
  const auto form = trial.attribute<std::string>("form");
  check(form == "erf" || form == "tanh", "gelu: form {}", form);
  unary(trial, form == "erf" ? shardlab::gelu : shardlab::gelu_tanh);
}
void relu(Trial& trial) { unary(trial, shardlab::relu); }
void sigmoid(Trial& trial) { unary(trial, shardlab::sigmoid); }
void silu(Trial& trial) { unary(trial, shardlab::silu); }
void tanh(Trial& trial) { unary(trial, shardlab::tanh); }

void softmax(Trial& trial) {
  trial.give("y", shardlab::softmax(trial.operand("x"), trial.attribute<int>("dim")));
}
void log_softmax(Trial& trial) {
  trial.give("y", shardlab::log_softmax(trial.operand("x"), trial.attribute<int>("dim")));
}

}  // namespace shardlab::golden::apply
