#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/backends/cpu/cpu.h"
#include "engine/backends/cpu/isa.h"
#include "engine/core/op.h"
#include "tests/engine/backends/operands.h"

namespace shardlab::cpu {

/// The part of an output that a call computes; all of it if `whole` has no dims.
struct Part {
  Shape start;
  Shape whole;
};

/// Runs an op on operands and returns its outputs, which start full of a wrong value.
inline std::vector<Numbers> run_kernel(const Op& op, const std::vector<Operand*>& operands,
                                       const std::vector<Spec>& outputs, const Part& part = {}) {
  CpuBackend backend;
  std::vector<const View*> in;
  for (const Operand* operand : operands) in.push_back(&operand->view());
  std::vector<Operand> fresh;
  std::vector<const View*> out;
  fresh.reserve(outputs.size());
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (const int updated = op.updates(static_cast<int>(o)); updated >= 0) {
      out.push_back(in[static_cast<std::size_t>(updated)]);
      continue;
    }
    fresh.emplace_back(Numbers(outputs[o].shape, 77), outputs[o].dtype);
    out.push_back(&fresh.back().view());
  }
  Call call;
  call.op = &op;
  call.inputs = in;
  call.outputs = out;
  call.whole = part.whole.ndim() > 0 ? part.whole : outputs[0].shape;
  call.start = part.start;
  if (part.whole.ndim() == 0)
    for (int d = 0; d < call.whole.ndim(); ++d) call.start.push_back(0);
  Ref<Buffer> workspace;
  if (const std::int64_t bytes = op.workspace_bytes(in, out); bytes > 0) {
    workspace = backend.allocate(bytes, Category::workspace);
    call.workspace = workspace->data();
  }
  backend.run(call, Lane{});
  std::vector<Numbers> results;
  std::size_t next = 0;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const int updated = op.updates(static_cast<int>(o));
    const Operand& result =
        updated >= 0 ? *operands[static_cast<std::size_t>(updated)] : fresh[next++];
    EXPECT_TRUE(result.gaps_untouched()) << op.name() << " wrote beside output " << o;
    results.push_back(result.numbers());
  }
  return results;
}

/// The same with outputs as the op infers them from whole operands.
inline std::vector<Numbers> run_kernel(const Op& op, const std::vector<Operand*>& operands) {
  std::vector<Spec> specs;
  std::vector<const Spec*> in;
  specs.reserve(operands.size());
  for (const Operand* operand : operands) {
    specs.push_back({operand->view().shape, operand->view().dtype, nullptr});
    in.push_back(&specs.back());
  }
  std::vector<Spec> outputs(static_cast<std::size_t>(op.outputs()));
  op.infer(in, outputs);
  return run_kernel(op, operands, outputs);
}

/// What a dtype reaches where nothing cancels.
inline double bound_of(Dtype dtype) { return dtype == Dtype::float32 ? 4e-7 : 2e-15; }

inline constexpr std::array<Dtype, 2> floats{Dtype::float32, Dtype::float64};

/// Runs a test with every vector instruction set of this machine.
template <typename Test>
void for_each_isa(const Test& test) {
  for (const std::string& level : isa_levels()) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, level);
    restrict_isa_for_test(level);
    test();
  }
  restrict_isa_for_test("");
}

}  // namespace shardlab::cpu
