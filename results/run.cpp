#include "results/run.h"

#include <array>

#include "results/names.h"

namespace shardlab::results {
namespace {

constexpr std::array status_names = {"running", "complete", "failed", "skipped", "interrupted"};

}  // namespace

const char* name_of(RunStatus status) { return status_names.at(static_cast<std::size_t>(status)); }

RunStatus run_status_from(std::string_view name) {
  return enum_from<RunStatus>(status_names, name, "run status");
}

}  // namespace shardlab::results
