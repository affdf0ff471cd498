#pragma once

#include <cstddef>
#include <iterator>

namespace shardlab {

/// An iterator over characters that counts their lines as they are read, for parsers that do not.
struct CountedCharacter {
  // NOLINTBEGIN(readability-identifier-naming): names that the standard library looks for.
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  // NOLINTEND(readability-identifier-naming)

  const char* at = nullptr;
  int* line = nullptr;

  reference operator*() const { return *at; }
  CountedCharacter& operator++() {
    if (*at++ == '\n') ++*line;
    return *this;
  }
  CountedCharacter operator++(int) {
    CountedCharacter before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountedCharacter& other) const { return at == other.at; }
};

}  // namespace shardlab
