#include "results/change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/rank_test.h"

namespace shardlab::results {
namespace {

constexpr std::size_t most_units = 400;
constexpr std::size_t least_units = 8;

std::vector<double> independent(const std::vector<double>& values) {
  // Fewer units than this could not reach a small p however far apart the sides are.
  const std::size_t longest = std::max<std::size_t>(1, values.size() / least_units);
  const std::size_t block = std::max(std::min(block_length(values), longest),
                                     (values.size() + most_units - 1) / most_units);
  return block_medians(values, block);
}

Change unpaired(const Samples& samples, const Bootstrap& bootstrap) {
  const std::vector<double> base = independent(samples.base), next = independent(samples.next);
  const bool thinned = samples.base.size() > most_units || samples.next.size() > most_units;
  Change change;
  change.ratio =
      thinned ? ratio_of(base, next, bootstrap) : ratio_of(samples.base, samples.next, bootstrap);
  change.base_units = static_cast<std::int64_t>(base.size());
  change.next_units = static_cast<std::int64_t>(next.size());
  change.p = mann_whitney(base, next).p;
  change.least_p = least_mann_whitney_p(base.size(), next.size());
  return change;
}

Change paired(const Samples& samples, const Bootstrap& bootstrap) {
  Change change;
  change.ratio = paired_ratio_of(samples.base, samples.next, bootstrap);
  std::vector<double> logs;
  for (std::size_t i = 0; i < samples.base.size(); ++i)
    logs.push_back(std::log(samples.next[i] / samples.base[i]));
  const std::vector<double> units = independent(logs);
  change.base_units = change.next_units = static_cast<std::int64_t>(units.size());
  change.p = signed_rank(units).p;
  change.least_p = least_signed_rank_p(units.size());
  return change;
}

double detectable_of(const Interval& interval, double floor) {
  const double half = std::log(interval.high / interval.low) / 2;
  // Of a normal distribution, 1.96 deviations are half an interval, and 1.28 leave out 1 in 10. As
  // half an interval is known no better than its ends, about 1 in 5 reports misses such a change.
  return (1 + floor) * std::exp(half * (1 + 1.2816 / 1.95996)) - 1;
}

}  // namespace

Change change_of(const Samples& samples, std::uint64_t seed) {
  const Bootstrap bootstrap{.seed = seed};
  Change change =
      samples.taken == Taken::pairs ? paired(samples, bootstrap) : unpaired(samples, bootstrap);
  change.base = median(samples.base);
  change.next = median(samples.next);
  change.taken = samples.taken;
  return change;
}

std::size_t least_runs(double significance) {
  std::size_t runs = 2;
  while (runs < most_units && least_mann_whitney_p(runs, runs) >= significance) ++runs;
  return runs;
}

std::size_t least_pairs(double significance) {
  std::size_t pairs = 2;
  while (pairs < most_units && least_signed_rank_p(pairs) >= significance) ++pairs;
  return pairs;
}

const char* word_for(const Metric& metric, bool more) {
  if (metric.unit == "s") return more ? "slower" : "faster";
  return more ? "more" : "less";
}

Judgement judge(const Change& change, const Metric& metric, double adjusted_p,
                const ComparisonOptions& options) {
  const Interval& interval = change.ratio.interval;
  const double band = 1 + options.floor;
  const bool together = change.taken == Taken::pairs || change.taken == Taken::mixed;
  const double edge = 1 + std::max(options.floor, together ? 0 : options.apart_floor);
  const bool more = interval.low > edge;
  const bool less = interval.high < 1 / edge;
  if (change.taken == Taken::iterations && !options.iterations)
    return {Verdict::undecided,
            more || less
                ? fmt::format("looks {}, but so few starts prove nothing", word_for(metric, more))
                : "so few starts prove nothing",
            {}};
  // So few also have no interval of 95 %: that of three pairs, from the least to the most, holds
  // the median in 75 %.
  if (change.least_p >= options.significance)
    return {
        Verdict::not_enough,
        change.taken == Taken::pairs
            ? fmt::format("{} pairs reach no p below {:.2g}, {} can", change.base_units,
                          options.significance, least_pairs(options.significance))
            : fmt::format("{} and {} independent samples reach no p below {:.2g}, {} a side can",
                          change.base_units, change.next_units, options.significance,
                          least_runs(options.significance)),
        {}};
  if (interval.low >= 1 / band && interval.high <= band)
    return {Verdict::same, fmt::format("within {:.3g} %", 100 * options.floor), {}};
  const double detectable = detectable_of(interval, edge - 1);
  const bool far =
      metric.unit != "s" || std::abs(change.next - change.base) > options.least_seconds;
  if ((more || less) && far && adjusted_p < options.significance) {
    const double least = more ? interval.low - 1 : 1 - interval.high;
    return {more == (metric.better != Better::higher) ? Verdict::worse : Verdict::better,
            fmt::format("at least {:.1f} % {}, p {:.2g}", 100 * least, word_for(metric, more),
                        adjusted_p),
            detectable};
  }
  std::string why = fmt::format("not shown either way; a change of {} would be found",
                                detectable < 1 ? fmt::format("{:.2g} %", 100 * detectable)
                                               : fmt::format("{:.2g} times", 1 + detectable));
  if (!far)
    why = fmt::format("the change is less than {:.3g} s", options.least_seconds);
  else if (more || less)
    why = fmt::format("p {:.2g} among all tests of this report", adjusted_p);
  return {Verdict::undecided, why, detectable};
}

}  // namespace shardlab::results
