#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardlab::results {

/// One published number of a scenario.
struct PublishedRow {
  bool train = false;
  int gpus = 1;
  std::map<std::string, std::string> parameters;  ///< Those with a column of their own.
  std::optional<double> seconds;
  std::optional<double> peak_gib;  ///< Allocated memory of one device.
  std::optional<double> speedup;   ///< Over one GPU, where no time is given.
  std::string kind;                ///< How it was obtained: table, csv, digitised, text.
  enum class Use { calibrate, validate, show } use = Use::show;
  int line = 0;
};

/// The published rows of one scenario, and the configuration that predicts them.
struct PublishedRows {
  std::string name;
  std::string title, source, hardware;
  std::string scenario, dtype, machine, profile;
  std::map<std::string, std::string> fixed;  ///< Parameters that all rows share.
  /// Rows with at least this value of a parameter are judged apart; empty: all alike.
  std::string regime_parameter;
  double regime_from = 0;
  /// What rows to show are predicted for; empty: the one machine and dtype above.
  std::vector<std::string> show_machines, show_dtypes;
  std::vector<std::string> waiting;  ///< Claims that nothing predicts yet, and why.
  std::vector<PublishedRow> rows;
};

/// Reads a file of published rows: `# key: value` lines, a header, rows. A file of nothing but
/// `# waiting:` lines names claims without rows.
///
/// Errors   Error{invalid} with `name:line` and what was expected.
[[nodiscard]] PublishedRows read_published(std::string_view text, const std::string& name);

/// A file that is part of the program.
struct PublishedFile {
  const char* name;
  const char* text;
};

/// All of results/published; generated.
[[nodiscard]] std::span<const PublishedFile> published_files();

/// Logs of collectives, distilled to CSV, in results/published/logs; generated.
[[nodiscard]] std::span<const PublishedFile> published_logs();

}  // namespace shardlab::results
