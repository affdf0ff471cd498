#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace shardlab {

/// Who has to act on an error.
enum class Fault {
  invalid,      ///< The caller's arguments are wrong.
  unsupported,  ///< A correct request that this build, backend or execution does not offer.
  external,     ///< A device, file, network or peer failed.
  internal,     ///< A bug of shardlab.
};

/// The name of a fault as printed and stored.
[[nodiscard]] const char* name_of(Fault fault) noexcept;

/// The one exception of shardlab: a fault, a text for people and the place that found it.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& text,
        std::source_location where = std::source_location::current());

  [[nodiscard]] Fault fault() const noexcept { return fault_; }

  /// Where it was found, as `file:line`, and as the compiler has it.
  [[nodiscard]] std::string where() const;
  [[nodiscard]] const std::source_location& location() const noexcept { return where_; }

 private:
  Fault fault_;
  std::source_location where_;
};

}  // namespace shardlab
