#include "engine/dispatch/plan.h"

#include <limits>

#include "engine/core/check.h"

namespace shardlab {
namespace {

using Kind = Placement::Kind;

/// What a one-axis rule does: shard a letter, pass Partial on, or replicate.
struct Rule {
  Kind kind = Kind::replicate;
  int letter = -1;
};

struct Chooser {
  const Op& op;
  std::span<const Operand> operands;
  std::span<const Spec> outputs;
  LayoutTable& layouts;
  Placing placing;
  std::array<Rule, max_axes> rules{};

  [[nodiscard]] const Mesh& mesh() const { return layouts.mesh(); }

  [[nodiscard]] int dim_of(const OperandUse& use, int ndim, int letter) const {
    for (int d = 0; d < ndim; ++d)
      if (use[d].letter == letter) return d;
    return -1;
  }

  [[nodiscard]] Placement wanted(std::size_t input, Rule rule) const {
    if (rule.kind == Kind::partial) return {Kind::partial, -1, Reduction::sum};
    if (rule.kind == Kind::replicate) return {};
    const int d = dim_of(placing.input[input], operands[input].spec->shape.ndim(), rule.letter);
    return d < 0 ? Placement{} : Placement{Kind::shard, d, Reduction::sum};
  }

  /// Bytes of an operand that a rank holds, were it whole along `axis`.
  [[nodiscard]] double held_bytes(const Spec& spec, int axis) const {
    double bytes = static_cast<double>(spec.shape.count() * width_of(spec.dtype));
    for (int a = 0; a < mesh().ndim(); ++a)
      if (a != axis && spec.layout->placement(a).kind == Kind::shard) bytes /= mesh().extent(a);
    return bytes;
  }

  [[nodiscard]] double move_bytes(const Spec& spec, int axis, Placement to) const {
    const Placement from = spec.layout->placement(axis);
    if (from == to || from.kind == Kind::replicate) return 0;
    const double p = mesh().extent(axis);
    const double bytes = held_bytes(spec, axis) * (p - 1) / p;
    if (from.kind == Kind::shard) return to.kind == Kind::shard ? bytes / p : bytes;
    return to.kind == Kind::shard ? bytes : 2 * bytes;
  }

  [[nodiscard]] bool allowed(int axis, Rule rule) const {
    if (rule.kind == Kind::replicate) return true;
    bool asked = false;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Placement now = operands[i].spec->layout->placement(axis);
      const Placement want = wanted(i, rule);
      if (rule.kind == Kind::shard) asked = asked || (want.kind == Kind::shard && now == want);
      if (rule.kind == Kind::partial && now.kind == Kind::partial) {
        asked = true;
        if (placing.pass == PartialPass::sum && now.reduction != Reduction::sum) return false;
      }
      // Pieces of a sum cannot be made from pieces of a tensor.
      if (rule.kind == Kind::partial && now.kind == Kind::shard) return false;
    }
    if (rule.kind != Kind::shard || !asked) return asked;
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (!maps(i, axis, rule.letter)) return false;
    return true;
  }

  /// Whether an output dim can be cut where this operand is cut.
  [[nodiscard]] bool maps(std::size_t input, int axis, int letter) const {
    const Spec& spec = *operands[input].spec;
    const Placement now = spec.layout->placement(axis);
    if (now.kind != Kind::shard || placing.input[input][now.dim].letter != letter) return true;
    const Split& split = *spec.layout->dim(now.dim).split;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const int d = dim_of(placing.output[o], outputs[o].shape.ndim(), letter);
      if (d >= 0 && placing.output[o][d].offsets(split).empty()) return false;
    }
    return true;
  }

  [[nodiscard]] bool fits_parameters(int axis, Rule rule) const {
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (operands[i].fixed && !(operands[i].spec->layout->placement(axis) == wanted(i, rule)))
        return false;
    return true;
  }

  [[nodiscard]] double cost(int axis, Rule rule) const {
    double bytes = 0;
    for (std::size_t i = 0; i < operands.size(); ++i)
      bytes += move_bytes(*operands[i].spec, axis, wanted(i, rule));
    if (rule.kind == Kind::shard)
      for (std::size_t o = 0; o < outputs.size(); ++o)
        if (dim_of(placing.output[o], outputs[o].shape.ndim(), rule.letter) < 0) {
          const double p = mesh().extent(axis);
          bytes += static_cast<double>(outputs[o].shape.count() * width_of(outputs[o].dtype)) *
                   (p - 1) / p;
        }
    return bytes;
  }

  void choose(int axis) {
    std::array<Rule, max_letters + 2> candidates;
    int count = 0;
    for (int l = 0; l < placing.letters; ++l)
      if (!placing.letter[l].whole) candidates[count++] = {Kind::shard, l};
    if (placing.pass != PartialPass::none) candidates[count++] = {Kind::partial, -1};
    candidates[count++] = {};
    double best = std::numeric_limits<double>::infinity();
    for (const bool ask_parameters : {true, false}) {
      double least_moved = std::numeric_limits<double>::infinity();
      for (int c = 0; c < count; ++c) {
        const Rule rule = candidates[c];
        if (!allowed(axis, rule) || (ask_parameters && !fits_parameters(axis, rule))) continue;
        double moved = 0;
        for (std::size_t i = 0; i < operands.size(); ++i)
          moved += move_bytes(*operands[i].spec, axis, wanted(i, rule));
        if (moved == 0 && least_moved > 0) {
          rules[axis] = rule;
          return;
        }
        const double bytes = cost(axis, rule);
        least_moved = std::min(least_moved, moved);
        if (bytes < best) {
          best = bytes;
          rules[axis] = rule;
        }
      }
      if (best < std::numeric_limits<double>::infinity()) return;
    }
  }

  /// The axes and offsets of a letter: those of the largest operand cut by just the chosen axes,
  /// else of the largest one cut by some of them.
  [[nodiscard]] DimLayout cut_of(int letter) {
    std::uint32_t chosen = 0;
    for (int a = 0; a < mesh().ndim(); ++a)
      if (rules[a].kind == Kind::shard && rules[a].letter == letter) chosen |= 1U << a;
    if (chosen == 0) return {};
    DimLayout best;
    bool best_exact = false;
    std::int64_t best_bytes = -1;
    for (const Operand& operand : operands) {
      const std::size_t i = static_cast<std::size_t>(&operand - operands.data());
      const int d = dim_of(placing.input[i], operand.spec->shape.ndim(), letter);
      if (d < 0) continue;
      const DimLayout& dim = operand.spec->layout->dim(d);
      if (dim.split == nullptr || (dim.axes.mask() & ~chosen) != 0) continue;
      const bool exact = dim.axes.mask() == chosen;
      const std::int64_t bytes = operand.spec->shape.count() + (operand.fixed ? 1LL << 60 : 0);
      if (exact < best_exact || (exact == best_exact && bytes <= best_bytes)) continue;
      best = dim;
      best_exact = exact;
      best_bytes = bytes;
    }
    return best;
  }

  [[nodiscard]] const Layout* layout_of(const OperandUse& use, int ndim,
                                        const std::array<DimLayout, max_letters>& cuts,
                                        AxisList partial, Reduction reduction) {
    Layout layout(mesh(), ndim);
    for (int d = 0; d < ndim; ++d) {
      if (use[d].letter < 0) continue;
      const DimLayout& cut = cuts[use[d].letter];
      if (cut.split == nullptr) continue;
      layout.set_dim(d, {cut.axes, layouts.intern(Split(use[d].offsets(*cut.split)))});
    }
    layout.set_partial(partial, reduction);
    return layouts.intern(layout);
  }

  [[nodiscard]] Plan plan() {
    AxisList passed;
    std::array<DimLayout, max_letters> cuts{};
    for (int a = 0; a < mesh().ndim(); ++a)
      if (mesh().extent(a) > 1) choose(a);
    for (int l = 0; l < placing.letters; ++l) cuts[l] = cut_of(l);
    Reduction passed_reduction = Reduction::sum;
    for (int a = 0; a < mesh().ndim(); ++a) {
      if (rules[a].kind != Kind::partial) continue;
      passed.push_back(a);
      for (const Operand& operand : operands)
        if (operand.spec->layout->partial().contains(a))
          passed_reduction = operand.spec->layout->reduction();
    }
    Plan plan;
    for (std::size_t i = 0; i < operands.size(); ++i)
      plan.inputs[i] = layout_of(placing.input[i], operands[i].spec->shape.ndim(), cuts, passed,
                                 passed_reduction);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const int ndim = outputs[o].shape.ndim();
      AxisList partial = passed;
      for (int l = 0; l < placing.letters; ++l)
        if (cuts[l].split != nullptr && dim_of(placing.output[o], ndim, l) < 0)
          for (const int axis : cuts[l].axes) partial.push_back(axis);
      const Reduction reduction = passed.empty() ? placing.reduction : passed_reduction;
      plan.outputs[o] = layout_of(placing.output[o], ndim, cuts, partial, reduction);
    }
    return plan;
  }

  /// The plan when the caller fixed the layout of output 0: operands lie as it does.
  [[nodiscard]] Plan plan_for(const Layout* fixed) {
    std::array<DimLayout, max_letters> cuts{};
    for (int d = 0; d < fixed->ndim(); ++d)
      if (placing.output[0][d].letter >= 0) cuts[placing.output[0][d].letter] = fixed->dim(d);
    Plan plan;
    for (std::size_t i = 0; i < operands.size(); ++i)
      plan.inputs[i] =
          layout_of(placing.input[i], operands[i].spec->shape.ndim(), cuts, {}, Reduction::sum);
    plan.outputs[0] = fixed;
    return plan;
  }
};

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
  return hash ^ hash >> 29;
}

}  // namespace

Plan choose_plan(const Op& op, std::span<const Operand> operands, std::span<const Spec> outputs,
                 LayoutTable& layouts) {
  std::array<const Spec*, max_inputs> specs{};
  for (std::size_t i = 0; i < operands.size(); ++i) specs[i] = operands[i].spec;
  Chooser chooser{op, operands, outputs, layouts,
                  op.placing(std::span(specs).first(operands.size()))};
  return op.fixed_layout() != nullptr ? chooser.plan_for(op.fixed_layout()) : chooser.plan();
}

std::uint64_t PlanCache::key(const Op& op, std::span<const Operand> operands) {
  std::uint64_t hash = mix(op.attributes(), reinterpret_cast<std::uintptr_t>(op.name()));
  hash = mix(hash, reinterpret_cast<std::uintptr_t>(op.fixed_layout()));
  for (const Operand& operand : operands) {
    hash = mix(hash, reinterpret_cast<std::uintptr_t>(operand.spec->layout));
    hash = mix(hash, (static_cast<std::uint64_t>(operand.spec->dtype) << 1) | operand.fixed);
    for (const std::int64_t extent : operand.spec->shape)
      hash = mix(hash, static_cast<std::uint64_t>(extent));
  }
  return hash;
}

}  // namespace shardlab
