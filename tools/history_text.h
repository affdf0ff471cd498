#pragma once

#include <string>
#include <vector>

#include "results/history.h"

namespace shardlab {

/// How a history is shown.
struct HistoryLooks {
  std::string metric;  ///< As typed, for the commands to type next.
  bool ascii = false;
  bool all = false;  ///< A chart for series without a shift too, however many there are.
};

/// Charts, shifts and what to type next, for people.
[[nodiscard]] std::string history_text(const std::vector<results::HistoryChart>& charts,
                                       const HistoryLooks& looks);

/// Everything as a JSON object; what is not known is null.
[[nodiscard]] std::string history_json(const std::vector<results::HistoryChart>& charts);

/// The commits of a shift to look at, as git takes them: `LAST-GOOD..FIRST-BAD`.
[[nodiscard]] std::string range_of(const results::HistoryChart& chart, const results::Shift& shift);

}  // namespace shardlab
