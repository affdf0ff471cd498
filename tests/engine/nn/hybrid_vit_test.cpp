#include "engine/nn/hybrid_vit.h"

#include <cmath>

#include "engine/core/check.h"
#include "engine/ops/reduce.h"
#include "tests/engine/nn/model_case.h"

namespace shardlab::test {
namespace {

nn::HybridVitOptions image2() {
  nn::HybridVitOptions options;
  options.size = {6, 4};
  options.patch = {2, 2};
  options.channels = 2;
  options.width = 8;
  options.heads = 2;
  options.depth = 2;
  options.mlp_ratio = 2;
  options.classes = 3;
  return options;
}

nn::HybridVitOptions image3() {
  nn::HybridVitOptions options = image2();
  options.size = {4, 6, 2};
  options.patch = {2, 3, 1};
  options.depth = 1;
  return options;
}

Shape image_of(const nn::HybridVitOptions& options, std::int64_t batch = 2) {
  Shape shape{batch, options.channels};
  for (const std::int64_t extent : options.size) shape.push_back(extent);
  return shape;
}

Model vit(const nn::HybridVitOptions& options) {
  return [options](const nn::Parameters& parameters) {
    const auto model = std::make_shared<nn::HybridVit>(parameters, options);
    return [model](const Tensor& x) { return (*model)(x); };
  };
}

World on(const std::string& mesh) {
  World world;
  world.mesh = mesh;
  return world;
}

/// A model of no blocks written out: patches of a 3-D image, norm, ReLU, positions, mean, head.
Values stem_and_head(const nn::HybridVitOptions& options, const Values& image) {
  const std::int64_t tokens = nn::HybridVit::tokens(options);
  std::int64_t volume = options.channels;
  for (const std::int64_t extent : options.patch) volume *= extent;
  const Values w = numbers({options.width, volume}, 100);
  const Values b = numbers({options.width}, 101);
  const Values gain = numbers({options.width}, 102);
  const Values shift = numbers({options.width}, 103);
  const Values position = numbers({1, tokens, options.width}, 104);
  const Values head = numbers({options.classes, options.width}, 105);
  const Values head_bias = numbers({options.classes}, 106);
  const std::vector<std::int64_t>& size = options.size;
  const std::vector<std::int64_t>& patch = options.patch;
  Values logits = zeros({image.shape[0], options.classes});
  for (std::int64_t n = 0; n < image.shape[0]; ++n) {
    std::vector<double> average(static_cast<std::size_t>(options.width));
    for (std::int64_t t = 0; t < tokens; ++t) {
      const std::int64_t across = size[2] / patch[2];
      const std::int64_t at[3]{t / across / (size[1] / patch[1]), t / across % (size[1] / patch[1]),
                               t % across};
      std::vector<double> y(b.data);
      std::int64_t element = 0;
      for (std::int64_t c = 0; c < options.channels; ++c)
        for (std::int64_t i = 0; i < patch[0]; ++i)
          for (std::int64_t j = 0; j < patch[1]; ++j)
            for (std::int64_t k = 0; k < patch[2]; ++k, ++element) {
              const std::int64_t from =
                  (((n * options.channels + c) * size[0] + at[0] * patch[0] + i) * size[1] +
                   at[1] * patch[1] + j) *
                      size[2] +
                  at[2] * patch[2] + k;
              for (std::int64_t o = 0; o < options.width; ++o)
                y[o] += image[from] * w[o * volume + element];
            }
      double mean = 0;
      double square = 0;
      for (const double value : y) mean += value / static_cast<double>(options.width);
      for (const double value : y)
        square += (value - mean) * (value - mean) / static_cast<double>(options.width);
      for (std::int64_t o = 0; o < options.width; ++o) {
        const double normed =
            (y[o] - mean) / std::sqrt(square + options.epsilon) * gain[o] + shift[o];
        average[o] +=
            (std::max(0.0, normed) + position[t * options.width + o]) / static_cast<double>(tokens);
      }
    }
    for (std::int64_t c = 0; c < options.classes; ++c) {
      logits[n * options.classes + c] = head_bias[c];
      for (std::int64_t o = 0; o < options.width; ++o)
        logits[n * options.classes + c] += average[o] * head[c * options.width + o];
    }
  }
  return logits;
}

TEST(HybridVit, CutsA3DImageIntoPatchesInOrder) {
  nn::HybridVitOptions options = image3();
  options.depth = 0;
  const Pass found = pass_of(vit(options), image_of(options), {});
  EXPECT_TRUE(close(found.output, stem_and_head(options, numbers(image_of(options), 1)), 1e-12));
}

TEST(HybridVit, OnAnyCutOfTheImageEqualsOneRank) {
  for (const nn::HybridVitOptions& options : {image2(), image3()}) {
    const Shape shape = image_of(options);
    const Pass one = pass_of(vit(options), shape, {});
    EXPECT_EQ(one.output.shape, Shape({2, 3}));
    const std::int64_t rows = options.size[0];
    const std::int64_t columns = options.size[1];
    for (const Placed& placed :
         {Placed{}, cut(0, {1, 1, 0}), cut(1, {1, 0, 1}), cut(2, {rows - 2, 0, 2}),
          cut(2, {1, rows - 2, 1}), cut(3, {columns - 1, 1, 0})}) {
      SCOPED_TRACE(to_string(placed));
      expect_equal(pass_of(vit(options), shape, {on("domain=3"), {}, placed}), one);
    }
  }
}

TEST(HybridVit, OnTwoAxesWithShardedParametersEqualsOneRank) {
  const nn::HybridVitOptions options = image2();
  const Pass one = pass_of(vit(options), image_of(options, 3), {});
  const Placed both{{{0, {0}, {2, 1}}, {2, {1}, {4, 2}}}, {}, Reduction::sum};
  const std::vector<nn::ParameterRule> shard{{"", {{"data", 0}, {"domain", 0}}, {}}};
  expect_equal(pass_of(vit(options), image_of(options, 3), {on("data=2,domain=2"), {}, both}), one);
  expect_equal(pass_of(vit(options), image_of(options, 3), {on("data=2,domain=2"), shard, both}),
               one);
}

TEST(HybridVit, WithColumnsAndRowsOnATensorAxisEqualsOneRank) {
  const nn::HybridVitOptions options = image2();
  const Pass one = pass_of(vit(options), image_of(options), {});
  std::vector<nn::ParameterRule> rules;
  for (const std::string name : {"up.weight", "up.bias", "qkv.weight", "qkv.bias"})
    rules.push_back({name, {{"tensor", 0}}, {{"tensor", 0}}});
  for (const std::string name : {"down.weight", "out.weight"})
    rules.push_back({name, {{"tensor", 1}}, {{"tensor", 1}}});
  expect_equal(pass_of(vit(options), image_of(options), {on("tensor=3"), rules, {}}), one);
  expect_equal(
      pass_of(vit(options), image_of(options), {on("domain=2,tensor=2"), rules, cut(2, {4, 2})}),
      one);
}

TEST(HybridVit, OfNoImagesGivesNoLogits) {
  run_on(on("domain=2"), [](Worker& worker, int) {
    const nn::HybridVit model(nn::Parameters(worker, {}), image2());
    const Tensor y = model(make(worker, zeros(image_of(image2(), 0)), cut(2, {4, 2})));
    EXPECT_EQ(y.shape(), Shape({0, 3}));
  });
}

TEST(HybridVit, NamesItsParametersByTheirPlace) {
  const Pass found = pass_of(vit(image3()), image_of(image3()), {});
  EXPECT_EQ(
      found.names,
      (std::vector<std::string>{
          "stem.weight", "stem.bias", "norm.weight", "norm.bias", "position", "head.weight",
          "head.bias", "block0.norm1.weight", "block0.norm1.bias", "block0.attention.qkv.weight",
          "block0.attention.qkv.bias", "block0.attention.out.weight", "block0.attention.out.bias",
          "block0.norm2.weight", "block0.norm2.bias", "block0.mlp.up.weight", "block0.mlp.up.bias",
          "block0.mlp.down.weight", "block0.mlp.down.bias"}));
}

TEST(HybridVit, TheClosedFormCountsTheProductsOfAForwardPass) {
  World meta;
  meta.meta = true;
  for (const nn::HybridVitOptions& options : {image2(), image3()}) {
    const double counted = on_ranks<double>(meta, [&](Worker& worker) {
      worker.trace().keep(true);
      const nn::HybridVit model(nn::Parameters(worker, {}), options);
      const NoGrad no_grad(worker);
      (void)model(make(worker, zeros(image_of(options, 1))));
      double flop = 0;
      for (const Step& step : worker.trace().steps()) {
        const std::string name = step.op;
        if (name == "linear" || name == "attention") flop += static_cast<double>(step.flop);
      }
      return flop;
    })[0];
    EXPECT_EQ(nn::HybridVit::forward_flop(options), counted);
  }
}

/// Bytes beside the parameters after the forward pass of a training step, and at its peak.
struct Held {
  std::int64_t forward = 0;
  std::int64_t peak = 0;
};

Held held_with(std::int64_t depth, bool checkpoint) {
  World meta;
  meta.meta = true;
  return on_ranks<Held>(meta, [&](Worker& worker) {
    nn::HybridVitOptions options = image2();
    options.depth = depth;
    options.checkpoint_blocks = checkpoint;
    const nn::HybridVit model(nn::Parameters(worker, {}), options);
    const Ledger& ledger = worker.backend().ledger();
    const std::int64_t parameters = ledger.live();
    worker.backend().ledger().reset_peak();
    const Tensor loss = mean(model(make(worker, zeros(image_of(options, 16)))));
    const std::int64_t forward = ledger.live();
    (void)backward(loss);
    return Held{forward - parameters, ledger.peak() - parameters};
  })[0];
}

TEST(HybridVit, WithCheckpointsKeepsTheInputsOfBlocksAlone) {
  // 16 images of 6 tokens of width 8 are 16 * 6 * 8 * 8 = 6144 bytes, a number for each token 768.
  // A block keeps, beyond its input, for its gradient: both norms with mean and deviation; q, k and
  // v; the attention with two log-sum-exps a token; the sum after it; two layers of twice the
  // width.
  constexpr std::int64_t token = 768;
  constexpr std::int64_t x = 6144;
  constexpr std::int64_t block = 2 * (x + 2 * token) + 3 * x + (x + 2 * token) + x + 2 * (2 * x);
  for (const std::int64_t depth : {1, 2, 3})
    EXPECT_EQ(held_with(depth, false).forward - held_with(depth, true).forward, depth * block);
  // At the peak one block is there either way; another costs its input with checkpoints.
  EXPECT_EQ(held_with(3, false).peak - held_with(2, false).peak, x + block);
  EXPECT_EQ(held_with(3, true).peak - held_with(2, true).peak, x);
}

std::string refusal(const std::function<void(nn::HybridVitOptions&)>& change) {
  nn::HybridVitOptions options = image2();
  change(options);
  return error_of(
      {}, [&](Worker& worker) { (void)nn::HybridVit(nn::Parameters(worker, {}), options); });
}

TEST(HybridVit, OptionsThatDoNotFitAreNamed) {
  const std::string rank = "invalid: rank 0: ";
  EXPECT_EQ(refusal([](auto& o) {
              o.size = {6, 4, 2};
            }),
            rank + "vit: an image of 3 extents and a patch of 2; two or three are needed");
  EXPECT_EQ(refusal([](auto& o) { o.size = o.patch = {2}; }),
            rank + "vit: an image of 1 extents and a patch of 1; two or three are needed");
  EXPECT_EQ(refusal([](auto& o) {
              o.size = {6, 5};
            }),
            rank + "vit: size 5 is no multiple of patch 2");
  EXPECT_EQ(refusal([](auto& o) {
              o.patch = {0, 2};
            }),
            rank + "vit: size 6 is no multiple of patch 0");
  EXPECT_EQ(refusal([](auto& o) {
              o.size = {0, 4};
            }),
            rank + "vit: size 0 is no multiple of patch 2");
  EXPECT_EQ(refusal([](auto& o) {
              o.size = {-6, 4};
            }),
            rank + "vit: size -6 is no multiple of patch 2");
  EXPECT_EQ(refusal([](auto& o) { o.depth = -1; }),
            rank +
                "vit: channels 2, width 8, heads 2, depth -1, mlp ratio 2 and classes 3 must be "
                "positive");
  EXPECT_EQ(refusal([](auto& o) { o.heads = 3; }),
            rank + "attention: width 8 is no multiple of 3 heads");
}

TEST(HybridVit, AnImageOfOtherExtentsIsNamed) {
  for (const Shape& shape :
       {Shape{1, 2, 4, 6}, Shape{1, 1, 6, 8}, Shape{1, 2, 6}, Shape{1, 2, 6, 4, 1}})
    EXPECT_EQ(
        error_of({},
                 [&](Worker& worker) {
                   const nn::HybridVit model(nn::Parameters(worker, {}), image2());
                   (void)model(make(worker, zeros(shape)));
                 }),
        "invalid: rank 0: vit: the image is " + to_string(shape) + "; [batch, 2, 6, 4] is needed");
}

}  // namespace
}  // namespace shardlab::test
