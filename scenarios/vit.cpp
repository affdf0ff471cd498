#include "engine/engine.h"

namespace shardlab {
namespace {

/// Whether a parameter of two words has its second.
bool switched(const Params& params, const std::string& name, const char* off, const char* on) {
  const std::string& text = params.text(name);
  check(text == off || text == on, "--{}: expected {} or {}, found '{}'", name, off, on, text);
  return text == on;
}

nn::HybridVitOptions options_of(const Params& params) {
  nn::HybridVitOptions options;
  options.size = params.sizes("size");
  options.patch = params.sizes("patch");
  if (options.patch.size() == 1) options.patch.resize(options.size.size(), options.patch[0]);
  options.channels = params.integer("channels");
  options.width = params.integer("width");
  options.heads = params.integer("heads");
  options.depth = params.integer("depth");
  options.mlp_ratio = params.integer("mlp-ratio");
  options.classes = params.integer("classes");
  options.checkpoint_blocks = switched(params, "checkpoint", "none", "blocks");
  return options;
}

/// Images are cut along their height, and the position table as the tokens are.
std::vector<nn::ParameterRule> rules_of(const nn::HybridVitOptions& options) {
  const std::int64_t row = nn::HybridVit::tokens(options) / (options.size[0] / options.patch[0]);
  const std::vector<Cut> tokens{{"domain", 1, row}};
  return {{"position", tokens, tokens}};
}

nn::Storage storage_of(const Params& params) {
  return switched(params, "storage", "whole", "sharded") ? nn::Storage::sharded
                                                         : nn::Storage::whole;
}

class Vit final : public Program {
 public:
  Vit(Worker& worker, const Params& params)
      : worker_(worker),
        train_(params.train),
        options_(options_of(params)),
        model_(nn::Parameters(worker, rules_of(options_), storage_of(params)), options_),
        batch_(params.integer("batch")) {
    check(batch_ >= 1, "vit: a batch of {}", batch_);
    Shape shape{batch_, options_.channels};
    for (const std::int64_t extent : options_.size) shape.push_back(extent);
    const std::vector<Cut> cuts{{"data", 0}, {"domain", 2, options_.patch[0]}};
    image_ = random_normal(worker, spread(worker, shape, worker.dtype(), cuts), 1.0);
    const std::vector<Cut> samples{{"data", 0}};
    target_ = random_uniform(worker, spread(worker, {batch_}, Dtype::int64, samples),
                             static_cast<double>(options_.classes));
    if (train_)
      optimizer_.emplace(worker, AdamWOptions{.learning_rate = params.number("learning-rate"),
                                              .weight_decay = params.number("weight-decay")});
  }

  [[nodiscard]] std::vector<Named> step(bool with_gradients) override {
    std::vector<Named> results;
    if (!train_) {
      const NoGrad no_grad(worker_);
      results.push_back({Named::Kind::output, "logits", model_(image_)});
      return results;
    }
    const Tensor logits = model_(image_);
    const Tensor loss = cross_entropy(logits, target_);
    {
      const Scope scope(worker_.trace(), "backward");
      (void)backward(loss);
    }
    results.push_back({Named::Kind::output, "logits", logits});
    results.push_back({Named::Kind::loss, "loss", loss});
    if (with_gradients)
      for (const Tensor& parameter : worker_.parameters())
        results.push_back(
            {Named::Kind::gradient, parameter.state().parameter->name, parameter.gradient()});
    const Scope scope(worker_.trace(), "optimizer");
    optimizer_->step();
    return results;
  }

 private:
  Worker& worker_;
  bool train_;
  nn::HybridVitOptions options_;
  nn::HybridVit model_;
  std::int64_t batch_;
  Tensor image_;
  Tensor target_;
  std::optional<nn::AdamWOptimizer> optimizer_;
};

}  // namespace

void add_vit(Scenarios& scenarios) {
  scenarios.add({"vit",
                 "vision transformer with a convolution stem; axis domain cuts the image height, "
                 "data the batch",
                 {{"size", "image extents, height first", "1024x1024", "512x512", "12x8", "domain"},
                  {"patch", "patch extents, one number for a square", "8", "16", "2"},
                  {"channels", "channels of the image", "3", "3", "3"},
                  {"width", "width of a token", "768", "384", "8"},
                  {"heads", "attention heads", "6", "6", "2"},
                  {"depth", "blocks", "16", "8", "2"},
                  {"mlp-ratio", "hidden width of the MLP over the width", "4", "4", "4"},
                  {"classes", "classes of the head", "1000", "1000", "10"},
                  {"batch", "images in all", "1", "1", "2", "data"},
                  {"checkpoint", "none, or blocks: computed again for their gradients", "none",
                   "none", "none", "", "none"},
                  {"storage", "whole, or sharded where a parameter has an element a rank", "whole",
                   "whole", "whole", "", "whole"},
                  {"learning-rate", "of AdamW", "0.001", "0.001", "0.001"},
                  {"weight-decay", "of AdamW", "0.05", "0.05", "0.05"}},
                 [](Worker& worker, const Params& params) -> std::unique_ptr<Program> {
                   return std::make_unique<Vit>(worker, params);
                 },
                 [](const Params& params) {
                   return static_cast<double>(params.integer("batch")) *
                          nn::HybridVit::forward_flop(options_of(params));
                 }});
}

}  // namespace shardlab
