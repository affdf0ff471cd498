#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/nn/parameters.h"
#include "tests/support/world.h"

namespace shardlab::test {

/// Gives every parameter numbers of its own, so that no bias is 0 and no weight of a norm is 1.
void give_numbers(Worker& worker);

/// Sets what a tensor holds.
void set_values(const Tensor& tensor, const Values& values);

/// Values one after another.
[[nodiscard]] Values joined(const std::vector<Tensor>& tensors);

/// What one training pass found, whole.
struct Pass {
  Values output;
  Values input_gradient;
  std::vector<std::string> names;
  std::vector<Values> gradients;  ///< Of the parameters, in order of creation.
  std::int64_t collectives = 0;   ///< Of the forward pass.
};

/// A model: makes its parameters and gives a function of one input.
using Model = std::function<std::function<Tensor(const Tensor&)>(const nn::Parameters&)>;

/// How a pass is laid out.
struct Spread {
  World world;
  std::vector<nn::ParameterRule> rules;
  Placed input;
};

/// Runs a model on numbers and takes gradients of mean(output * numbers).
[[nodiscard]] Pass pass_of(const Model& model, const Shape& input, const Spread& spread);

/// Whether two passes found the same up to `tolerance` in output and every gradient.
void expect_equal(const Pass& found, const Pass& expected, double tolerance = 1e-10);

}  // namespace shardlab::test
