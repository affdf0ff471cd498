#include "engine/backends/cpu/isa.h"

#include <hwy/highway.h>

#include "engine/core/check.h"

namespace shardlab::cpu {

std::string isa_level_name() {
  return hwy::TargetName(hwy::SupportedAndGeneratedTargets().front());
}

std::vector<std::string> isa_levels() {
  std::vector<std::string> names;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
    names.emplace_back(hwy::TargetName(target));
  return names;
}

void restrict_isa_for_test(const std::string& level) {
  hwy::SetSupportedTargetsForTest(0);
  if (level.empty()) return;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (level != hwy::TargetName(target)) continue;
    hwy::SetSupportedTargetsForTest(target);
    return;
  }
  std::string known;
  for (const std::string& name : isa_levels()) known += (known.empty() ? "" : ", ") + name;
  fail(Fault::invalid, "ISA level '{}' is not available here, only {}", level, known);
}

}  // namespace shardlab::cpu
