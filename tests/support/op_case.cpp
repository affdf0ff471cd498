#include "tests/support/op_case.h"

#include <algorithm>

#include "engine/backends/cpu/cpu.h"
#include "engine/comm/thread/communicator.h"
#include "engine/core/check.h"
#include "engine/dispatch/dispatch.h"
#include "tests/support/world_mutant.h"

namespace shardlab::test {
namespace {

std::vector<Tensor> make_inputs(Worker& worker, const OpCase& op_case,
                                const Arrangement& arrangement) {
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
    const OpInput& input = op_case.inputs[i];
    const Dtype dtype = input.dtype == Dtype::float64 ? worker.dtype() : input.dtype;
    inputs.push_back(
        make_of(worker, dtype, input.values, arrangement.inputs[i], input.differentiable));
  }
  return inputs;
}

struct Ran {
  std::vector<Tensor> outputs;
  std::vector<Tensor> gradients;
};

Ran run_once(Worker& worker, const OpCase& op_case, const Arrangement& arrangement) {
  const std::vector<Tensor> inputs = make_inputs(worker, op_case, arrangement);
  Ran ran;
  ran.outputs = op_case.call(inputs);
  if (!op_case.has_gradient) return ran;
  std::vector<Tensor> wrt;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (op_case.inputs[i].differentiable) wrt.push_back(inputs[i]);
  std::vector<Tensor> seeds;
  for (std::size_t o = 0; o < ran.outputs.size(); ++o)
    seeds.push_back(make(worker, seed_of(ran.outputs[o].shape(), static_cast<int>(o))));
  ran.gradients = gradients(ran.outputs, wrt, seeds);
  return ran;
}

/// Bytes that the communicators of this rank really copied, over every ordered set of axes.
std::int64_t copied_bytes(Worker& worker) {
  std::vector<AxisList> sets;
  for (int a = 0; a < worker.mesh().ndim(); ++a) {
    sets.push_back({a});
    for (int b = 0; b < worker.mesh().ndim(); ++b)
      if (a != b) sets.push_back({a, b});
  }
  std::int64_t bytes = 0;
  for (const AxisList& axes : sets) {
    if (worker.mesh().size(axes) == 1) continue;
    Communicator& communicator = worker.communicator(axes);
    communicator.barrier();
    if (const auto* thread = dynamic_cast<const ThreadCommunicator*>(&communicator))
      bytes += thread->copied_bytes();
  }
  return bytes;
}

}  // namespace

Values seed_of(const Shape& shape, int output) { return numbers(shape, 1000 + output); }

std::vector<OpResult> run_case(const OpCase& op_case, const Arrangement& arrangement, Dtype dtype) {
  World world;
  world.mesh = arrangement.mesh;
  world.dtype = dtype;
  return on_ranks<OpResult>(world, [&](Worker& worker) {
    const Ran ran = run_once(worker, op_case, arrangement);
    OpResult result;
    for (const Tensor& output : ran.outputs) result.outputs.push_back(whole_values(output));
    for (const Tensor& gradient : ran.gradients) result.gradients.push_back(whole_values(gradient));
    return result;
  });
}

OpResult differences(const OpCase& op_case) {
  std::vector<Values> inputs;
  for (const OpInput& input : op_case.inputs) inputs.push_back(input.values);
  OpResult result;
  result.outputs = op_case.reference(inputs);
  if (!op_case.has_gradient) return result;
  const auto loss = [&] {
    double sum = 0;
    const std::vector<Values> outputs = op_case.reference(inputs);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const Values seed = seed_of(outputs[o].shape, static_cast<int>(o));
      for (std::size_t i = 0; i < seed.data.size(); ++i) sum += seed.data[i] * outputs[o].data[i];
    }
    return sum;
  };
  constexpr double step = 1e-5;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!op_case.inputs[i].differentiable) continue;
    Values gradient = zeros(inputs[i].shape);
    for (std::size_t e = 0; e < gradient.data.size(); ++e) {
      const double value = inputs[i].data[e];
      inputs[i].data[e] = value + step;
      const double above = loss();
      inputs[i].data[e] = value - step;
      const double below = loss();
      inputs[i].data[e] = value;
      gradient.data[e] = (above - below) / (2 * step);
    }
    result.gradients.push_back(gradient);
  }
  return result;
}

std::vector<OpAccount> account(const OpCase& op_case, const Arrangement& arrangement,
                               const World& world) {
  World there = world;
  there.mesh = arrangement.mesh;
  return on_ranks<OpAccount>(there, [&](Worker& worker) {
    worker.trace().keep(true);
    const Ran ran = run_once(worker, op_case, arrangement);
    for (const Tensor& tensor : ran.outputs) (void)ready_view(tensor);
    for (const Tensor& tensor : ran.gradients) (void)ready_view(tensor);
    OpAccount account;
    account.trace = to_text(worker.trace());
    account.totals = worker.trace().totals();
    const Ledger& ledger = worker.backend().ledger();
    account.bytes = {ledger.live(), ledger.peak()};
    for (int c = 0; c < category_count; ++c) {
      if (static_cast<Category>(c) == Category::library) continue;
      account.bytes.push_back(ledger.live(static_cast<Category>(c)));
      account.bytes.push_back(ledger.at_peak(static_cast<Category>(c)));
    }
    if (const auto* cpu = dynamic_cast<const CpuBackend*>(&worker.backend())) {
      account.allocated_live = cpu->stats().live;
      account.allocated_peak = cpu->stats().peak;
    } else if (const auto* mutant = dynamic_cast<const MutantBackend*>(&worker.backend())) {
      account.allocated_live = mutant->stats().live;
      account.allocated_peak = mutant->stats().peak;
    }
    account.copied_bytes = copied_bytes(worker);
    return account;
  });
}

std::string name_of_case(const testing::TestParamInfo<OpCase>& info) { return info.param.name; }

void PrintTo(const OpCase& op_case, std::ostream* out) { *out << op_case.name; }

namespace {

void expect_close(const std::vector<Values>& found, const std::vector<Values>& expected,
                  double tolerance, const char* what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(close(found[i], expected[i], tolerance)) << what << " " << i;
}

Arrangement alone(const OpCase& op_case) {
  return {"domain=1", std::vector<Placed>(op_case.inputs.size())};
}

void expect_equal_to_one_rank(const OpCase& op_case, const std::vector<Arrangement>& arrangements) {
  const OpResult one = run_case(op_case, alone(op_case))[0];
  for (const Arrangement& arrangement : arrangements) {
    SCOPED_TRACE(to_string(arrangement));
    try {
      const std::vector<OpResult> ranks = run_case(op_case, arrangement);
      expect_close(ranks[0].outputs, one.outputs, op_case.tolerance, "output");
      expect_close(ranks[0].gradients, one.gradients, op_case.tolerance, "gradient");
      for (const OpResult& rank : ranks) {
        for (std::size_t o = 0; o < rank.outputs.size(); ++o)
          EXPECT_TRUE(same(rank.outputs[o], ranks[0].outputs[o])) << "ranks differ in output " << o;
        for (std::size_t g = 0; g < rank.gradients.size(); ++g)
          EXPECT_TRUE(same(rank.gradients[g], ranks[0].gradients[g]))
              << "ranks differ in gradient " << g;
      }
    } catch (const Error& error) {
      ADD_FAILURE() << name_of(error.fault()) << ": " << error.what() << " at " << error.where();
    }
  }
}

}  // namespace

TEST_P(OpCases, ValueEqualsTheReference) {
  const OpResult found = run_case(GetParam(), alone(GetParam()))[0];
  expect_close(found.outputs, differences(GetParam()).outputs, GetParam().tolerance, "output");
}

TEST_P(OpCases, ValueInFloat32EqualsTheReference) {
  const OpResult found = run_case(GetParam(), alone(GetParam()), Dtype::float32)[0];
  expect_close(found.outputs, differences(GetParam()).outputs, GetParam().tolerance_float32,
               "output");
}

TEST_P(OpCases, GradientEqualsFiniteDifferences) {
  const OpResult found = run_case(GetParam(), alone(GetParam()))[0];
  expect_close(found.gradients, differences(GetParam()).gradients, GetParam().tolerance_differences,
               "gradient");
}

TEST_P(OpCases, EveryCutOfThreeRanksEqualsOneRank) {
  expect_equal_to_one_rank(GetParam(), line_arrangements(GetParam()));
}

TEST_P(OpCases, EveryCutOfTwoByTwoRanksEqualsOneRank) {
  expect_equal_to_one_rank(GetParam(), square_arrangements(GetParam()));
}

TEST_P(OpCases, MetaCountsWhatRealRanksDo) {
  std::vector<Arrangement> arrangements = line_arrangements(GetParam());
  for (const Arrangement& arrangement : square_arrangements(GetParam()))
    arrangements.push_back(arrangement);
  World meta;
  meta.meta = true;
  for (const Arrangement& arrangement : arrangements) {
    SCOPED_TRACE(to_string(arrangement));
    try {
      const std::vector<OpAccount> real = account(GetParam(), arrangement, World{});
      const std::vector<OpAccount> traced = account(GetParam(), arrangement, meta);
      std::int64_t received = 0;
      std::int64_t copied = 0;
      for (std::size_t r = 0; r < real.size(); ++r) {
        EXPECT_EQ(traced[r].trace, real[r].trace) << "rank " << r;
        EXPECT_EQ(traced[r].bytes, real[r].bytes) << "rank " << r;
        EXPECT_EQ(traced[r].totals.flop, real[r].totals.flop);
        EXPECT_EQ(traced[r].totals.bytes_received, real[r].totals.bytes_received);
        EXPECT_EQ(traced[r].totals.collectives, real[r].totals.collectives);
        EXPECT_EQ(traced[r].totals.dispatches, real[r].totals.dispatches);
        EXPECT_EQ(real[r].allocated_live, traced[r].bytes[0]) << "rank " << r;
        EXPECT_EQ(real[r].allocated_peak, traced[r].bytes[1]) << "rank " << r;
        received += real[r].totals.bytes_received;
        copied += real[r].copied_bytes;
      }
      EXPECT_EQ(copied, received);
    } catch (const Error& error) {
      ADD_FAILURE() << name_of(error.fault()) << ": " << error.what() << " at " << error.where();
    }
  }
}

TEST_P(OpCases, FlopEqualsTheClosedForm) {
  if (GetParam().flop < 0) return;
  World meta;
  meta.meta = true;
  const std::vector<std::int64_t> flop = on_ranks<std::int64_t>(meta, [](Worker& worker) {
    const NoGrad no_grad(worker);
    const std::vector<Tensor> inputs = make_inputs(worker, GetParam(), alone(GetParam()));
    (void)GetParam().call(inputs);
    return worker.trace().totals().flop;
  });
  EXPECT_EQ(flop[0], GetParam().flop);
}

}  // namespace shardlab::test
