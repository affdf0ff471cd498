#include "engine/core/error.h"

namespace shardlab {

const char* name_of(Fault fault) noexcept {
  switch (fault) {
    case Fault::invalid:
      return "invalid";
    case Fault::unsupported:
      return "unsupported";
    case Fault::external:
      return "external";
    case Fault::internal:
      return "internal";
  }
  return "unknown";
}

Error::Error(Fault fault, const std::string& text, std::source_location where)
    : std::runtime_error(text), fault_(fault), where_(where) {}

std::string Error::where() const {
  return std::string(where_.file_name()) + ":" + std::to_string(where_.line());
}

}  // namespace shardlab
