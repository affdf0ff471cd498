#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace shardlab {

/// What a machine is doing at a moment, as far as its Linux tells; sums are since its start.
struct MachineState {
  double seconds = 0;          ///< Of a clock that never goes back.
  double own_seconds = 0;      ///< Of all threads of this process on cores.
  int cores = 0;               ///< Of the machine, whether this process may use them or not.
  std::optional<double> load;  ///< Average over a minute.
  std::optional<double> busy_seconds;   ///< Of all cores and programs.
  std::optional<double> steal_seconds;  ///< Taken by the hypervisor.
  std::optional<double> quota_seconds;  ///< That a quota of the container held its programs up.
  std::optional<double> lowest_mhz;
  std::optional<double> highest_mhz;
  std::optional<std::int64_t> throttled;  ///< Times that heat slowed a core down.
};

/// Reads /proc and /sys below a root.
[[nodiscard]] MachineState machine_state(const std::filesystem::path& root = "/");

/// Why times that ranks took between two states are doubtful; empty: nothing was seen.
[[nodiscard]] std::vector<std::string> doubts_of(const MachineState& before,
                                                 const MachineState& after, int ranks);

/// Both states and what lies between as a JSON object: the state of a run.
[[nodiscard]] std::string state_json(const MachineState& before, const MachineState& after,
                                     int ranks);

}  // namespace shardlab
