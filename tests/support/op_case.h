#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/core/op.h"
#include "tests/support/world.h"

namespace shardlab::test {

/// An operand of a case.
struct OpInput {
  Values values;
  bool differentiable = true;
  Dtype dtype = Dtype::float64;  ///< Anything but float64 stays as it is in every run.
};

/// One call of an op and what it must give.
struct OpCase {
  std::string name;
  std::vector<OpInput> inputs;
  /// The call; its outputs are all compared and differentiated.
  std::function<std::vector<Tensor>(std::span<const Tensor>)> call;
  /// The outputs written out naively in float64.
  std::function<std::vector<Values>(std::span<const Values>)> reference;
  /// The op whose sharding rules are tried; none for compositions.
  std::function<Ref<const Op>()> op;
  /// Flop of the forward call by a closed form; -1 if the op's cost is a rough one.
  std::int64_t flop = -1;
  double tolerance = 1e-10;  ///< Of float64 values and of gradients on more ranks.
  double tolerance_float32 = 1e-5;
  double tolerance_differences = 1e-6;
  bool has_gradient = true;
};

/// How the operands of a case lie.
struct Arrangement {
  std::string mesh;
  std::vector<Placed> inputs;
};

[[nodiscard]] std::string to_string(const Arrangement& arrangement);

/// Every rule of the op on three ranks, with uneven and empty parts: each letter cut in all
/// operands that carry it, each dim of one operand alone (also those that must be whole), operands
/// cut differently, and each operand pending.
[[nodiscard]] std::vector<Arrangement> line_arrangements(const OpCase& op_case);

/// The same on two axes: two letters, both axes on one dim in either order, one axis pending.
[[nodiscard]] std::vector<Arrangement> square_arrangements(const OpCase& op_case);

/// Outputs and gradients of the differentiable inputs, each whole.
struct OpResult {
  std::vector<Values> outputs;
  std::vector<Values> gradients;
};

/// The cotangent of an output.
[[nodiscard]] Values seed_of(const Shape& shape, int output);

/// Runs a case on one arrangement and gathers the results of every rank.
[[nodiscard]] std::vector<OpResult> run_case(const OpCase& op_case, const Arrangement& arrangement,
                                             Dtype dtype = Dtype::float64);

/// The reference and its gradients by central differences.
[[nodiscard]] OpResult differences(const OpCase& op_case);

/// What a run costs a rank: nothing of it depends on whether there are values.
struct OpAccount {
  std::string trace;
  std::vector<std::int64_t> bytes;  ///< Live, peak, and of each category: live and at the peak.
  Totals totals;
  std::int64_t copied_bytes = 0;     ///< Counted inside the communicators' copies; 0 under meta.
  std::int64_t allocated_live = -1;  ///< Counted beneath the backend; -1 where nothing is.
  std::int64_t allocated_peak = -1;
};
[[nodiscard]] std::vector<OpAccount> account(const OpCase& op_case, const Arrangement& arrangement,
                                             const World& world);

/// All checks of a case, one test each.
class OpCases : public testing::TestWithParam<OpCase> {};

[[nodiscard]] std::string name_of_case(const testing::TestParamInfo<OpCase>& info);
void PrintTo(const OpCase& op_case, std::ostream* out);

}  // namespace shardlab::test
