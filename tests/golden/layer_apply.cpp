#include "engine/dispatch/intrinsic.h"
#include "engine/nn/layers.h"
#include "engine/ops/cross_entropy.h"
#include "engine/ops/layer_norm.h"
#include "engine/ops/linear.h"
#include "engine/ops/matmul.h"
#include "engine/ops/reduce.h"
#include "engine/ops/reshape.h"
#include "tests/golden/apply.h"

namespace shardlab::golden::apply {

void matmul(Trial& trial) {
  trial.give("y", shardlab::matmul(trial.operand("a"), trial.operand("b")));
}

void linear(Trial& trial) {
  const Tensor bias = trial.has("bias") ? trial.operand("bias") : Tensor();
  trial.give("y", shardlab::linear(trial.operand("x"), trial.operand("weight"), bias));
}

void layer_norm(Trial& trial) {
  const Tensor x = trial.operand("x");
  const int kept = x.ndim() - trial.attribute<int>("normalized_dims");
  Shape rows;
  std::int64_t width = 1;
  for (int d = 0; d < x.ndim(); ++d)
    if (d < kept)
      rows.push_back(x.extent(d));
    else
      width *= x.extent(d);
  rows.push_back(width);
  const auto flat = [&](const char* name, double otherwise) {
    if (trial.has(name)) return reshape(trial.operand(name), Shape{width});
    const Layout* everywhere = trial.worker().layouts().replicated(1);
    return full(trial.worker(), {{width}, x.dtype(), everywhere}, otherwise);
  };
  const Tensor y = shardlab::layer_norm(reshape(x, rows), flat("weight", 1), flat("bias", 0),
                                        trial.attribute<double>("epsilon"));
  trial.give("y", reshape(y, x.shape()));
}

void mse_loss(Trial& trial) {
  trial.give("loss", nn::mse_loss(trial.operand("x"), trial.operand("target")));
}

void cross_entropy(Trial& trial) {
  CrossEntropyOptions options;
  options.label_smoothing = trial.attribute<double>("label_smoothing", 0);
  if (trial.golden().attributes.contains("ignore_index"))
    options.ignore_index = trial.attribute<std::int64_t>("ignore_index");
  const Tensor logits = trial.operand("logits");
  const Tensor target = trial.operand("target");
  const auto reduction = trial.attribute<std::string>("reduction");
  if (reduction == "mean")
    trial.give("loss", shardlab::cross_entropy(logits, target, options));
  else if (reduction == "sum")
    trial.give("loss", shardlab::sum(cross_entropy_rows(logits, target, options)));
  else if (reduction == "none")
    trial.give("loss", cross_entropy_rows(logits, target, options));
  else
    fail(Fault::invalid, "cross_entropy: reduction {}", reduction);
}

}  // namespace shardlab::golden::apply
