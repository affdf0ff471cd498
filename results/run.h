#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/metric.h"
#include "results/series.h"

namespace shardlab::results {

/// A run within one database file; `uuid` names it across files.
struct RunId {
  std::int64_t value = 0;
  auto operator<=>(const RunId&) const = default;
};

/// How a run ended. `interrupted` is never stored: it is a running run whose process is gone.
enum class RunStatus { running, complete, failed, skipped, interrupted };

[[nodiscard]] const char* name_of(RunStatus status);
[[nodiscard]] RunStatus run_status_from(std::string_view name);

/// What is known of a run before it starts.
struct RunHeader {
  SeriesKey series = {};
  EnvironmentKey environment = {};
  std::string created = {};  ///< UTC as `2031-02-03T04:05:06.789012Z`; empty: now.
  std::string commit = {};
  std::string branch = {};
  bool dirty = false;
  bool oversubscribed = false;  ///< More ranks than cores: its times show no efficiency.
  std::int64_t seed = 0;
  std::string source = {};       ///< File, page or log the rows come from; empty: our own.
  std::string command = {};      ///< The command line.
  std::string variables = "{}";  ///< JSON object: allow-listed environment variables.
  std::string state = "{}";      ///< JSON object: clock rates, load, throttling.
  std::string layouts = {};      ///< Text for people.
};

/// The rank of a value that belongs to all ranks together, such as the loss.
inline constexpr std::int32_t whole_mesh = -1;

/// One number.
struct Sample {
  std::int64_t iteration = 0;  ///< From 0, warm-up first.
  std::int32_t rank = whole_mesh;
  bool warmup = false;
  double value = 0;  ///< Units: see Metric. Whole numbers are exact up to 2^53.

  bool operator==(const Sample&) const = default;
};

struct MetricSamples {
  Metric metric = {};
  std::vector<Sample> samples = {};
};

/// The comparison of one tensor with its reference.
struct Check {
  std::string name = {};
  double error = 0;  ///< max|a-b| / max|b|; may be infinite or not a number.
  double bound = 0;

  [[nodiscard]] bool passed() const { return error <= bound; }
};

/// Where the true value of a predicted or published metric is thought to lie.
struct Uncertainty {
  Metric metric = {};
  double low = 0;
  double high = 0;
  double coverage = 0.95;   ///< 0.8: it lies inside in 80 of 100 cases.
  std::string source = {};  ///< The weakest source used, or how the point was read.
};

/// Ranks of a predicted run that behave alike; only `rank` has samples and steps.
struct Fold {
  std::int32_t rank = 0;
  std::int64_t ranks = 1;    ///< How many it stands for, itself included.
  std::string members = {};  ///< `0-6,8`
};

/// What belongs together in one transaction.
struct Rows {
  std::vector<MetricSamples> metrics = {};
  std::vector<Check> checks = {};
  std::vector<Uncertainty> uncertainties = {};
  std::vector<Fold> folds = {};
};

/// A named range of a timeline.
struct Scope {
  std::int32_t rank = 0;
  std::int64_t iteration = 0;
  std::int64_t ordinal = 0;
  std::optional<std::int64_t> parent = {};  ///< Ordinal of the enclosing scope.
  std::string name = {};
  double begin_seconds = 0;  ///< From one zero for all ranks and iterations of the run.
  double end_seconds = 0;
};

/// What one rank did, in program order.
struct Step {
  std::int32_t rank = 0;
  std::int64_t iteration = 0;
  std::int64_t ordinal = 0;
  std::optional<std::int64_t> scope = {};  ///< Ordinal of the innermost scope.
  std::string op = {};
  std::string lane = {};     ///< `host`, `compute`, `comm:domain`
  double begin_seconds = 0;  ///< As in Scope.
  double end_seconds = 0;
  std::int64_t flop = 0;
  std::int64_t bytes = 0;       ///< Moved by this step.
  std::int64_t live_bytes = 0;  ///< Of the engine, after this step.
  std::string detail = {};
};

struct Timeline {
  std::vector<Scope> scopes = {};
  std::vector<Step> steps = {};
};

/// A line of a list of runs.
struct RunInfo {
  RunId id = {};
  std::string uuid = {};
  std::string created = {};
  RunStatus status = RunStatus::running;
  std::string reason = {};  ///< Why failed or skipped.
  SeriesKey series = {};
  std::string environment = {};  ///< hash_of its EnvironmentKey.
  std::string commit = {};
  bool dirty = false;
  bool oversubscribed = false;
};

/// Everything stored about a run but its timeline.
struct StoredRun {
  RunId id = {};
  std::string uuid = {};
  RunStatus status = RunStatus::running;
  std::string reason = {};
  RunHeader header = {};
  Rows rows = {};
};

}  // namespace shardlab::results
