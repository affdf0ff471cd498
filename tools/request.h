#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/mesh.h"
#include "engine/core/scenario.h"
#include "tools/scaling.h"

namespace shardlab {

/// Exit codes of `shardlab`.
enum class Exit : int {
  fine = 0,
  failed = 1,          ///< Failed check, confirmed regression.
  usage = 2,           ///< Usage or invalid input.
  not_comparable = 3,  ///< Skipped, or not enough data.
  broken = 4,          ///< Storage, device or peer failure.
};

/// The graver of two results: 4, 2, 1, 3, 0.
[[nodiscard]] Exit graver(Exit a, Exit b);

/// What an error means for the exit code.
[[nodiscard]] Exit exit_of(Fault fault);

/// What was typed behind a verb.
struct Request {
  std::vector<std::string> names;             ///< Scenarios, a run, or a machine.
  std::map<std::string, std::string> values;  ///< Scenario parameters, commas sweep.
  std::string preset = "small";
  std::string execution = "cpu";
  std::vector<Mesh> meshes;
  std::vector<std::string> dtypes{"float32"};
  Scaling scaling = Scaling::strong;
  std::string database = "shardlab.sqlite";
  std::string perfetto;  ///< Show: the file that a run's timeline is written to.
  std::string command_line;
  bool train = false;
  bool check = false;
  bool json = false;
  bool timeline = true;
  bool full = false;
  int warmup = 1;
  int iterations = 0;
  double precision = 0;
  double budget_seconds = 10;
  bool interleave = false;
  std::int64_t seed = 1;
};

/// One combination of a sweep.
struct Case {
  const Scenario* scenario = nullptr;
  Mesh mesh;
  Params params;  ///< Of the problem that runs.
  Params stored;  ///< Of its series: the same, or in weak scaling the sizes of one rank.

  /// What runs, for people: scenario, mesh, dtype, mode, and what weak scaling made of the sizes.
  [[nodiscard]] std::string title() const;
};

/// All combinations: scenarios, their parameters, then meshes.
///
/// Errors   Error{invalid} naming a parameter that the scenario has not, and the nearest it has; as
///          `grown`.
[[nodiscard]] std::vector<Case> sweep(const Scenarios& scenarios, const Request& request);

/// The verbs.
Exit run_verb(const Scenarios& scenarios, const Request& request);
Exit list_verb(const Scenarios& scenarios, const Request& request);
Exit show_verb(const Request& request);
Exit layout_verb(const Scenarios& scenarios, const Request& request);
Exit doctor_verb(const Request& request);

}  // namespace shardlab
