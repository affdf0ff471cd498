#include <algorithm>
#include <cmath>

#include "engine/ops/arithmetic.h"
#include "engine/ops/linear.h"
#include "tests/support/op_case.h"
#include "tests/support/world_mutant.h"

namespace shardlab::test {
namespace {

/// What the checks of a case must find: a case whose op is wrong in one way.
OpCase squares() {
  OpCase c;
  c.name = "Squares";
  c.inputs = {{numbers({6, 2}, 1)}, {numbers({2, 2}, 2)}};
  c.call = [](std::span<const Tensor> in) {
    return std::vector{linear(multiply(in[0], in[0]), in[1])};
  };
  return c;
}

Arrangement rows_on_three() { return {"domain=3", {cut(0, {4, 0, 2}), {}}}; }

bool bytes_agree(MutantBackend::Fault fault) {
  World world;
  world.backend = [fault] { return std::make_unique<MutantBackend>(fault); };
  World meta;
  meta.meta = true;
  const std::vector<OpAccount> real = account(squares(), rows_on_three(), world);
  const std::vector<OpAccount> traced = account(squares(), rows_on_three(), meta);
  bool agree = true;
  for (std::size_t r = 0; r < real.size(); ++r)
    agree = agree && real[r].allocated_live == traced[r].bytes[0] &&
            real[r].allocated_peak == traced[r].bytes[1];
  return agree;
}

TEST(Account, ABackendWithoutFaultsAgreesWithMeta) {
  EXPECT_TRUE(bytes_agree(MutantBackend::Fault::none));
}

TEST(Account, AKernelThatAllocatesIsFound) {
  EXPECT_FALSE(bytes_agree(MutantBackend::Fault::kernel_allocates));
}

TEST(Account, AReleaseThatComesLateIsFound) {
  EXPECT_FALSE(bytes_agree(MutantBackend::Fault::releases_late));
}

TEST(Arrangements, CoverEveryLetterEveryDimAndPendingOperands) {
  OpCase c = squares();
  c.op = [] { return make_ref<Linear>(false); };
  std::vector<std::string> line;
  for (const Arrangement& arrangement : line_arrangements(c))
    line.push_back(to_string(arrangement));
  const auto has = [&](const std::string& text) {
    return std::find(line.begin(), line.end(), text) != line.end();
  };
  EXPECT_TRUE(has("domain=3; operand 0: dim 0 over axes 0 as 4,0,2; operand 1: whole"));
  EXPECT_TRUE(
      has("domain=3; operand 0: dim 1 over axes 0 as 2,0,0; operand 1: dim 1 over axes 0 "
          "as 2,0,0"));
  EXPECT_TRUE(has("domain=3; operand 0: whole; operand 1: dim 0 over axes 0 as 0,1,1"));
  EXPECT_TRUE(has("domain=3; operand 0: partial sum over axes 0; operand 1: whole"));
  EXPECT_GE(line.size(), 15U);
  EXPECT_GE(square_arrangements(c).size(), 15U);
}

TEST(Close, FindsWhatDiffers) {
  EXPECT_TRUE(close({{2}, {1, 2}}, {{2}, {1, 2}}, 1e-12));
  EXPECT_FALSE(close({{2}, {1, 2.1}}, {{2}, {1, 2}}, 1e-3));
  EXPECT_FALSE(close({{2}, {1, NAN}}, {{2}, {1, 2}}, 1e-3));
  EXPECT_FALSE(close({{2}, {NAN, 2}}, {{2}, {NAN, 2}}, 1e-3));
  EXPECT_FALSE(close({{2}, {1, 2}}, {{1, 2}, {1, 2}}, 1e-3));
  EXPECT_TRUE(close({{2}, {-INFINITY, 2}}, {{2}, {-INFINITY, 2}}, 1e-12));
  EXPECT_FALSE(close({{2}, {0.5, 0}}, {{2}, {0, 0}}, 1e-3));
}

}  // namespace
}  // namespace shardlab::test
