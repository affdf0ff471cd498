#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "results/store.h"

namespace shardlab::perf {

/// Prints benchmarks as they come and stores each as a run: repetitions become iterations, counters
/// metrics, errors skipped runs.
class StoredReport : public benchmark::ConsoleReporter {
 public:
  /// Errors   As results::Store, also of every report.
  StoredReport(const std::string& database, std::string command);

  void ReportRuns(const std::vector<Run>& reports) override;

  [[nodiscard]] int stored() const noexcept { return stored_; }

 private:
  results::Store store_;
  std::string command_;
  int stored_ = 0;
};

}  // namespace shardlab::perf
