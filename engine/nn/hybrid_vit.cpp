#include "engine/nn/hybrid_vit.h"

#include "engine/core/check.h"
#include "engine/dispatch/intrinsic.h"
#include "engine/ops/permute.h"
#include "engine/ops/reduce.h"
#include "engine/ops/reshape.h"

namespace shardlab::nn {
namespace {

const HybridVitOptions& checked(const HybridVitOptions& options) {
  check(options.size.size() == options.patch.size() &&
            (options.size.size() == 2 || options.size.size() == 3),
        "vit: an image of {} extents and a patch of {}; two or three are needed",
        options.size.size(), options.patch.size());
  for (std::size_t d = 0; d < options.size.size(); ++d)
    check(options.patch[d] >= 1 && options.size[d] >= 1 && options.size[d] % options.patch[d] == 0,
          "vit: size {} is no multiple of patch {}", options.size[d], options.patch[d]);
  check(options.channels >= 1 && options.width >= 1 && options.heads >= 1 && options.depth >= 0 &&
            options.mlp_ratio >= 1 && options.classes >= 1,
        "vit: channels {}, width {}, heads {}, depth {}, mlp ratio {} and classes {} must be "
        "positive",
        options.channels, options.width, options.heads, options.depth, options.mlp_ratio,
        options.classes);
  return options;
}

std::int64_t patch_volume(const HybridVitOptions& options) {
  std::int64_t volume = options.channels;
  for (const std::int64_t extent : options.patch) volume *= extent;
  return volume;
}

}  // namespace

HybridVit::Block::Block(const Parameters& parameters, const HybridVitOptions& options)
    : norm1_(parameters.within("norm1"), options.width, options.epsilon),
      attention_(parameters.within("attention"), options.width, options.heads),
      norm2_(parameters.within("norm2"), options.width, options.epsilon),
      mlp_(parameters.within("mlp"), options.width, options.mlp_ratio * options.width) {}

Tensor HybridVit::Block::operator()(const Tensor& x) const {
  const Tensor attended = add(x, attention_(norm1_(x)));
  return add(attended, mlp_(norm2_(attended)));
}

HybridVit::HybridVit(const Parameters& parameters, const HybridVitOptions& options)
    : options_(checked(options)),
      stem_(parameters.within("stem"), patch_volume(options), options.width),
      norm_(parameters.within("norm"), options.width, options.epsilon),
      position_(parameters.normal("position", {1, tokens(options), options.width}, 0.02)),
      head_(parameters.within("head"), options.width, options.classes) {
  for (std::int64_t b = 0; b < options.depth; ++b)
    blocks_.emplace_back(parameters.within(fmt::format("block{}", b)), options);
}

Tensor HybridVit::patches(const Tensor& image) const {
  const int space = static_cast<int>(options_.size.size());
  Shape cut{image.extent(0), options_.channels};
  std::vector<int> order{0};
  for (int d = 0; d < space; ++d) {
    cut.push_back(options_.size[d] / options_.patch[d]);
    cut.push_back(options_.patch[d]);
    order.push_back(2 + 2 * d);
  }
  order.push_back(1);
  for (int d = 0; d < space; ++d) order.push_back(3 + 2 * d);
  return reshape(permute(reshape(image, cut), order),
                 Shape{image.extent(0), tokens(options_), patch_volume(options_)});
}

Tensor HybridVit::operator()(const Tensor& image) const {
  bool fits = image.ndim() == 2 + static_cast<int>(options_.size.size()) &&
              image.extent(1) == options_.channels;
  for (std::size_t d = 0; fits && d < options_.size.size(); ++d)
    fits = image.extent(2 + static_cast<int>(d)) == options_.size[d];
  check(fits, "vit: the image is {}; [batch, {}, {}] is needed", to_string(image.shape()),
        options_.channels, fmt::join(options_.size, ", "));
  Trace& trace = image.worker().trace();
  Tensor x;
  {
    const Scope scope(trace, "stem");
    x = add(relu(norm_(stem_(patches(image)))), position_);
  }
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Scope scope(trace, fmt::format("block{}", b));
    if (!options_.checkpoint_blocks) {
      x = blocks_[b](x);
      continue;
    }
    // By value: the tape may outlive the model.
    const auto again = [block = blocks_[b]](std::span<const Tensor> in) { return block(in[0]); };
    x = checkpoint(again, std::span(&x, 1));
  }
  const Scope scope(trace, "head");
  return head_(mean(x, {{1}, false}));
}

std::int64_t HybridVit::tokens(const HybridVitOptions& options) {
  checked(options);
  std::int64_t tokens = 1;
  for (std::size_t d = 0; d < options.size.size(); ++d)
    tokens *= options.size[d] / options.patch[d];
  return tokens;
}

double HybridVit::forward_flop(const HybridVitOptions& options) {
  const auto n = static_cast<double>(tokens(options));
  const auto w = static_cast<double>(options.width);
  const double block =
      2 * n * w * w * static_cast<double>(4 + 2 * options.mlp_ratio) + 4 * n * n * w;
  return 2 * n * static_cast<double>(patch_volume(options)) * w +
         static_cast<double>(options.depth) * block + 2 * w * static_cast<double>(options.classes);
}

}  // namespace shardlab::nn
