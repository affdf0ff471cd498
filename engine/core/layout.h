#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>

#include "engine/core/mesh.h"
#include "engine/core/shape.h"
#include "engine/core/split.h"

namespace shardlab {

/// How pending parts of a Partial value become one.
enum class Reduction : std::uint8_t { sum, max };

[[nodiscard]] const char* name_of(Reduction reduction) noexcept;

/// How one tensor dim lies on the mesh: the axes that cut it, first axis slowest, and one table of
/// offsets over their product; no split when whole.
struct DimLayout {
  AxisList axes;
  const Split* split = nullptr;
  friend bool operator==(const DimLayout&, const DimLayout&) = default;
};

/// What one mesh axis does to a tensor.
struct Placement {
  enum class Kind : std::uint8_t { replicate, shard, partial } kind = Kind::replicate;
  int dim = -1;
  Reduction reduction = Reduction::sum;
  friend bool operator==(const Placement&, const Placement&) = default;
};

/// Where the elements of a tensor are: every dim cut by an ordered list of axes or whole, every
/// other axis Replicate or Partial. Immutable; made and compared by address through LayoutTable.
class Layout {
 public:
  Layout(const Mesh& mesh, int ndim) : mesh_(&mesh), ndim_(ndim) {}

  [[nodiscard]] const Mesh& mesh() const { return *mesh_; }
  [[nodiscard]] int ndim() const { return ndim_; }
  [[nodiscard]] const DimLayout& dim(int d) const { return dims_[d]; }

  /// Axes that hold pending parts, and how these are reduced.
  [[nodiscard]] const AxisList& partial() const { return partial_; }
  [[nodiscard]] Reduction reduction() const { return reduction_; }

  [[nodiscard]] Placement placement(int axis) const;

  /// Whether every rank holds the whole value.
  [[nodiscard]] bool replicated() const { return partial_.empty() && !sharded(); }
  [[nodiscard]] bool sharded() const;

  /// The first element of a rank's part in a dim, and how many it holds.
  [[nodiscard]] std::int64_t start(int d, const Coordinates& at) const;
  [[nodiscard]] std::int64_t extent(int d, std::int64_t whole, const Coordinates& at) const;
  [[nodiscard]] Shape local_shape(const Shape& shape, const Coordinates& at) const;

  /// Whether two values can be added element by element where they lie.
  friend bool operator==(const Layout& a, const Layout& b);
  [[nodiscard]] std::uint64_t hash() const;

  /// Changes, used while a layout is put together.
  void set_dim(int d, DimLayout dim) { dims_[d] = dim; }
  void set_partial(AxisList axes, Reduction reduction) {
    partial_ = axes;
    reduction_ = axes.empty() ? Reduction::sum : reduction;
  }

 private:
  const Mesh* mesh_;
  int ndim_;
  Reduction reduction_ = Reduction::sum;
  AxisList partial_;
  std::array<DimLayout, max_ndim> dims_{};
};

/// An extent cut along axes, the first axis outermost, each cut as even as can be in units of
/// `multiple`.
[[nodiscard]] Split even_split(const Mesh& mesh, const AxisList& axes, std::int64_t total,
                               std::int64_t multiple = 1);

/// As printed: `[2, 10(domain: 4,3,3), 8] partial sum(data)`.
[[nodiscard]] std::string to_string(const Layout& layout, const Shape& shape);

/// Keeps one copy of every split and layout of a launch, so that equal ones have equal addresses.
class LayoutTable {
 public:
  explicit LayoutTable(Mesh mesh);

  [[nodiscard]] const Mesh& mesh() const { return mesh_; }
  [[nodiscard]] const Split* intern(Split split);

  /// The kept layout that equals `layout`; axes of one rank are dropped and dims in one part are
  /// whole.
  ///
  /// Errors   Error{internal} if an axis is used twice or a split has another number of parts.
  [[nodiscard]] const Layout* intern(Layout layout);

  /// The layout that is whole on every rank.
  [[nodiscard]] const Layout* replicated(int ndim) const { return replicated_[ndim]; }

 private:
  struct Hash {
    template <typename T>
    std::size_t operator()(const std::unique_ptr<T>& value) const {
      return value->hash();
    }
  };
  struct Equal {
    template <typename T>
    bool operator()(const std::unique_ptr<T>& a, const std::unique_ptr<T>& b) const {
      return *a == *b;
    }
  };
  Mesh mesh_;
  std::unordered_set<std::unique_ptr<const Split>, Hash, Equal> splits_;
  std::unordered_set<std::unique_ptr<const Layout>, Hash, Equal> layouts_;
  std::array<const Layout*, max_ndim + 1> replicated_{};
};

}  // namespace shardlab
