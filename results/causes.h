#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/query.h"

namespace shardlab::results {

/// What ops of one kind did at one place of a model, all ranks together.
struct Work {
  std::string op = {};  ///< With the axes it goes over: `linear`, `all_reduce over domain`.
  double calls = 0;
  double bytes = 0;
  double flop = 0;
  std::map<std::int32_t, double> seconds = {};  ///< Of each rank.
  bool communicates = false;
};

/// The traced steps of a run, summed over what people call a place: `linear in block0`,
/// `all_reduce over domain in backward.head`.
struct Profile {
  std::map<std::string, Work> places;  ///< Of one iteration; empty without a timeline.
  std::string peak;                    ///< The place with most bytes live.
  double peak_bytes = 0;
};

[[nodiscard]] Profile profile_of(const Reader& reader, RunId run);

/// Why an exact metric changed, as far as the timelines of both sides tell: what grew (or shrank,
/// where the metric did) and where, the largest first.
[[nodiscard]] std::vector<std::string> causes_of(const Metric& metric, bool more,
                                                 const Profile& base, const Profile& next);

}  // namespace shardlab::results
