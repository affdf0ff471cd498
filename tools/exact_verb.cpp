#include "tools/exact_verb.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/core/check.h"
#include "tools/exact_compare.h"
#include "tools/exact_file.h"
#include "tools/executions.h"
#include "tools/json_text.h"

namespace shardlab {

Exit exact_verb(const Scenarios& scenarios, const ExactVerbOptions& options) {
  check(std::filesystem::is_directory(options.folder),
        "{}: no such folder; type this in the root of the repository, or name the folder",
        options.folder);
  const std::vector<ExactSeries> next = exact_series(scenarios, meta_execution());
  const std::vector<ExactSeries> base = read_exact(options.folder);
  const results::Comparison comparison = compare_exact(base, next);
  const bool equal = comparison.findings.empty(), accepted = options.accept && !equal;
  if (!options.json) fmt::print("{}", exact_text(comparison, "shardlab exact --accept"));
  if (accepted) write_exact(options.folder, next);
  if (options.json)
    fmt::print("{}\n", json_text(nlohmann::json{{"folder", options.folder},
                                                {"committed_series", base.size()},
                                                {"series", next.size()},
                                                {"accepted", accepted},
                                                {"differences", exact_json(comparison)}}));
  else if (equal)
    fmt::print("exact quantities of {} series equal those of {}\n", next.size(), options.folder);
  else if (accepted)
    fmt::print("accepted: {} now holds {} series\n", options.folder, next.size());
  return equal || accepted ? Exit::fine : Exit::failed;
}

}  // namespace shardlab
