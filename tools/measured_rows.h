#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/core/scenario.h"
#include "results/published.h"

namespace shardlab {

/// What a stored run took for the problem of a published row.
struct MeasuredRow {
  double seconds = 0;  ///< Median over the timed iterations.
  std::string run;     ///< Its number.
};

/// The newest complete run for each published row: the same scenario, parameters, mode and dtype on
/// as many ranks of the axis `domain`, whatever executed it.
class MeasuredRows {
 public:
  /// Errors   Those of reading a results file; a file that is not there holds no runs.
  MeasuredRows(const Scenarios& scenarios, const results::PublishedRows& published,
               const std::string& database);

  [[nodiscard]] const MeasuredRow* of(const results::PublishedRow& row) const;

  /// One line for each machine that ran some: `runs 3, 4 on 2 x Intel Xeon (cpu)`.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::map<int, MeasuredRow> by_line_;  ///< By the line of the published row.
  std::vector<std::string> notes_;
};

}  // namespace shardlab
