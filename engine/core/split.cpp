#include "engine/core/split.h"

#include "engine/core/check.h"

namespace shardlab {

Split::Split(std::vector<std::int64_t> offsets) : offsets_(std::move(offsets)), hash_(hash_start) {
  check(offsets_.size() >= 2 && offsets_.front() == 0, "a split starts at 0 and has a part");
  for (std::size_t i = 0; i + 1 < offsets_.size(); ++i)
    check(offsets_[i] <= offsets_[i + 1], "split offsets fall from {} to {}", offsets_[i],
          offsets_[i + 1]);
  for (int i = 0; i < parts(); ++i) {
    uniform_ = uniform_ && size(i) == size(0);
    hash_ = hash_join(hash_, static_cast<std::uint64_t>(offsets_[i + 1]));
  }
}

Split Split::of_sizes(std::span<const std::int64_t> sizes) {
  std::vector<std::int64_t> offsets{0};
  for (const std::int64_t size : sizes) offsets.push_back(offsets.back() + size);
  return Split(std::move(offsets));
}

Split Split::even(std::int64_t total, int parts, std::int64_t multiple) {
  check(parts >= 1, "a split into {} parts", parts);
  check(multiple >= 1 && total % multiple == 0, "extent {} is no multiple of {}", total, multiple);
  const std::int64_t units = total / multiple;
  std::vector<std::int64_t> sizes(parts);
  for (int i = 0; i < parts; ++i) sizes[i] = (units / parts + (i < units % parts)) * multiple;
  return of_sizes(sizes);
}

Split Split::nested(std::int64_t total, std::span<const int> groups, std::int64_t multiple) {
  std::vector<std::int64_t> sizes{total};
  for (const int parts : groups) {
    std::vector<std::int64_t> finer;
    for (const std::int64_t size : sizes)
      for (const std::int64_t part : even(size, parts, multiple).sizes()) finer.push_back(part);
    sizes = std::move(finer);
  }
  return of_sizes(sizes);
}

std::vector<std::int64_t> Split::sizes() const {
  std::vector<std::int64_t> sizes(parts());
  for (int i = 0; i < parts(); ++i) sizes[i] = size(i);
  return sizes;
}

Split Split::coarsened(int group) const {
  expect(group >= 1 && parts() % group == 0, "{} parts in groups of {}", parts(), group);
  std::vector<std::int64_t> offsets;
  for (int i = 0; i <= parts(); i += group) offsets.push_back(offsets_[i]);
  return Split(std::move(offsets));
}

std::string to_string(const Split& split) {
  if (split.uniform() && split.parts() > 1)
    return fmt::format("{}x{}", split.parts(), split.size(0));
  if (split.parts() <= 16) return fmt::format("{}", fmt::join(split.sizes(), ","));
  std::string text;
  for (int part = 0; part < split.parts();) {
    int end = part + 1;
    while (end < split.parts() && split.size(end) == split.size(part)) ++end;
    if (part > 0) text += ',';
    if (end - part > 1) text += fmt::format("{}x", end - part);
    text += fmt::format("{}", split.size(part));
    part = end;
  }
  return text;
}

}  // namespace shardlab
