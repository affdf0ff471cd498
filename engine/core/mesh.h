#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace shardlab {

/// Most axes of a mesh.
inline constexpr int max_axes = 6;

/// An ordered set of mesh axes, by number.
class AxisList {
 public:
  AxisList() = default;
  AxisList(std::initializer_list<int> axes);

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] int operator[](int i) const { return axes_[i]; }
  [[nodiscard]] const std::uint8_t* begin() const { return axes_.data(); }
  [[nodiscard]] const std::uint8_t* end() const { return axes_.data() + size_; }
  [[nodiscard]] bool contains(int axis) const { return (mask() >> axis & 1U) != 0; }

  /// One bit an axis; equal masks are equal sets whatever the order.
  [[nodiscard]] std::uint32_t mask() const;

  void push_back(int axis);
  friend bool operator==(const AxisList&, const AxisList&) = default;

 private:
  std::array<std::uint8_t, max_axes> axes_{};
  std::uint8_t size_ = 0;
};

/// A rank's place on a mesh, one number an axis.
using Coordinates = std::array<std::int32_t, max_axes>;

/// Named axes of ranks; the last axis varies fastest with the rank number.
class Mesh {
 public:
  struct Axis {
    std::string name;
    int extent = 1;
    friend bool operator==(const Axis&, const Axis&) = default;
  };

  /// Errors   Error{invalid} for no ranks, a name given twice, or more than `max_axes` axes.
  explicit Mesh(std::vector<Axis> axes);

  /// Reads `data=2,domain=4`.
  ///
  /// Errors   Error{invalid} saying what was expected.
  [[nodiscard]] static Mesh parse(std::string_view text);

  [[nodiscard]] int ndim() const { return static_cast<int>(axes_.size()); }
  [[nodiscard]] const Axis& axis(int number) const { return axes_[number]; }
  [[nodiscard]] int extent(int number) const { return axes_[number].extent; }

  /// The number of the axis of this name, or -1.
  [[nodiscard]] int find(std::string_view name) const;

  /// Ranks in all.
  [[nodiscard]] int size() const { return size_; }

  /// Ranks along these axes.
  [[nodiscard]] int size(const AxisList& axes) const;

  [[nodiscard]] Coordinates coordinates(int rank) const;
  [[nodiscard]] int rank(const Coordinates& at) const;

  /// Position within the group along `axes`, the first axis slowest.
  [[nodiscard]] int position(const AxisList& axes, const Coordinates& at) const;

  /// Coordinates of the member at `position` of the group of `at` along `axes`.
  [[nodiscard]] Coordinates member(const AxisList& axes, const Coordinates& at, int position) const;

  /// As typed: `data=2,domain=4`.
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Mesh&, const Mesh&) = default;

 private:
  std::vector<Axis> axes_;
  int size_ = 1;
};

/// Names of axes as printed: `data+domain`.
[[nodiscard]] std::string names_of(const Mesh& mesh, const AxisList& axes);

}  // namespace shardlab
