#pragma once

#include <string>
#include <vector>

#include "engine/sim/machine.h"
#include "engine/sim/unit.h"

namespace shardlab {

/// A number in the largest unit of which there is one: `3.35 TB/s`, `79.6 GiB`, `1.5 us`.
[[nodiscard]] std::string show_quantity(sim::Dimension dimension, double value);

/// The ends of a relative interval in the unit of the upper one: `2.85 .. 3.85 TB/s`.
[[nodiscard]] std::string show_quantity_range(sim::Dimension dimension, double value,
                                              double half_width);

/// Everything that a machine file says, each number with interval, source and origin.
[[nodiscard]] std::string machine_text(const sim::Machine& machine);

/// The same for programs, in SI units.
[[nodiscard]] std::string machine_json(const sim::Machine& machine);

/// One line a built-in machine.
[[nodiscard]] std::string machines_text();
[[nodiscard]] std::string machines_json();

/// The software profiles with what each costs.
[[nodiscard]] std::string profiles_text();
[[nodiscard]] std::string profiles_json();

/// Prints machines by name or path.
///
/// Errors   As sim::find_machine.
void show_machines(const std::vector<std::string>& names, bool json);

}  // namespace shardlab
