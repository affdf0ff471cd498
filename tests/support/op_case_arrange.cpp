#include <algorithm>

#include "engine/core/check.h"
#include "tests/support/op_case.h"

namespace shardlab::test {
namespace {

using Sizes = std::vector<std::int64_t>;

/// Three uneven parts of n, one of them empty.
Sizes three(std::int64_t n, int salt) {
  if (salt == 0) return {n - n / 3, 0, n / 3};
  if (salt == 1) return {0, n / 2, n - n / 2};
  return {n / 2, n - n / 2, 0};
}

Sizes two(std::int64_t n) { return {n / 3, n - n / 3}; }
Sizes four(std::int64_t n) {
  const std::int64_t ends = n >= 2 ? 1 : 0;
  return {ends, 0, n - 2 * ends, ends};
}

/// Which dims of a case's operands carry which letters.
struct Letters {
  explicit Letters(const OpCase& op_case) {
    if (!op_case.op) return;
    std::vector<Spec> specs;
    std::vector<const Spec*> seen;
    for (const OpInput& input : op_case.inputs)
      specs.push_back({input.values.shape, input.dtype, nullptr});
    for (const Spec& spec : specs) seen.push_back(&spec);
    placing = op_case.op()->placing(seen);
  }

  [[nodiscard]] bool can_cut(int letter) const { return !placing.letter[letter].whole; }

  /// Cuts every operand where it carries the letter, or only those in `chosen`.
  void put(std::vector<Placed>& inputs, const OpCase& op_case, int letter, const AxisList& axes,
           const Sizes& sizes, std::uint32_t chosen = ~0U) const {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if ((chosen >> i & 1U) == 0) continue;
      for (int d = 0; d < op_case.inputs[i].values.shape.ndim(); ++d) {
        const DimUse& use = placing.input[i][d];
        if (use.letter != letter) continue;
        const std::vector<std::int64_t> offsets = use.offsets(Split::of_sizes(sizes));
        if (offsets.empty()) continue;
        inputs[i].cuts.push_back({d, axes, Split(offsets).sizes()});
      }
    }
  }

  [[nodiscard]] std::uint32_t carriers(const OpCase& op_case, int letter) const {
    std::uint32_t found = 0;
    for (std::size_t i = 0; i < op_case.inputs.size(); ++i)
      for (int d = 0; d < op_case.inputs[i].values.shape.ndim(); ++d)
        if (placing.input[i][d].letter == letter) found |= 1U << i;
    return found;
  }

  Placing placing;
};

bool can_pend(const OpInput& input) { return input.dtype != Dtype::int64; }

void append_pending(std::vector<Arrangement>& all, const OpCase& op_case, const std::string& mesh,
                    const AxisList& axes) {
  const std::size_t n = op_case.inputs.size();
  Arrangement every{mesh, std::vector<Placed>(n)};
  for (std::size_t i = 0; i < n; ++i) {
    if (!can_pend(op_case.inputs[i])) continue;
    Arrangement one{mesh, std::vector<Placed>(n)};
    one.inputs[i].partial = axes;
    every.inputs[i].partial = axes;
    all.push_back(one);
    one.inputs[i].reduction = Reduction::max;
    all.push_back(one);
  }
  if (n > 1) all.push_back(every);
}

}  // namespace

std::string to_string(const Arrangement& arrangement) {
  std::string text = arrangement.mesh;
  for (std::size_t i = 0; i < arrangement.inputs.size(); ++i)
    text += fmt::format("; operand {}: {}", i, to_string(arrangement.inputs[i]));
  return text;
}

std::vector<Arrangement> line_arrangements(const OpCase& op_case) {
  const Letters letters(op_case);
  const std::size_t n = op_case.inputs.size();
  const Arrangement whole{"domain=3", std::vector<Placed>(n)};
  std::vector<Arrangement> all{whole};
  for (int l = 0; l < letters.placing.letters; ++l) {
    if (!letters.can_cut(l)) continue;
    const std::int64_t extent = letters.placing.letter[l].extent;
    for (int salt = 0; salt < 2; ++salt) {
      Arrangement same = whole;
      letters.put(same.inputs, op_case, l, {0}, three(extent, salt));
      all.push_back(same);
    }
    const std::uint32_t carriers = letters.carriers(op_case, l);
    for (std::size_t i = 0; i < n; ++i) {
      if ((carriers >> i & 1U) == 0) continue;
      if ((carriers & ~(1U << i)) != 0) {
        Arrangement differing = whole;
        letters.put(differing.inputs, op_case, l, {0}, three(extent, 0), 1U << i);
        letters.put(differing.inputs, op_case, l, {0}, three(extent, 2), ~(1U << i));
        all.push_back(differing);
      }
      for (std::size_t j = 0; j < n; ++j) {
        if (j == i || !can_pend(op_case.inputs[j])) continue;
        Arrangement beside = whole;
        letters.put(beside.inputs, op_case, l, {0}, three(extent, 1), 1U << i);
        beside.inputs[j].partial = {0};
        all.push_back(beside);
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    for (int d = 0; d < op_case.inputs[i].values.shape.ndim(); ++d) {
      Arrangement alone = whole;
      alone.inputs[i] = cut(d, three(op_case.inputs[i].values.shape[d], d % 3));
      all.push_back(alone);
    }
  append_pending(all, op_case, "domain=3", {0});
  return all;
}

std::vector<Arrangement> square_arrangements(const OpCase& op_case) {
  const Letters letters(op_case);
  const std::size_t n = op_case.inputs.size();
  const std::string mesh = "data=2,domain=2";
  const Arrangement whole{mesh, std::vector<Placed>(n)};
  std::vector<Arrangement> all;
  for (int l = 0; l < letters.placing.letters; ++l) {
    if (!letters.can_cut(l)) continue;
    const std::int64_t extent = letters.placing.letter[l].extent;
    for (int other = 0; other < letters.placing.letters; ++other) {
      if (other == l || !letters.can_cut(other)) continue;
      Arrangement both = whole;
      letters.put(both.inputs, op_case, l, {0}, two(extent));
      letters.put(both.inputs, op_case, other, {1}, two(letters.placing.letter[other].extent));
      all.push_back(both);
    }
    for (const AxisList& axes : {AxisList{0, 1}, AxisList{1, 0}}) {
      Arrangement twice = whole;
      letters.put(twice.inputs, op_case, l, axes, four(extent));
      all.push_back(twice);
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (!can_pend(op_case.inputs[i])) continue;
      Arrangement pending = whole;
      letters.put(pending.inputs, op_case, l, {0}, two(extent));
      pending.inputs[i].partial = {1};
      all.push_back(pending);
    }
    if (const std::uint32_t carriers = letters.carriers(op_case, l);
        (carriers & (carriers - 1)) != 0) {
      Arrangement deeper = whole;
      letters.put(deeper.inputs, op_case, l, {0, 1}, four(extent), 1U);
      letters.put(deeper.inputs, op_case, l, {1}, two(extent), ~1U);
      all.push_back(deeper);
    }
  }
  append_pending(all, op_case, mesh, {1, 0});
  return all;
}

}  // namespace shardlab::test
