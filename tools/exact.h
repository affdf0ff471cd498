#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/scenario.h"
#include "engine/launch/launch.h"
#include "results/series.h"

namespace shardlab {

/// What all ranks together do of one op in one part of a model in one step.
struct ExactPart {
  std::string scope;  ///< Digits in it are `*`: the blocks of a model count as one part.
  std::string op;
  bool moves = false;  ///< A call of a communicator.
  std::int64_t calls = 0;
  std::int64_t bytes = 0;  ///< Payload of the calls.
  std::int64_t flop = 0;
};

/// The exact quantities of one step: equal on every machine and in every build.
struct ExactSeries {
  results::SeriesKey key;  ///< Of the parameters only those that switch something.
  std::vector<std::pair<std::string, std::int64_t>> quantities;  ///< By name of their metric.
  std::string highest;           ///< Op and scope after which a rank holds most.
  std::vector<ExactPart> parts;  ///< In the order of their scopes and ops.
};

/// A parameter that switches something, with all its values.
struct Switch {
  std::string name;
  std::vector<std::string> values;
};

/// The switches that exact series go through.
[[nodiscard]] const std::vector<Switch>& exact_switches();

/// One step of every scenario's `tiny` preset, inference and training, every switch, on few ranks.
///
/// What a scenario refuses as unsupported has no series.
///
/// Cost     A few milliseconds a series without data.
/// Errors   As `measure`.
[[nodiscard]] std::vector<ExactSeries> exact_series(const Scenarios& scenarios,
                                                    const Execution& execution);

/// For people: `vit, training, domain=2, checkpoint=blocks`.
[[nodiscard]] std::string exact_title(const results::SeriesKey& key);

}  // namespace shardlab
