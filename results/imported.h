#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/run.h"

namespace shardlab::results {

/// A file of another program.
struct ImportSource {
  std::string name;  ///< As errors and `source` name it.
  std::string text;
  /// The content of a file named in this one, if it is there and has so many bytes.
  std::function<std::optional<std::string>(const std::string& path, std::size_t bytes)> beside;
};

/// What a file may not say, as a person says it.
struct ImportOptions {
  std::string mesh = {};       ///< Where a file has no number of ranks.
  std::string dtype = {};      ///< Where it has no element type.
  std::string processor = {};  ///< Where it names none: then its runs compare with each other only.
  std::string commit = {};
  std::string branch = {};
};

/// Something odd that a reader went on after; line 0 is the file as a whole.
struct ImportNote {
  int line = 0;
  std::string text = {};
};

/// What a file holds: runs without uuid unless it has them itself.
struct Imported {
  std::string format = {};
  std::vector<StoredRun> runs = {};
  std::vector<ImportNote> notes = {};
};

/// A run with series, environment and metrics still to fill in.
[[nodiscard]] StoredRun imported_run(Execution execution, const std::string& profile);

/// Parameters of a series, whose values are texts as typed.
[[nodiscard]] std::string parameters_text(const std::map<std::string, std::string>& parameters);

/// Adds samples of one metric, iterations counted from 0; what is not finite, or a time below 0,
/// ends the run as failed with the reason, and the other samples stay.
void add_samples(StoredRun& run, const Metric& metric, const std::vector<double>& values,
                 std::int32_t rank = whole_mesh);

/// Metrics that other programs have and scenarios have not.
[[nodiscard]] Metric cpu_seconds();
[[nodiscard]] Metric allocated_peak_bytes();  ///< Of the allocator of another framework.
[[nodiscard]] Metric reserved_peak_bytes();
[[nodiscard]] Metric process_peak_bytes();
[[nodiscard]] Metric counter(const std::string& name);  ///< Of a benchmark; better none.
[[nodiscard]] Metric rate(const std::string& name, const std::string& unit);

/// A time with a date as ISO 8601 has it, as a run stores it; empty where it is none. Without an
/// offset it is taken as UTC.
[[nodiscard]] std::string utc_from(std::string_view text);

}  // namespace shardlab::results
