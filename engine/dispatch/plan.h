#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "engine/core/op.h"

namespace shardlab {

/// Where a call reads each operand and leaves each output.
struct Plan {
  std::array<const Layout*, max_inputs> inputs{};
  std::array<const Layout*, max_outputs> outputs{};
};

/// An operand as the rules see it.
struct Operand {
  const Spec* spec = nullptr;
  bool fixed = false;  ///< A parameter in its used layout, never moved elsewhere.
};

/// Chooses one rule per mesh axis: a rule that fits the parameters; then one that moves nothing;
/// then the fewest bytes to move operands and to reduce-scatter a Partial output; then the order
/// written: letters as they appear, Partial passed on, everything replicated.
///
/// Errors   Error{invalid} if the call is wrong, from global metadata only.
[[nodiscard]] Plan choose_plan(const Op& op, std::span<const Operand> operands,
                               std::span<const Spec> outputs, LayoutTable& layouts);

/// Remembers plans of calls that look alike.
class PlanCache {
 public:
  [[nodiscard]] static std::uint64_t key(const Op& op, std::span<const Operand> operands);

  /// Null if not seen before.
  [[nodiscard]] const Plan* find(std::uint64_t key) const {
    const auto found = plans_.find(key);
    return found == plans_.end() ? nullptr : &found->second;
  }
  const Plan& keep(std::uint64_t key, const Plan& plan) {
    return plans_.emplace(key, plan).first->second;
  }

 private:
  std::unordered_map<std::uint64_t, Plan> plans_;
};

}  // namespace shardlab
