#include "tools/environment.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/backends/cpu/isa.h"
#include "engine/launch/launch.h"
#include "tools/build_info.h"
#include "tools/json_text.h"

namespace shardlab {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string vendor;
  std::string model;
  for (std::string line; std::getline(info, line) && (vendor.empty() || model.empty());) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    if (line.starts_with("vendor_id")) vendor = line.substr(colon + 2);
    if (line.starts_with("model name")) model = line.substr(colon + 2);
  }
  if (model.empty()) return "unknown processor";
  return vendor + " " + model;
}

results::EnvironmentKey this_environment() {
  const BuildInfo build = build_info();
  results::EnvironmentKey key;
  key.processor = processor_name() + " x " + std::to_string(usable_cores());
  key.isa = cpu::isa_level_name();
  key.build_type =
      build.sanitizer == "none" ? build.build_type : build.build_type + " " + build.sanitizer;
  key.compiler = build.compiler;
  for (const LibraryVersion& library : build.libraries)
    key.libraries[library.name] = library.version;
  key.topology = std::to_string(usable_cores()) + " cores";
  return key;
}

std::string this_variables() {
  nlohmann::json variables = nlohmann::json::object();
  for (const char* name : {"OMP_NUM_THREADS", "OMP_WAIT_POLICY", "DNNL_MAX_CPU_ISA",
                           "ONEDNN_MAX_CPU_ISA", "MALLOC_ARENA_MAX"})
    if (const char* value = std::getenv(name); value != nullptr) variables[name] = value;
  return json_text(variables, -1);
}

}  // namespace shardlab
