#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/answers.h"
#include "engine/core/scenario.h"
#include "engine/launch/launch.h"
#include "tools/stopping.h"

namespace shardlab {

class TurnGate;

/// Turns of a run that takes them, where nobody said how many: it is their middle ratio that
/// counts.
inline constexpr int most_turns = 50;

struct MeasureOptions {
  LaunchOptions launch;
  int warmup = 1;
  int iterations = 0;  ///< These three: see StoppingRule.
  double precision = 0;
  double budget_seconds = 10;
  bool values = false;          ///< Hands out what the first step computed.
  bool timeline = false;        ///< Traces one more iteration.
  TurnGate* gate = nullptr;     ///< Timed iterations run in turns with another program.
  double turn_seconds = 0.010;  ///< A turn ends with the iteration that reaches them.

  [[nodiscard]] StoppingRule rule() const {
    return {iterations, precision, budget_seconds, gate == nullptr ? 20 : most_turns};
  }
};

/// A tensor of the first step, whole.
struct NamedValues {
  Named::Kind kind = Named::Kind::output;
  std::string name;
  std::vector<double> values;
};

/// What one rank did in a timed iteration.
struct RankMeasure {
  std::vector<double> seconds;  ///< Warm-up first.
  Totals totals;                ///< Of the last timed iteration.
  std::int64_t peak_bytes = 0;
  std::int64_t live_bytes_after = 0;
  std::int64_t library_peak_bytes = 0;
  std::array<std::int64_t, category_count> at_peak{};
  Trace trace;      ///< Of the traced iteration.
  Answers answers;  ///< What the rank's program was told of itself.
};

struct Measurement {
  int warmup = 0;
  std::vector<RankMeasure> ranks;
  std::vector<int> numbers;         ///< Of the ranks; empty: 0, 1, 2 ...
  std::vector<double> losses;       ///< Of every iteration, if the scenario has a loss.
  std::vector<std::int64_t> turns;  ///< Timed iterations of each, if they ran in turns.
  std::vector<NamedValues> values;
  std::int64_t parameters = 0;
  std::vector<std::string> notes;                    ///< Warnings of rank 0.
  std::string stopped;                               ///< Why it ended: see Stopping::text.
  std::vector<std::shared_ptr<LayoutTable>> tables;  ///< One a rank; traces point into them.

  [[nodiscard]] std::int32_t number(std::size_t rank) const {
    return numbers.empty() ? static_cast<std::int32_t>(rank) : numbers[rank];
  }
};

/// Runs a scenario: set-up, warm-up, timed iterations with a barrier before each, one traced one.
///
/// Errors   As `launch`.
[[nodiscard]] Measurement measure(const Execution& execution, const Scenario& scenario,
                                  const Params& params, const MeasureOptions& options);

}  // namespace shardlab
