#include <cmath>

#include "engine/dispatch/dispatch.h"
#include "engine/nn/layers.h"
#include "engine/nn/optimizer.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/cross_entropy.h"
#include "engine/ops/linear.h"
#include "engine/ops/reduce.h"
#include "engine/ops/reshape.h"
#include "tests/engine/nn/model_case.h"

namespace shardlab::test {
namespace {

World on(const std::string& mesh) {
  World world;
  world.mesh = mesh;
  return world;
}

/// Losses and parameters of an epoch of 11 samples of 32 values in batches of 4, 4 and 3, on one
/// worker. The first layer is the identity, the second knows nothing of how its operand lies.
Values epoch_of_eleven(const World& world, const std::vector<shardlab::Cut>& cuts) {
  return on_all(world, [&](Worker& worker) {
    const nn::Linear layer(nn::Parameters(worker, {}), 32, 3);
    give_numbers(worker);
    nn::AdamWOptimizer optimizer(worker, {});
    const Values samples = numbers({11, 32}, 1);
    const Values targets{{11}, {0, 1, 2, 2, 1, 0, 0, 2, 1, 1, 2}};
    Values found;
    for (const std::int64_t begin : {0, 4, 8}) {
      const std::int64_t size = begin == 8 ? 3 : 4;
      const auto run = [&](const Values& all, std::int64_t width) {
        return std::vector<double>(all.data.begin() + begin * width,
                                   all.data.begin() + (begin + size) * width);
      };
      const Spec spec = spread(worker, {size, 32}, Dtype::float64, cuts);
      const Tensor x = make_leaf(from_values(worker, spec, run(samples, 32)));
      const Tensor same_x = reshape(reshape(shift(x, 0), Shape{size, 4, 8}), Shape{size, 32});
      const Tensor t = make_of(worker, Dtype::int64, Values{{size}, run(targets, 1)}, {});
      const Tensor loss = cross_entropy(layer(same_x), t);
      found.data.push_back(value_of(loss));
      (void)backward(loss);
      EXPECT_EQ(x.gradient().layout(), spec.layout);
      const Values g = whole_values(x.gradient());
      EXPECT_EQ(g.shape, (Shape{size, 32}));
      found.data.insert(found.data.end(), g.data.begin(), g.data.end());
      optimizer.step();
    }
    const Values after = joined(worker.parameters());
    found.data.insert(found.data.end(), after.data.begin(), after.data.end());
    found.shape = {static_cast<std::int64_t>(found.data.size())};
    return found;
  });
}

TEST(Training, A19_AShortLastBatchOnAnyCutTrainsLikeOneRank) {
  const Values one = epoch_of_eleven({}, {});
  EXPECT_EQ(one.shape, (Shape{3 + 11 * 32 + 3 * 32 + 3}));
  for (const std::string mesh : {"domain=2", "domain=3", "domain=4", "domain=5"}) {
    SCOPED_TRACE(mesh);
    // Three samples leave the fourth and fifth rank without any.
    EXPECT_TRUE(close(epoch_of_eleven(on(mesh), {{"domain", 0, 1}}), one, 1e-10));
    EXPECT_TRUE(close(epoch_of_eleven(on(mesh), {{"domain", 1, 1}}), one, 1e-10));
    EXPECT_TRUE(close(epoch_of_eleven(on(mesh), {{"domain", 1, 8}}), one, 1e-10));
  }
  EXPECT_TRUE(close(epoch_of_eleven(on("data=4,domain=2"), {{"data", 0, 1}, {"domain", 1, 8}}), one,
                    1e-10));
}

/// A loss over those patches of 8 rows that a mask of each sample keeps, and its gradient.
struct MaskedLoss {
  double value = 0;
  Values gradient;
};

constexpr std::int64_t samples = 2;
constexpr std::int64_t rows = 1024;
constexpr std::int64_t columns = 2;
constexpr std::int64_t patch = 8;

/// 0 or 1 for each element, by another pattern in each sample.
Values mask_of_samples() {
  Values mask = zeros({samples, rows, columns});
  for (std::int64_t i = 0; i < mask.shape.count(); ++i) {
    const std::int64_t row = i / columns % rows;
    mask[i] = i / (rows * columns) == 0 ? (row < 900 ? 1 : 0) : (row % 3 == 0 ? 1 : 0);
  }
  return mask;
}

MaskedLoss masked_by_hand(const Values& x, const Values& target, const Values& mask) {
  MaskedLoss loss{0, zeros(x.shape)};
  const std::int64_t patches = samples * (rows / patch) * columns;
  std::vector<double> weight(static_cast<std::size_t>(patches));
  std::vector<double> error(weight.size());
  const auto patch_of = [](std::int64_t i) {
    return static_cast<std::size_t>(i / (patch * columns) * columns + i % columns);
  };
  double kept = 0;
  for (std::int64_t i = 0; i < x.shape.count(); ++i) {
    weight[patch_of(i)] += mask[i] / patch;
    error[patch_of(i)] += (x[i] - target[i]) * (x[i] - target[i]) / patch;
    kept += mask[i] / patch;
  }
  for (std::size_t p = 0; p < weight.size(); ++p) loss.value += weight[p] * error[p] / kept;
  for (std::int64_t i = 0; i < x.shape.count(); ++i)
    loss.gradient[i] = 2 * (x[i] - target[i]) * weight[patch_of(i)] / patch / kept;
  return loss;
}

TEST(MaskedLoss, A20_PooledMasksLieLikeTheTargetAndTheLossEqualsOneRank) {
  const Shape shape{samples, rows, columns};
  const Values mask = mask_of_samples();
  const MaskedLoss dense = masked_by_hand(numbers(shape, 1), numbers(shape, 2), mask);
  const auto pooled = [](const Tensor& x) {
    return mean(reshape(x, Shape{samples, rows / patch, patch, columns}), {{2}, false});
  };
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{512, 512}, {608, 416}, {1024, 0}})
    for (const bool whole_mask : {false, true}) {
      const Placed placed = cut(1, sizes);
      SCOPED_TRACE(to_string(placed));
      run_on(on("domain=2"), [&](Worker& worker, int) {
        const Tensor x = make(worker, numbers(shape, 1), placed, true);
        const Tensor difference = subtract(x, make(worker, numbers(shape, 2), placed));
        const Tensor error = pooled(multiply(difference, difference));
        const Tensor weight = pooled(make(worker, mask, whole_mask ? Placed{} : placed));
        EXPECT_EQ(error.layout(),
                  layout_of(worker, 3, cut(1, {sizes[0] / patch, sizes[1] / patch})));
        if (!whole_mask) {
          EXPECT_EQ(weight.layout(), error.layout());
        }
        const Tensor kept = multiply(weight, error);
        EXPECT_EQ(kept.layout(), error.layout());
        EXPECT_EQ(worker.trace().totals().collectives, 0);
        const Tensor loss = divide(sum(kept), sum(weight));
        EXPECT_NEAR(value_of(loss), dense.value, 1e-13);
        (void)backward(loss);
        EXPECT_EQ(x.gradient().layout(), x.layout());
        EXPECT_TRUE(close(whole_values(x.gradient()), dense.gradient, 1e-12));
      });
    }
}

/// Loss, gradient of the hidden values and of the weight, written out.
Values vocabulary_loss_by_hand(const Values& hidden, const Values& weight,
                               const std::vector<std::int64_t>& targets) {
  Values loss{{}, {0}};
  Values of_hidden = zeros({4, 6});
  Values of_weight = zeros({10, 6});
  for (std::int64_t t = 0; t < 4; ++t) {
    std::vector<double> p(10);
    double total = 0;
    for (std::int64_t c = 0; c < 10; ++c) {
      double logit = 0;
      for (std::int64_t i = 0; i < 6; ++i) logit += hidden[t * 6 + i] * weight[c * 6 + i];
      if (c == targets[t]) loss[0] -= logit / 4;
      total += p[c] = std::exp(logit);
    }
    loss[0] += std::log(total) / 4;
    for (std::int64_t c = 0; c < 10; ++c) {
      const double g = (p[c] / total - (c == targets[t] ? 1 : 0)) / 4;
      for (std::int64_t i = 0; i < 6; ++i) {
        of_hidden[t * 6 + i] += g * weight[c * 6 + i];
        of_weight[c * 6 + i] += g * hidden[t * 6 + i];
      }
    }
  }
  for (const Values& more : {of_hidden, of_weight})
    loss.data.insert(loss.data.end(), more.data.begin(), more.data.end());
  loss.shape = {static_cast<std::int64_t>(loss.data.size())};
  return loss;
}

// All logits are far below 0: a column that pads a short part would win.
TEST(CrossEntropy, B14_OverAVocabularyCutUnevenlyGivesEveryRankTheReducedGradientOfHidden) {
  Values hidden = numbers({4, 6}, 1);
  Values weight = numbers({10, 6}, 2);
  for (double& value : hidden.data) value = 2 + value;
  for (double& value : weight.data) value = value - 3;
  const std::vector<std::int64_t> targets{1, 5, 7, 9};
  const Values expected = vocabulary_loss_by_hand(hidden, weight, targets);
  for (const std::vector<std::int64_t>& vocabulary :
       {std::vector<std::int64_t>{3, 3, 2, 2}, {1, 2, 3, 4}, {0, 9, 0, 1}})
    for (const Placed& tokens : {Placed{}, cut(0, {1, 1, 1, 1}), cut(0, {0, 3, 1, 0})}) {
      const Values found = on_all(on("tensor=4"), [&](Worker& worker) {
        const Tensor x = make(worker, hidden, tokens, true);
        const Tensor w = parameter_of(worker, "w", weight, cut(0, vocabulary), cut(0, vocabulary));
        const Tensor t = make_of(worker, Dtype::int64, {{4}, {1, 5, 7, 9}}, {});
        const Tensor loss = cross_entropy(linear(x, w), t);
        Values all{{}, {value_of(loss)}};
        (void)backward(loss);
        EXPECT_EQ(w.gradient().layout(), w.layout());
        for (const Tensor& g : {x.gradient(), w.gradient()}) {
          EXPECT_TRUE(g.layout()->partial().empty());
          const Values more = whole_values(g);
          all.data.insert(all.data.end(), more.data.begin(), more.data.end());
        }
        all.shape = {static_cast<std::int64_t>(all.data.size())};
        return all;
      });
      EXPECT_TRUE(close(found, expected, 1e-12)) << to_string(tokens);
    }
}

}  // namespace
}  // namespace shardlab::test
