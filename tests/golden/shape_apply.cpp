#include "engine/dispatch/intrinsic.h"
#include "engine/ops/permute.h"
#include "engine/ops/reduce.h"
#include "engine/ops/reshape.h"
#include "tests/golden/apply.h"

namespace shardlab::golden::apply {
namespace {

SumOptions over(const Trial& trial) {
  return {trial.attribute<std::vector<int>>("dims"), trial.attribute<bool>("keep_dims")};
}

}  // namespace

void concat(Trial& trial) {
  std::vector<Tensor> parts;
  for (std::string name = "x0"; trial.has(name); name = fmt::format("x{}", parts.size()))
    parts.push_back(trial.operand(name));
  trial.give("y", shardlab::concat(parts, trial.attribute<int>("dim")));
}

void slice(Trial& trial) {
  const Slice::Range range{trial.attribute<int>("dim"), trial.attribute<std::int64_t>("start"),
                           trial.attribute<std::int64_t>("stop"),
                           trial.attribute<std::int64_t>("step")};
  trial.give("y", shardlab::slice(trial.operand("x"), range));
}

void rearrange(Trial& trial) {
  Tensor x = trial.operand("x");
  for (const nlohmann::json& step : trial.golden().attributes.at("steps")) {
    const auto what = step.at("do").get<std::string>();
    if (what == "reshape") {
      x = reshape(x, step.at("shape").get<std::vector<std::int64_t>>());
      continue;
    }
    const auto dims = step.at("dims").get<std::vector<int>>();
    check(what == "permute" || what == "transpose", "rearrange: step {}", what);
    x = what == "permute" ? permute(x, dims) : transpose(x, dims.at(0), dims.at(1));
  }
  trial.give("y", x);
}

void sum(Trial& trial) { trial.give("y", shardlab::sum(trial.operand("x"), over(trial))); }
void mean(Trial& trial) { trial.give("y", shardlab::mean(trial.operand("x"), over(trial))); }

}  // namespace shardlab::golden::apply
