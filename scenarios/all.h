#pragma once

namespace shardlab {

class Scenarios;

/// Adds the scenario of every file in this folder; CMake writes the source from the folder.
void add_all_scenarios(Scenarios& scenarios);

}  // namespace shardlab
