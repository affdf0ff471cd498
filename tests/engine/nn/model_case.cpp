#include "tests/engine/nn/model_case.h"

#include "engine/dispatch/dispatch.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/reduce.h"

namespace shardlab::test {

void give_numbers(Worker& worker) {
  int salt = 100;
  for (const Tensor& parameter : worker.parameters())
    set_values(parameter, numbers(parameter.shape(), salt++));
}

void set_values(const Tensor& tensor, const Values& values) {
  const Tensor placed = from_values(tensor.worker(), tensor.spec(), values.data);
  write(tensor, local_values(placed).data.data());
}

Values joined(const std::vector<Tensor>& tensors) {
  Values all;
  for (const Tensor& tensor : tensors) {
    const Values more = whole_values(tensor);
    all.data.insert(all.data.end(), more.data.begin(), more.data.end());
  }
  all.shape = {static_cast<std::int64_t>(all.data.size())};
  return all;
}

Pass pass_of(const Model& model, const Shape& input, const Spread& spread) {
  const std::vector<Pass> ranks = on_ranks<Pass>(spread.world, [&](Worker& worker) {
    const nn::Parameters parameters(worker, spread.rules);
    const std::function<Tensor(const Tensor&)> function = model(parameters);
    give_numbers(worker);
    const Tensor x = make(worker, numbers(input, 1), spread.input, true);
    const std::int64_t before = worker.trace().totals().collectives;
    const Tensor y = function(x);
    Pass pass;
    pass.output = whole_values(y);
    pass.collectives = worker.trace().totals().collectives - before;
    (void)backward(mean(multiply(y, make(worker, numbers(y.shape(), 2)))));
    pass.input_gradient = whole_values(x.gradient());
    for (const Tensor& parameter : worker.parameters()) {
      pass.names.push_back(parameter.state().parameter->name);
      EXPECT_EQ(parameter.gradient().layout(), parameter.layout()) << pass.names.back();
      pass.gradients.push_back(whole_values(parameter.gradient()));
    }
    return pass;
  });
  for (const Pass& rank : ranks) {
    EXPECT_TRUE(same(rank.output, ranks[0].output)) << "ranks differ";
    EXPECT_TRUE(same(rank.input_gradient, ranks[0].input_gradient)) << "ranks differ";
    for (std::size_t p = 0; p < rank.gradients.size(); ++p)
      EXPECT_TRUE(same(rank.gradients[p], ranks[0].gradients[p])) << "ranks differ";
  }
  return ranks[0];
}

void expect_equal(const Pass& found, const Pass& expected, double tolerance) {
  EXPECT_TRUE(close(found.output, expected.output, tolerance)) << "output";
  EXPECT_TRUE(close(found.input_gradient, expected.input_gradient, tolerance)) << "input";
  ASSERT_EQ(found.names, expected.names);
  for (std::size_t p = 0; p < found.gradients.size(); ++p)
    EXPECT_TRUE(close(found.gradients[p], expected.gradients[p], tolerance)) << found.names[p];
}

}  // namespace shardlab::test
