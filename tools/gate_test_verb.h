#pragma once

#include <cstdint>
#include <string>

#include "tools/request.h"

namespace shardlab {

/// What was typed behind `gate-test`.
struct GateTestOptions {
  std::string scenario = "vit";
  std::string database = "shardlab.sqlite";
  std::string command_line;
  std::int64_t pairs = 20;
  std::int64_t reports = 10'000;
  int steps = 20;        ///< Of a block, in turns with those of the other one of its pair.
  double seconds = 120;  ///< Of recording.
  std::uint64_t seed = 1;
  bool json = false;
};

/// Holds this machine against itself: how often the gate is wrong, and what it finds.
Exit gate_test_verb(const Scenarios& scenarios, const GateTestOptions& options);

}  // namespace shardlab
