#include "engine/sim/machines.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "engine/core/check.h"
#include "engine/core/scenario.h"

namespace shardlab::sim {
namespace {

namespace fs = std::filesystem;

/// Machine files are small; this refuses a device or a disk image before it is read.
constexpr std::uintmax_t most_bytes = 16 << 20;

MachineText read_file(const fs::path& path) {
  std::error_code fault;
  const bool folder = fs::is_directory(path, fault);
  check(!folder, "{}: a folder, not a machine file", path.string());
  if (!fs::is_regular_file(path, fault))
    fail(Fault::external, "{}: no machine file there", path.string());
  const std::uintmax_t size = fs::file_size(path, fault);
  check(!fault && size <= most_bytes, "{}: {} bytes; not a machine file", path.string(), size);
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream || (size > 0 && !text)) fail(Fault::external, "{}: cannot be read", path.string());
  return {path.stem().string(), fs::weakly_canonical(path, fault).string(), text.str()};
}

bool is_path(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".toml");
}

MachineText built_in(std::string_view name) {
  const std::span<const BuiltInMachine> all = built_in_machines();
  const auto found =
      std::find_if(all.begin(), all.end(), [name](const auto& each) { return each.name == name; });
  if (found != all.end())
    return {found->name, fmt::format("built-in {}.toml", found->name), found->text};
  std::vector<std::string> known;
  for (const BuiltInMachine& each : all) known.emplace_back(each.name);
  fail(Fault::invalid,
       "unknown machine '{}': did you mean '{}'? Known are {}, and files as in ./my.toml", name,
       nearest(name, known), fmt::join(known, ", "));
}

MachineText find(std::string_view name, const fs::path& folder) {
  return is_path(name) ? read_file(folder / name) : built_in(name);
}

}  // namespace

Machine find_machine(std::string_view name_or_path) {
  return read_machine(find(name_or_path, ""), [](std::string_view name, const MachineText& by) {
    return find(name, fs::path(by.file).parent_path());
  });
}

}  // namespace shardlab::sim
