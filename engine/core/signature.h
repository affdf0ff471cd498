#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/layout.h"

namespace shardlab {

inline constexpr int max_inputs = 8;
inline constexpr int max_outputs = 4;
inline constexpr int max_letters = 24;

/// How a dim of an operand or output carries a letter: offsets x of the letter become
/// (clamp(x, begin, end) - begin) * numerator / denominator.
struct DimUse {
  int letter = -1;  ///< -1: not carried, such as a broadcast extent of 1.
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;
  std::int64_t begin = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();

  /// The split of this dim when the letter has `split`; empty if a boundary falls between elements.
  [[nodiscard]] std::vector<std::int64_t> offsets(const Split& split) const;
};

using OperandUse = std::array<DimUse, max_ndim>;

/// Which Partial inputs an op passes on instead of reducing them first.
enum class PartialPass : std::uint8_t { none, sum, any };

/// All one-axis sharding rules of a call: shard one letter in every operand that carries it, and an
/// output that does not carry it is Partial; or replicate everything; or pass Partial on.
struct Placing {
  struct Letter {
    std::int64_t extent = 0;
    bool whole = false;  ///< Must be whole on a rank.
  };
  int letters = 0;
  std::array<Letter, max_letters> letter{};
  std::array<OperandUse, max_inputs> input{};
  std::array<OperandUse, max_outputs> output{};
  PartialPass pass = PartialPass::none;
  Reduction reduction = Reduction::sum;

  /// A new letter of this extent.
  int add(std::int64_t extent, bool whole = false);
};

/// Sizes, output shapes, sharding rules and documentation of an op in one string.
///
/// A word names a dim; equal words have equal extents; `!` says that it must be whole on a rank;
/// `...` stands for any leading dims, broadcast against each other. A word on inputs only is
/// contracted: sharding it makes the output Partial.
///
/// Example  "m k, k n -> m n" · "... i, o i -> ... o" · "r d!, d!, d! -> r d!"
class Signature {
 public:
  explicit Signature(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] int inputs() const { return static_cast<int>(inputs_.size()); }
  [[nodiscard]] int outputs() const { return static_cast<int>(outputs_.size()); }

  /// Extents of all letters of a call: the named ones, then the leading dims.
  struct Extents {
    std::array<std::int64_t, max_letters> extent;
    int letters = 0;
    /// The multiply-adds of a contraction.
    [[nodiscard]] std::int64_t product() const;
  };

  /// Checks input shapes.
  ///
  /// Errors   Error{invalid} naming op, dim and both extents.
  [[nodiscard]] Extents check_shapes(const char* op, std::span<const Shape* const> shapes) const;

  /// The shape of an output of a checked call.
  [[nodiscard]] Shape output_shape(const Extents& extents, int output) const;

  /// Says which dim of a call carries what.
  [[nodiscard]] Placing bind(const char* op, std::span<const Shape* const> shapes) const;

 private:
  struct Word {
    int letter = -1;
    bool whole = false;
  };
  struct Operand {
    bool leading = false;
    std::vector<Word> words;
  };
  Operand parse_operand(std::string_view text);

  std::string text_;
  std::vector<std::string> names_;
  std::vector<Operand> inputs_;
  std::vector<Operand> outputs_;
};

}  // namespace shardlab
