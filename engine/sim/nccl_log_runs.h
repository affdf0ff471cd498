#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sim/nccl_log.h"

namespace shardlab::sim {

/// What stands above the rows of a run.
struct NcclHeader {
  std::string collective;
  std::string version;
  std::string gpu;
  std::set<int> listed;
  std::set<std::string> hosts;
  std::int64_t announced_least = 0;
  std::int64_t announced_most = 0;
  bool cpu_times = false;
};

/// Puts the rows of one file together to runs, and looks at each when it is complete.
class NcclRuns {
 public:
  explicit NcclRuns(std::string_view name) { log_.name = name; }

  /// Of the run that is being read, and of those that follow it without a header of their own.
  NcclHeader header;
  std::optional<double> average;  ///< busbw of the footer, bytes/s.

  [[nodiscard]] bool reading() const { return !run_.rows.empty(); }

  /// Adds a row to the run, or to a new one where type, operation or root change, sizes start
  /// again or the footer has been there.
  void add(const NcclRow& row, std::string_view dtype, std::string_view redop, std::int64_t root,
           const std::vector<std::string>& odds);

  void footer() { ended_ = true; }
  [[nodiscard]] bool ended() const { return ended_; }

  void odd(int line, std::string text);
  void suspect(Symptom symptom, int line, std::string text);

  /// Puts the run away if it has rows.
  ///
  /// Errors   invalid with file and line: more than 1,000 runs.
  void finish(int line);
  NcclLog take() { return std::move(log_); }

 private:
  NcclLog log_;
  NcclRun run_;
  bool ended_ = false;
};

/// Reads tables as nccl-tests prints them; a log without any row has no run.
[[nodiscard]] NcclLog read_nccl_text(std::string_view text, std::string_view name);

/// Reads the JSON file that nccl-tests writes with -J.
///
/// Errors   invalid with file and line: no JSON before the first row.
[[nodiscard]] NcclLog read_nccl_json(std::string_view text, std::string_view name);

/// Sets collective and ranks of a run from its rows where nobody says them, and compares them with
/// what the header says.
void find_ranks(NcclRun& run);

/// find_ranks, and then what else the rows of a run show together: oddities, doubtful timings and
/// suspicions. `average` is the mean busbw of the footer in bytes/s.
void examine(NcclRun& run, std::optional<double> average);

/// The project's name of a collective from the name of its test, as in "alltoall_perf"; empty where
/// it is none.
[[nodiscard]] std::string_view collective_of(std::string_view test);

/// "2.28.3" from NCCL's number of a version.
[[nodiscard]] std::string nccl_version(std::int64_t code);

}  // namespace shardlab::sim
