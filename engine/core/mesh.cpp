#include "engine/core/mesh.h"

#include <charconv>

#include "engine/core/check.h"

namespace shardlab {

AxisList::AxisList(std::initializer_list<int> axes) {
  for (const int axis : axes) push_back(axis);
}

std::uint32_t AxisList::mask() const {
  std::uint32_t bits = 0;
  for (const int axis : *this) bits |= 1U << axis;
  return bits;
}

void AxisList::push_back(int axis) {
  expect(axis >= 0 && axis < max_axes && !contains(axis), "axis {} given twice or out of range",
         axis);
  axes_[size_++] = static_cast<std::uint8_t>(axis);
}

Mesh::Mesh(std::vector<Axis> axes) : axes_(std::move(axes)) {
  check(!axes_.empty() && ndim() <= max_axes, "a mesh has 1 to {} axes, got {}", max_axes, ndim());
  std::int64_t size = 1;
  for (int a = 0; a < ndim(); ++a) {
    const Axis& axis = axes_[a];
    check(!axis.name.empty(), "mesh axis {} has no name", a);
    check(axis.extent >= 1, "mesh axis {} has {} ranks; at least 1 is needed", axis.name,
          axis.extent);
    check(find(axis.name) == a, "mesh axis {} is given twice", axis.name);
    size *= axis.extent;
    check(size <= 1 << 20, "a mesh of more than {} ranks", 1 << 20);
  }
  size_ = static_cast<int>(size);
}

Mesh Mesh::parse(std::string_view text) {
  std::vector<Axis> axes;
  std::string_view rest = text;
  while (true) {
    const std::string_view part = rest.substr(0, rest.find(','));
    const std::size_t equals = part.find('=');
    int extent = 0;
    const char* end = part.data() + part.size();
    const bool read = equals != std::string_view::npos && equals > 0 &&
                      std::from_chars(part.data() + equals + 1, end, extent).ptr == end &&
                      equals + 1 < part.size();
    check(read, "mesh '{}': expected NAME=RANKS[,NAME=RANKS], found '{}'", text, part);
    axes.push_back({std::string(part.substr(0, equals)), extent});
    if (part.size() == rest.size()) break;
    rest.remove_prefix(part.size() + 1);
  }
  return Mesh(std::move(axes));
}

int Mesh::find(std::string_view name) const {
  for (int a = 0; a < ndim(); ++a)
    if (axes_[a].name == name) return a;
  return -1;
}

int Mesh::size(const AxisList& axes) const {
  int n = 1;
  for (const int axis : axes) n *= extent(axis);
  return n;
}

Coordinates Mesh::coordinates(int rank) const {
  Coordinates at{};
  for (int a = ndim() - 1; a >= 0; --a) {
    at[a] = rank % extent(a);
    rank /= extent(a);
  }
  return at;
}

int Mesh::rank(const Coordinates& at) const {
  int rank = 0;
  for (int a = 0; a < ndim(); ++a) rank = rank * extent(a) + at[a];
  return rank;
}

int Mesh::position(const AxisList& axes, const Coordinates& at) const {
  int position = 0;
  for (const int axis : axes) position = position * extent(axis) + at[axis];
  return position;
}

Coordinates Mesh::member(const AxisList& axes, const Coordinates& at, int position) const {
  Coordinates member = at;
  for (int i = axes.size() - 1; i >= 0; --i) {
    member[axes[i]] = position % extent(axes[i]);
    position /= extent(axes[i]);
  }
  return member;
}

std::string Mesh::text() const {
  std::string text;
  for (const Axis& axis : axes_)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", axis.name, axis.extent);
  return text;
}

std::string names_of(const Mesh& mesh, const AxisList& axes) {
  std::string text;
  for (const int axis : axes)
    text += fmt::format("{}{}", text.empty() ? "" : "+", mesh.axis(axis).name);
  return text;
}

}  // namespace shardlab
