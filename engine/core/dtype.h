#pragma once

#include <cstdint>
#include <string_view>

namespace shardlab {

/// How one element is stored.
enum class Dtype : std::uint8_t { float64, float32, bfloat16, float16, int64 };

/// How matrix products of float32 are computed; only some devices offer tf32.
enum class MathMode : std::uint8_t { exact, tf32 };

/// What a person asks for with `--dtype`: storage and compute mode.
struct Precision {
  Dtype dtype = Dtype::float32;
  MathMode math = MathMode::exact;
};

/// Bytes of one element.
[[nodiscard]] constexpr std::int64_t width_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::float64:
    case Dtype::int64:
      return 8;
    case Dtype::float32:
      return 4;
    default:
      return 2;
  }
}

[[nodiscard]] const char* name_of(Dtype dtype) noexcept;

/// The name as typed: a dtype, or `tf32` for float32 storage with tf32 products.
[[nodiscard]] const char* name_of(Precision precision) noexcept;

/// Reads `float64`, `float32`, `tf32`, `bfloat16`, `float16`.
///
/// Errors   Error{invalid} naming the known ones.
[[nodiscard]] Precision parse_precision(std::string_view text);

}  // namespace shardlab
