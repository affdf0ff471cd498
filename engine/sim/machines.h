#pragma once

#include <span>
#include <string_view>

#include "engine/sim/machine_toml.h"

namespace shardlab::sim {

/// A machine file that is part of the program.
struct BuiltInMachine {
  const char* name;
  const char* text;
};

/// All of them by name; generated from engine/sim/machines/*.toml.
[[nodiscard]] std::span<const BuiltInMachine> built_in_machines();

/// A built-in machine by its name, or the machine of a file: anything with a slash or that ends in
/// `.toml`. What a file extends is looked up alike, paths from where it lies.
///
/// Errors   Error{invalid} naming the nearest built-in machine, Error{external} for a file that
///          cannot be read, and those of read_machine.
[[nodiscard]] Machine find_machine(std::string_view name_or_path);

}  // namespace shardlab::sim
