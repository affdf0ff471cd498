#include "tools/machine_state.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/core/check.h"
#include "engine/core/trace.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

constexpr double most_steal = 0.01;
constexpr double most_slower = 0.9;
/// Of a core; a shell and a clock tick use less.
constexpr double most_others = 0.1;

template <typename Number>
std::optional<Number> number_in(const fs::path& path) {
  std::ifstream file(path);
  Number number{};
  return file >> number ? std::optional(number) : std::nullopt;
}

double own_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// The first line sums all cores: user, nice, system, idle, iowait, irq, softirq, steal in ticks.
void read_times(const fs::path& path, MachineState& state) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    if (!line.starts_with("cpu ")) {
      ++state.cores;
      continue;
    }
    std::istringstream words(line.substr(3));
    std::vector<double> ticks;
    for (double each = 0; words >> each;) ticks.push_back(each);
    if (ticks.size() < 8) continue;
    const auto tick = static_cast<double>(sysconf(_SC_CLK_TCK));
    state.busy_seconds = (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) / tick;
    state.steal_seconds = ticks[7] / tick;
  }
}

void note_mhz(MachineState& state, double mhz) {
  state.lowest_mhz = std::min(state.lowest_mhz.value_or(mhz), mhz);
  state.highest_mhz = std::max(state.highest_mhz.value_or(mhz), mhz);
}

void read_cores(const fs::path& root, MachineState& state) {
  for (int core = 0; core < state.cores; ++core) {
    const fs::path folder = root / fmt::format("sys/devices/system/cpu/cpu{}", core);
    if (const auto khz = number_in<double>(folder / "cpufreq/scaling_cur_freq"))
      note_mhz(state, *khz / 1000);
    if (const auto times = number_in<std::int64_t>(folder / "thermal_throttle/core_throttle_count"))
      state.throttled = state.throttled.value_or(0) + *times;
  }
  if (state.lowest_mhz) return;
  std::ifstream info(root / "proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("cpu MHz"))
      if (double mhz = 0; std::istringstream(line.substr(line.find(':') + 1)) >> mhz)
        note_mhz(state, mhz);
}

void read_quota(const fs::path& path, MachineState& state) {
  std::ifstream file(path);
  std::string name;
  for (double value = 0; file >> name >> value;)
    if (name == "throttled_usec") state.quota_seconds = value * 1e-6;
}

/// What lies between two sums; none where one is missing.
template <typename Number>
std::optional<Number> between(const std::optional<Number>& before,
                              const std::optional<Number>& after) {
  return before && after ? std::optional(*after - *before) : std::nullopt;
}

/// Cores that other programs kept busy.
std::optional<double> others(const MachineState& before, const MachineState& after) {
  const auto busy = between(before.busy_seconds, after.busy_seconds);
  const double wall = after.seconds - before.seconds;
  // Sums are of ticks of 10 ms.
  if (!busy || wall < 0.1) return std::nullopt;
  return std::max(0.0, (*busy - (after.own_seconds - before.own_seconds)) / wall);
}

std::optional<double> stolen(const MachineState& before, const MachineState& after) {
  const auto steal = between(before.steal_seconds, after.steal_seconds);
  const double wall = after.seconds - before.seconds;
  if (!steal || wall < 0.1 || after.cores == 0) return std::nullopt;
  return *steal / wall / after.cores;
}

template <typename Number>
void put(nlohmann::json& json, const char* name, const std::optional<Number>& value) {
  if (value) json[name] = *value;
}

nlohmann::json json_of(const MachineState& state) {
  nlohmann::json json = nlohmann::json::object();
  put(json, "load", state.load);
  put(json, "lowest_mhz", state.lowest_mhz);
  put(json, "highest_mhz", state.highest_mhz);
  put(json, "throttled", state.throttled);
  return json;
}

}  // namespace

MachineState machine_state(const fs::path& root) {
  MachineState state;
  state.seconds = Trace::now_seconds();
  state.own_seconds = own_seconds();
  state.load = number_in<double>(root / "proc/loadavg");
  read_times(root / "proc/stat", state);
  read_cores(root, state);
  read_quota(root / "sys/fs/cgroup/cpu.stat", state);
  return state;
}

std::vector<std::string> doubts_of(const MachineState& before, const MachineState& after,
                                   int ranks) {
  std::vector<std::string> doubts;
  const auto busy = others(before, after);
  if (busy && *busy > most_others && *busy + ranks > after.cores)
    doubts.push_back(fmt::format("other programs kept {:.1f} of {} cores busy beside {} ranks",
                                 *busy, after.cores, ranks));
  if (const auto share = stolen(before, after); share && *share > most_steal)
    doubts.push_back(fmt::format("the hypervisor took {:.1f} % of the cores' time", 100 * *share));
  if (const auto times = between(before.throttled, after.throttled); times && *times > 0)
    doubts.push_back(fmt::format("heat slowed cores down {} times", *times));
  if (const auto held = between(before.quota_seconds, after.quota_seconds); held && *held > 0)
    doubts.push_back(fmt::format("a quota of the container held ranks up for {:.2f} s", *held));
  if (before.lowest_mhz && after.lowest_mhz && *after.lowest_mhz < most_slower * *before.lowest_mhz)
    doubts.push_back(fmt::format("the slowest core ran at {:.0f} MHz before and at {:.0f} after",
                                 *before.lowest_mhz, *after.lowest_mhz));
  return doubts;
}

std::string state_json(const MachineState& before, const MachineState& after, int ranks) {
  nlohmann::json json{{"before", json_of(before)}, {"after", json_of(after)}};
  json["seconds"] = after.seconds - before.seconds;
  put(json, "cores_busy_with_others", others(before, after));
  put(json, "stolen", stolen(before, after));
  put(json, "quota_seconds", between(before.quota_seconds, after.quota_seconds));
  json["doubts"] = doubts_of(before, after, ranks);
  return json.dump();
}

}  // namespace shardlab
