#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/sim/calibrate.h"
#include "engine/sim/collective_trust.h"

namespace shardlab::sim {

/// A public log of one collective, distilled to its sizes and times.
struct PublishedLog {
  enum class Use { judge, show, fault };
  Use use = Use::show;
  std::string source;
  std::string fault;  ///< Why it must not be fitted.
  ComparedLog log;    ///< Beside its prediction, not corrected yet.
};

/// Reads `# source NAME: text` and `# fault NAME: text` lines, a header, and one row a size.
///
/// Errors   Error{invalid} with `name:line` and what was expected; as find_machine.
[[nodiscard]] std::vector<PublishedLog> read_published_logs(std::string_view text,
                                                            const std::string& name);

/// The wires of a built-in machine with numbers of it that differ: `dgx-h100 nic.latency=7.5e-05`.
///
/// Errors   Error{invalid} beginning with `where`.
[[nodiscard]] Wires wires_named(std::string_view text, const std::string& where);

/// The distilled form of a log. `wires` is as for wires_named.
[[nodiscard]] std::string published_rows(const ComparedLog& log, const char* use,
                                         const std::string& wires);

/// The line above the rows of published_rows.
[[nodiscard]] std::string_view published_header();

[[nodiscard]] const char* name_of(PublishedLog::Use use);

/// How well left-out logs are predicted.
struct LeftOut {
  /// The relative errors of the rows of a band after correction by the others of their fabric.
  [[nodiscard]] std::vector<double> errors(Band band) const;

  std::vector<ComparedLog> logs;  ///< Each corrected by the others.
  int rows = 0;
  int inside = 0;  ///< Rows within the stated 80 % interval, found without their log.
  double median_half_width = 0;
};

/// Leaves out each log in turn. Intervals of a fabric that no other log is like rest on the others,
/// but others do not rest on it.
[[nodiscard]] LeftOut leave_out(std::vector<ComparedLog> judged);

/// The residuals that intervals rest on, without those of one log.
[[nodiscard]] std::vector<Residual> residuals_of(const std::vector<ComparedLog>& judged,
                                                 const ComparedLog* without = nullptr);

}  // namespace shardlab::sim
