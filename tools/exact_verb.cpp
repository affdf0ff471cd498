#include "tools/exact_verb.h"

#include <fmt/format.h>

#include <filesystem>

#include "engine/core/check.h"
#include "tools/exact_compare.h"
#include "tools/exact_file.h"
#include "tools/executions.h"

namespace shardlab {

Exit exact_verb(const Scenarios& scenarios, const ExactVerbOptions& options) {
  check(std::filesystem::is_directory(options.folder),
        "{}: no such folder; type this in the root of the repository, or name the folder",
        options.folder);
  const std::vector<ExactSeries> next = exact_series(scenarios, meta_execution());
  const std::vector<ExactSeries> base = read_exact(options.folder);
  const results::Comparison comparison = compare_exact(base, next);
  fmt::print("{}", exact_text(comparison, "shardlab exact --accept"));
  if (comparison.findings.empty()) {
    fmt::print("exact quantities of {} series equal those of {}\n", next.size(), options.folder);
    return Exit::fine;
  }
  if (!options.accept) return Exit::failed;
  write_exact(options.folder, next);
  fmt::print("accepted: {} now holds {} series\n", options.folder, next.size());
  return Exit::fine;
}

}  // namespace shardlab
