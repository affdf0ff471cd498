#include "engine/core/dtype.h"

#include "engine/core/check.h"

namespace shardlab {

const char* name_of(Dtype dtype) noexcept {
  switch (dtype) {
    case Dtype::float64:
      return "float64";
    case Dtype::float32:
      return "float32";
    case Dtype::bfloat16:
      return "bfloat16";
    case Dtype::float16:
      return "float16";
    case Dtype::int64:
      return "int64";
  }
  return "unknown";
}

const char* name_of(Precision precision) noexcept {
  return precision.math == MathMode::tf32 ? "tf32" : name_of(precision.dtype);
}

Precision parse_precision(std::string_view text) {
  if (text == "tf32") return {Dtype::float32, MathMode::tf32};
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::bfloat16, Dtype::float16})
    if (text == name_of(dtype)) return {dtype, MathMode::exact};
  fail(Fault::invalid, "unknown dtype '{}': known are float64, float32, tf32, bfloat16, float16",
       text);
}

}  // namespace shardlab
