#pragma once

#include "engine/nn/layers.h"

namespace shardlab::nn {

struct HybridVitOptions {
  std::vector<std::int64_t> size;   ///< Extents of the image, two or three.
  std::vector<std::int64_t> patch;  ///< Extents of a patch, as many.
  std::int64_t channels = 3;
  std::int64_t width = 768;
  std::int64_t heads = 6;
  std::int64_t depth = 16;
  std::int64_t mlp_ratio = 4;
  std::int64_t classes = 1000;
  double epsilon = 1e-5;
  bool checkpoint_blocks = false;  ///< Blocks are computed again for their gradients.
};

/// A vision transformer with a convolution stem: patches, norm, ReLU, learned positions, pre-norm
/// blocks, mean over tokens, linear head.
class HybridVit {
 public:
  /// Errors   Error{invalid} if a patch does not divide the image or heads the width.
  HybridVit(const Parameters& parameters, const HybridVitOptions& options);

  /// Shapes   image [b, channels, *size] -> logits [b, classes].
  [[nodiscard]] Tensor operator()(const Tensor& image) const;

  /// Tokens of an image.
  [[nodiscard]] static std::int64_t tokens(const HybridVitOptions& options);

  /// Flop of the forward pass for one image: all matrix products.
  [[nodiscard]] static double forward_flop(const HybridVitOptions& options);

 private:
  class Block {
   public:
    Block(const Parameters& parameters, const HybridVitOptions& options);
    [[nodiscard]] Tensor operator()(const Tensor& x) const;

   private:
    LayerNorm norm1_;
    MultiHeadAttention attention_;
    LayerNorm norm2_;
    Mlp mlp_;
  };

  [[nodiscard]] Tensor patches(const Tensor& image) const;

  HybridVitOptions options_;
  Linear stem_;
  LayerNorm norm_;
  Tensor position_;
  std::vector<Block> blocks_;
  Linear head_;
};

}  // namespace shardlab::nn
