#include <cmath>

#include "engine/dispatch/intrinsic.h"
#include "engine/nn/hybrid_vit.h"
#include "engine/nn/optimizer.h"
#include "engine/ops/cross_entropy.h"
#include "engine/ops/optimizer_step.h"
#include "engine/ops/reshape.h"
#include "tests/golden/apply.h"

namespace shardlab::golden {
namespace {

/// Gives the parameter after each step, one after another.
template <typename Step>
void optimize(Trial& trial, const Step& step) {
  const Tensor parameter = trial.operand("parameter");
  const Tensor all = trial.operand("gradient");
  std::vector<double> after;
  for (std::int64_t s = 0; s < all.extent(0); ++s) {
    const Tensor gradient = reshape(slice(all, {0, s, s + 1, 1}), parameter.shape());
    step(parameter, gradient, s + 1);
    const std::vector<double> values = values_of(parameter);
    after.insert(after.end(), values.begin(), values.end());
  }
  trial.give("parameter_after", after);
}

Tensor zeros_like(const Tensor& x) { return full(x.worker(), x.spec(), 0); }

nn::HybridVitOptions options_of(const Trial& trial) {
  const Case& golden = trial.golden();
  if (golden.attributes.contains("window"))
    fail(Fault::unsupported, "vit: the model has no attribute window");
  check(trial.attribute<bool>("stem_norm") &&
            trial.attribute<std::string>("activation") == "gelu_erf" &&
            trial.attribute<std::string>("optimizer") == "adamw",
        "{}: another model", golden.id);
  const Shape& image = golden.operand("image").shape;
  nn::HybridVitOptions options;
  options.size.assign(image.begin() + 2, image.end());
  options.patch = trial.attribute<std::vector<std::int64_t>>("patch");
  options.channels = image[1];
  options.width = golden.operand("stem.bias").shape[0];
  options.heads = trial.attribute<std::int64_t>("heads");
  options.depth = trial.attribute<std::int64_t>("depth");
  options.mlp_ratio = trial.attribute<std::int64_t>("mlp_ratio");
  options.classes = golden.operand("head.bias").shape[0];
  options.epsilon = trial.attribute<double>("epsilon");
  return options;
}

/// The golden name of a parameter of HybridVit.
std::string golden_name(std::string name) {
  if (name.starts_with("norm.")) return "stem_" + name;
  if (name.starts_with("block")) return name.insert(5, "s.");
  return name;
}

/// The positions lie as the tokens of an image cut along its height do in the scenario.
std::vector<nn::ParameterRule> rules_of(const nn::HybridVitOptions& options) {
  const std::int64_t row = nn::HybridVit::tokens(options) / (options.size[0] / options.patch[0]);
  const std::vector<Cut> tokens{{"domain", 1, row}};
  return {{"position", tokens, tokens}};
}

double norm_of(const std::vector<Tensor>& parameters) {
  double squares = 0;
  for (const Tensor& parameter : parameters)
    for (const double value : values_of(parameter.gradient())) squares += value * value;
  return std::sqrt(squares);
}

}  // namespace

namespace apply {

void adamw(Trial& trial) {
  AdamWOptions options;
  options.learning_rate = trial.attribute<double>("learning_rate");
  options.beta1 = trial.attribute<double>("beta1");
  options.beta2 = trial.attribute<double>("beta2");
  options.epsilon = trial.attribute<double>("epsilon");
  options.weight_decay = trial.attribute<double>("weight_decay");
  const Tensor first = zeros_like(trial.operand("parameter"));
  const Tensor second = zeros_like(first);
  optimize(trial, [&](const Tensor& parameter, const Tensor& gradient, std::int64_t step) {
    adamw_step(parameter, gradient, first, second, options, step);
  });
  trial.give("first_moment", first);
  trial.give("second_moment", second);
}

void sgd(Trial& trial) {
  SgdOptions options;
  options.learning_rate = trial.attribute<double>("learning_rate");
  options.momentum = trial.attribute<double>("momentum");
  options.dampening = trial.attribute<double>("dampening");
  options.weight_decay = trial.attribute<double>("weight_decay");
  options.nesterov = trial.attribute<bool>("nesterov");
  const Tensor buffer = zeros_like(trial.operand("parameter"));
  optimize(trial, [&](const Tensor& parameter, const Tensor& gradient, std::int64_t step) {
    sgd_step(parameter, gradient, buffer, options, step);
  });
  if (options.momentum != 0) trial.give("momentum_buffer", buffer);
}

void vit(Trial& trial) {
  const nn::HybridVitOptions options = options_of(trial);
  Worker& worker = trial.worker();
  const nn::HybridVit model(trial.parameters(rules_of(options)), options);
  const std::vector<Tensor>& parameters = worker.parameters();
  check(parameters.size() == trial.golden().parameters.size(), "{} parameters, {} in the case",
        parameters.size(), trial.golden().parameters.size());
  for (const Tensor& parameter : parameters)
    trial.assign(golden_name(parameter.state().parameter->name), parameter);
  nn::AdamWOptimizer optimizer(worker, {.learning_rate = trial.attribute<double>("learning_rate"),
                                        .beta1 = trial.attribute<double>("beta1"),
                                        .beta2 = trial.attribute<double>("beta2"),
                                        .epsilon = trial.attribute<double>("optimizer_epsilon"),
                                        .weight_decay = trial.attribute<double>("weight_decay")});
  const Tensor image = trial.operand("image");
  const Tensor target = trial.operand("target");
  const auto steps = trial.attribute<std::size_t>("steps");
  std::vector<double> losses;
  std::vector<double> norms;
  for (std::size_t step = 0; step <= steps; ++step) {
    const Tensor logits = model(image);
    const Tensor loss = shardlab::cross_entropy(logits, target);
    losses.push_back(value_of(loss));
    if (step == steps) break;
    (void)backward(loss);
    norms.push_back(norm_of(parameters));
    if (step == 0) {
      trial.give("logits", logits);
      trial.give("loss", loss);
      trial.give_gradient("image", image.gradient());
      for (const Tensor& parameter : parameters) {
        const std::string name = golden_name(parameter.state().parameter->name);
        trial.give_gradient(name, parameter.gradient());
      }
    }
    optimizer.step();
  }
  trial.give("losses", losses);
  trial.give("gradient_norms", norms);
}

}  // namespace apply

namespace arrange {

std::vector<Arrangement> image(const Case& golden) {
  const Shape& shape = golden.operand("image").shape;
  const auto patch = golden.attributes.at("patch").at(0).get<std::int64_t>();
  std::vector<std::int64_t> whole_patches = with_hole(shape[2] / patch);
  for (std::int64_t& size : whole_patches) size *= patch;
  const Part batch{0, with_hole(shape[0])};
  return {{3, {{"image", batch}, {"target", batch}}, true},
          {3, {{"image", {2, whole_patches}}}, false},
          {3, {{"image", {2, ragged(shape[2])}}}, true}};
}

}  // namespace arrange
}  // namespace shardlab::golden
