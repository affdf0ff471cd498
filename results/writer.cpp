#include "results/writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace shardlab::results {
namespace {

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string boot_id() {
  std::string id = text_of_file("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

// Start in clock ticks since boot, which tells a process from a later one of the same number.
// Empty if there is no such process or it is dead but not yet collected by its parent.
std::string start_of(const std::string& pid) {
  const std::string stat = text_of_file("/proc/" + pid + "/stat");
  const auto name_end = stat.rfind(')');  // the name before it may hold spaces and parentheses
  if (name_end == std::string::npos) return "";
  std::istringstream fields(stat.substr(name_end + 1));
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X") return "";
  constexpr int fields_from_state_to_start = 19;
  for (int i = 0; i < fields_from_state_to_start; ++i) fields >> field;
  return field;
}

}  // namespace

std::string this_writer() {
  const std::string pid = std::to_string(getpid());
  return fmt::format("{} {} {}", boot_id(), pid, start_of(pid));
}

bool is_running(std::string_view writer) {
  std::istringstream words{std::string(writer)};
  std::string boot, pid, start;
  words >> boot >> pid >> start;
  return !start.empty() && pid.find_first_not_of("0123456789") == std::string::npos &&
         boot == boot_id() && start == start_of(pid);
}

}  // namespace shardlab::results
