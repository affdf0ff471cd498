#pragma once

#include <string>

#include "engine/core/error.h"
#include "engine/sim/machine_toml.h"

namespace shardlab::sim {

/// A machine that is complete with the fewest entries: a processor without network.
inline std::string small_machine() {
  return R"(gpu.name = "one core"
gpu.arch = "cpu"
host.cpu = "intel"
gpu.memory = { value = 8, unit = "GiB", source = "vendor" }
gpu.memory_bandwidth = { value = 10, unit = "GB/s", source = "vendor" }
gpu.peak.float64 = { value = 50, unit = "GFLOP/s", source = "vendor" }
gpu.peak.float32 = { value = 100, unit = "GFLOP/s", source = "vendor" }
gpu.peak.bfloat16 = { value = 200, unit = "GFLOP/s", source = "vendor" }
gpu.peak.float16 = { value = 200, unit = "GFLOP/s", source = "vendor" }
gpu.launch = { value = 2, unit = "us", source = "derived" }
host.gpus = { value = 1, source = "vendor" }
host.launch = { value = 0, unit = "us", source = "derived" }
nvlink.domain = { value = 1, source = "vendor" }
nic.count = { value = 0, source = "vendor" }
)";
}

/// Finds the small machine under any name but those that tests use for files of their own.
inline MachineText find_small(std::string_view name, const MachineText&) {
  return {std::string(name), std::string(name) + ".toml", small_machine()};
}

/// A machine of these lines on top of the small one, which they may extend as "small".
inline Machine machine_of(const std::string& lines) {
  return read_machine({"my", "my.toml", lines}, find_small);
}

/// What is wrong with a file, or nothing.
inline std::string error_of(const std::string& text) {
  try {
    (void)machine_of(text);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace shardlab::sim
