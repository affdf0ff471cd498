#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "engine/sim/machine.h"

namespace shardlab::sim {

/// The text of a machine file.
struct MachineText {
  std::string name;  ///< Of the machine, unless the text gives another.
  std::string file;  ///< As errors print it; different files have different ones.
  std::string text;
};

/// Finds what `extends = NAME` means in the file `by`.
using FindMachine = std::function<MachineText(std::string_view name, const MachineText& by)>;

/// Reads a machine file: what it extends first, then its own numbers, words and curves.
///
/// Errors   Error{invalid} with file and line: TOML that does not parse, a word that no machine has
///          (naming the nearest), a number without unit or source or in a unit of another
///          dimension, sizes that do not rise, files that extend each other, a machine that is not
///          complete.
/// Example  extends = "dgx-h100"
///          gpu.memory = { value = 94, unit = "GB", source = "vendor", from = "data sheet" }
[[nodiscard]] Machine read_machine(const MachineText& source, const FindMachine& find = {});

/// The whole machine as a file that extends nothing and reads back equal.
[[nodiscard]] std::string to_toml(const Machine& machine);

}  // namespace shardlab::sim
