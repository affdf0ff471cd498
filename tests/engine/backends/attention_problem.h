#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "engine/backends/cpu/attention_tiles.h"

namespace shardlab::cpu {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
/// Stands where nothing may be written.
inline constexpr double guard = 777.0;

/// One operand [batch, token, head, width] with gaps between tokens, heads and, if asked, elements.
template <typename T>
struct Operand {
  Operand(std::int64_t batch, std::int64_t tokens, std::int64_t heads, std::int64_t width,
          std::int64_t width_stride = 1)
      : extents{batch, tokens, heads, width} {
    view.width_stride = width_stride;
    view.head_stride = width * width_stride + 3;
    view.token_stride = heads * view.head_stride + 5;
    view.batch_stride = tokens * view.token_stride + 7;
    memory.assign(static_cast<std::size_t>(batch * view.batch_stride + 16), T(guard));
    view.data = memory.data() + 8;
  }

  T& at(std::int64_t b, std::int64_t t, std::int64_t h, std::int64_t w) {
    return view.data[b * view.batch_stride + t * view.token_stride + h * view.head_stride +
                     w * view.width_stride];
  }

  template <typename Visit>
  void for_each(const Visit& visit) {
    for (std::int64_t b = 0; b < extents[0]; ++b)
      for (std::int64_t t = 0; t < extents[1]; ++t)
        for (std::int64_t h = 0; h < extents[2]; ++h)
          for (std::int64_t w = 0; w < extents[3]; ++w) visit(at(b, t, h, w));
  }

  void fill(std::mt19937_64& random, double factor = 1.0) {
    std::normal_distribution<double> normal;
    for_each([&](T& value) { value = static_cast<T>(factor * normal(random)); });
  }

  std::vector<double> values() {
    std::vector<double> all;
    for_each([&](T& value) { all.push_back(static_cast<double>(value)); });
    return all;
  }

  /// Whether every element that belongs to no token still holds the guard.
  bool gaps_untouched() {
    std::vector<T> copy = memory;
    for_each([&](T& value) { copy[&value - memory.data()] = T(guard); });
    return std::all_of(copy.begin(), copy.end(), [](T value) { return value == T(guard); });
  }

  AttentionView<const T> reading() const {
    return {view.data, view.batch_stride, view.token_stride, view.head_stride, view.width_stride};
  }

  std::int64_t extents[4];
  AttentionView<T> view;
  std::vector<T> memory;
};

/// Workspace of exactly the promised size, full of NaN, followed by a guard.
class Workspace {
 public:
  explicit Workspace(std::int64_t bytes)
      : bytes_(bytes),
        memory_(
            static_cast<std::byte*>(std::aligned_alloc(64, static_cast<std::size_t>(bytes) + 64)),
            &std::free) {
    std::memset(memory_.get(), 0xff, static_cast<std::size_t>(bytes) + 64);
  }

  [[nodiscard]] std::byte* data() const { return memory_.get(); }

  [[nodiscard]] bool overrun() const {
    return std::any_of(data() + bytes_, data() + bytes_ + 64,
                       [](std::byte value) { return value != std::byte{0xff}; });
  }

 private:
  std::int64_t bytes_;
  std::unique_ptr<std::byte, decltype(&std::free)> memory_;
};

/// Operands, results and gradients of one attention.
template <typename T>
struct Problem {
  explicit Problem(const AttentionSizes& s, double factor = 1.0, std::int64_t width_stride = 1)
      : sizes(s),
        q(s.batch, s.queries, s.heads, s.key_width, width_stride),
        k(s.batch, s.keys, s.heads, s.key_width, width_stride),
        v(s.batch, s.keys, s.heads, s.value_width, width_stride),
        out(s.batch, s.queries, s.heads, s.value_width, width_stride),
        out_gradient(s.batch, s.queries, s.heads, s.value_width, width_stride),
        dq(s.batch, s.queries, s.heads, s.key_width, width_stride),
        dk(s.batch, s.keys, s.heads, s.key_width, width_stride),
        dv(s.batch, s.keys, s.heads, s.value_width, width_stride),
        lse(static_cast<std::size_t>(s.batch * s.queries * s.heads), T(guard)),
        lse_gradient(lse.size()) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    q.fill(random, factor);
    k.fill(random, factor);
    v.fill(random);
    out_gradient.fill(random);
    for (T& value : lse_gradient) value = static_cast<T>(normal(random));
  }

  void forward() {
    const Workspace workspace(attention_forward_workspace_bytes(sizes, sizeof(T)));
    attention_forward<T>(sizes, q.reading(), k.reading(), v.reading(), out.view, lse.data(),
                         workspace.data());
    EXPECT_FALSE(workspace.overrun());
  }

  void backward(bool with_lse_gradient = true) {
    const Workspace workspace(attention_backward_workspace_bytes(sizes, sizeof(T)));
    attention_backward<T>(sizes, q.reading(), k.reading(), v.reading(), out.reading(), lse.data(),
                          out_gradient.reading(), with_lse_gradient ? lse_gradient.data() : nullptr,
                          dq.view, dk.view, dv.view, workspace.data());
    EXPECT_FALSE(workspace.overrun());
  }

  bool gaps_untouched() {
    return out.gaps_untouched() && dq.gaps_untouched() && dk.gaps_untouched() &&
           dv.gaps_untouched();
  }

  AttentionSizes sizes;
  Operand<T> q, k, v, out, out_gradient, dq, dk, dv;
  std::vector<T> lse, lse_gradient;
};

}  // namespace shardlab::cpu
