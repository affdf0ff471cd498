#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/core/shape.h"

namespace shardlab::golden {

/// Values of one array in C order; whole numbers and masks are held exactly as float64.
struct Array {
  enum class Kind : std::uint8_t { float64, int64, mask } kind = Kind::float64;
  Shape shape;
  std::vector<double> values;
};

using Arrays = std::map<std::string, Array>;

/// One case of an op: what goes in, what comes out, and the cotangents and gradients of that.
struct Case {
  std::string id;
  std::string op;
  nlohmann::json attributes;
  Arrays inputs;
  Arrays parameters;
  Arrays outputs;
  Arrays cotangents;
  Arrays gradients;
  std::string loss;            ///< The output that is the loss itself; models only.
  double forward_error32 = 0;  ///< Reached by another library in float32.
  double gradient_error32 = 0;
  bool may_refuse = false;

  /// An input or parameter.
  ///
  /// Errors   Error{invalid} naming the case if there is none.
  [[nodiscard]] const Array& operand(const std::string& name) const;
  [[nodiscard]] bool has_operand(const std::string& name) const;
};

/// All arrays of a .safetensors file of F64, I64 and U8 (masks).
///
/// Errors   Error{external} if it cannot be read; Error{invalid} naming file, array and what is
///          wrong with it.
[[nodiscard]] Arrays read_safetensors(const std::filesystem::path& path);

/// The cases of `OP.json` in a folder, with their arrays from `OP.safetensors`; every array must
/// belong to one.
///
/// Errors   As above, naming file and case.
[[nodiscard]] std::vector<Case> read_cases(const std::filesystem::path& folder,
                                           const std::string& op);

/// max|a-b| / max|b| over what is finite in b, or max|a-b| where that is all 0; infinity if a and b
/// differ where b is not finite.
[[nodiscard]] double relative_error(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace shardlab::golden
