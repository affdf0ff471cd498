#include "engine/sim/calibrate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/core/check.h"
#include "engine/sim/collective_trust.h"
#include "engine/sim/median.h"

namespace shardlab::sim {
namespace {

constexpr double mebibyte = 1 << 20;
constexpr double reach = 4;        // Factor on sizes beyond the ends of a log.
constexpr double agreement = 1.5;  // Factor between logs that correct others.

double ratio_of(const ComparedRow& row) { return row.measured / row.predicted; }

bool within_reach(const ComparedLog& log, double bytes) {
  return !log.rows.empty() && bytes >= log.rows.front().bytes / reach &&
         bytes <= log.rows.back().bytes * reach;
}

/// Logarithm of measured by predicted, held at the ends.
double log_ratio(const ComparedLog& log, double bytes) {
  const auto after = std::find_if(log.rows.begin(), log.rows.end(),
                                  [bytes](const ComparedRow& row) { return row.bytes >= bytes; });
  if (after == log.rows.begin()) return std::log(ratio_of(log.rows.front()));
  if (after == log.rows.end()) return std::log(ratio_of(log.rows.back()));
  const auto before = after - 1;
  const double part = std::log(bytes / before->bytes) / std::log(after->bytes / before->bytes);
  return std::lerp(std::log(ratio_of(*before)), std::log(ratio_of(*after)), part);
}

bool same_fit(const ComparedLog& a, const ComparedLog& b) {
  return a.fabric == b.fabric && a.collective == b.collective;
}

std::vector<const ComparedLog*> fits_of(const std::vector<ComparedLog>& logs,
                                        const ComparedLog& like, bool with_itself) {
  std::vector<const ComparedLog*> fits;
  for (const ComparedLog& each : logs)
    if (same_fit(each, like) && (with_itself || &each != &like)) fits.push_back(&each);
  return fits;
}

/// Traces count the parts of all ranks, nccl-tests one rank's.
double trace_bytes(std::string_view collective, const Group& group, double bytes) {
  return collective == "all_to_all" ? bytes * group.ranks : bytes;
}

CollectiveCurve curve_for(const ComparedLog& log, const Group& group) {
  CollectiveCurve curve;
  curve.collective = log.collective;
  curve.ranks = group.ranks;
  curve.hosts = group.domains;
  return curve;
}

/// A curve that begins at large sizes would cost small ones the same: there the tables stand alone.
double predict_below(CollectiveCurve& curve, const Wires& wires, const Group& group, double first) {
  double longest = 0;
  for (double bytes = 1024; bytes < first; bytes *= 4) {
    longest = choose(wires, group, curve.collective, bytes).seconds;
    curve.points.emplace_back(trace_bytes(curve.collective, group, bytes), longest);
  }
  if (!curve.points.empty()) curve.from += fmt::format("; below {:.0f} B NCCL's tables", first);
  return longest;
}

CollectiveCurve own_curve(const ComparedLog& log, const Wires& wires) {
  CollectiveCurve curve = curve_for(log, log.group);
  curve.source = Source::user_measured;
  curve.from = log.name;
  curve.half_width = half_width_of(curve.source);
  double longest = predict_below(curve, wires, log.group, log.rows.front().bytes);
  for (const ComparedRow& row : log.rows) {
    longest = std::max(longest, row.measured);
    curve.points.emplace_back(trace_bytes(log.collective, log.group, row.bytes), longest);
  }
  return curve;
}

/// Groups that logs of one fabric speak for without having measured them.
std::vector<Group> other_groups(const std::vector<const ComparedLog*>& fits, const Wires& wires,
                                bool with_measured) {
  int most = 0;
  bool across = false;
  for (const ComparedLog* log : fits) {
    across = across || log->group.domains > 1;
    most = std::max(most, log->group.domains);
  }
  std::vector<Group> groups;
  if (across)
    for (int domains = 2; domains <= 2 * most; domains *= 2)
      groups.push_back({domains * wires.domain, domains});
  else
    for (int ranks = 2; ranks <= wires.domain; ranks *= 2) groups.push_back({ranks, 1});
  const auto measured = [&](const Group& group) {
    return std::any_of(fits.begin(), fits.end(), [&](const ComparedLog* log) {
      return log->group.ranks == group.ranks && log->group.domains == group.domains;
    });
  };
  if (!with_measured) std::erase_if(groups, measured);
  return groups;
}

CollectiveCurve derived_curve(const std::vector<const ComparedLog*>& fits, const Wires& wires,
                              const Group& group) {
  const ComparedLog& first = *fits.front();
  CollectiveCurve curve = curve_for(first, group);
  curve.source = Source::derived;
  curve.from = fmt::format("NCCL's tables times what {} logs of this fabric ask for", fits.size());
  curve.half_width = 0;
  const auto by_ranks = [](const ComparedLog* a, const ComparedLog* b) {
    return a->group.ranks < b->group.ranks;
  };
  const auto [fewest, most] = std::minmax_element(fits.begin(), fits.end(), by_ranks);
  curve.log_ranks = {(*fewest)->group.ranks, (*most)->group.ranks};
  double longest = 0;
  for (double bytes = 1024; bytes <= 16384 * mebibyte; bytes *= 2) {
    const Correction correction = correction_at(fits, bytes);
    if (correction.logs == 0) continue;
    if (curve.points.empty()) longest = predict_below(curve, wires, group, bytes);
    longest = std::max(longest,
                       correction.factor * choose(wires, group, first.collective, bytes).seconds);
    curve.points.emplace_back(trace_bytes(first.collective, group, bytes), longest);
    curve.half_width =
        std::max(curve.half_width, collective_trust(first.collective, bytes).half_width);
  }
  return curve;
}

}  // namespace

Group group_of(const NcclRun& run, std::string_view file, const Wires& wires, int ranks,
               int hosts) {
  check(ranks == 0 || run.may_have_ranks(ranks),
        "{}: line {}: {} ranks are stated, but busbw by algbw is that of {}", file, run.line, ranks,
        run.least_ranks == run.most_ranks
            ? fmt::format("{} ranks", run.least_ranks)
            : fmt::format("{} to {} ranks", run.least_ranks, run.most_ranks));
  if (ranks == 0) ranks = run.ranks > 0 ? run.ranks : run.listed_ranks;
  check(ranks > 1, "{}: line {}: the number of ranks is neither stated nor shown; give FILE@RANKS",
        file, run.line);
  if (hosts == 0) hosts = run.hosts;
  Group group{ranks, (ranks + wires.domain - 1) / wires.domain};
  if (wires.domain <= wires.gpus_per_host) group.domains = std::max(group.domains, hosts);
  check(ranks % group.domains == 0,
        "{}: line {}: {} ranks do not lie evenly over {} domains of {} GPUs", file, run.line, ranks,
        group.domains, wires.domain);
  return group;
}

ComparedLog compared(const NcclRun& run, std::string_view file, const Wires& wires,
                     const Group& group, std::string_view fabric) {
  check(!run.collective.empty(), "{}: line {}: the log does not say which collective it is", file,
        run.line);
  ComparedLog log{std::string(file), std::string(fabric), run.collective, group, {}};
  for (const auto& [bytes, seconds] : run.points()) {
    const double predicted = choose(wires, group, run.collective, bytes).seconds;
    log.rows.push_back({bytes, seconds, predicted, predicted, 0});
  }
  return log;
}

void refuse_faults(const NcclRun& run, const ComparedLog& log) {
  double reached = 0;
  if (!log.rows.empty() && log.rows.back().bytes >= 64 * mebibyte)
    reached = 1 / ratio_of(log.rows.back());
  for (const Suspicion& suspicion : run.suspicions) {
    if (suspicion.symptom == Symptom::slow && reached >= 0.5) continue;
    fail(Fault::invalid, "{}: line {}: not to be fitted: {}", log.name, suspicion.line,
         suspicion.text);
  }
  check(reached == 0 || reached >= 0.4,
        "{}: line {}: not to be fitted: {} of {:.0f} MiB reaches {:.0f} % of what the machine "
        "should; if it is that slow, give it its own numbers first",
        log.name, run.line, log.collective, log.rows.empty() ? 0 : log.rows.back().bytes / mebibyte,
        100 * reached);
}

std::string not_monotone(const ComparedLog& log) {
  double longest = 0;
  double best = 0;
  for (const ComparedRow& row : log.rows) {
    if (row.measured < 0.85 * longest)  // Latencies scatter so much.
      return fmt::format("{:.0f} B took less time than a smaller size", row.bytes);
    longest = std::max(longest, row.measured);
    if (row.bytes < mebibyte) continue;
    const double rate = row.bytes / row.measured;
    if (rate < 0.9 * best) return fmt::format("{:.0f} B is slower than a smaller size", row.bytes);
    best = std::max(best, rate);
  }
  return {};
}

Correction correction_at(std::span<const ComparedLog* const> logs, double bytes) {
  std::vector<double> ratios;
  for (const ComparedLog* log : logs)
    if (within_reach(*log, bytes) && not_monotone(*log).empty())
      ratios.push_back(log_ratio(*log, bytes));
  if (ratios.size() < 2) return {};
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  if (*most - *least > std::log(agreement)) return {};
  return {std::exp(median(ratios)), static_cast<int>(ratios.size())};
}

void correct_from_others(std::vector<ComparedLog>& logs) {
  for (ComparedLog& log : logs) {
    const std::vector<const ComparedLog*> others = fits_of(logs, log, false);
    for (ComparedRow& row : log.rows) {
      const Correction correction = correction_at(others, row.bytes);
      row.corrected = row.predicted * correction.factor;
      row.others = correction.logs;
    }
  }
}

std::vector<CollectiveCurve> curves_of(const std::vector<ComparedLog>& logs, const Wires& wires,
                                       bool own) {
  std::vector<CollectiveCurve> curves;
  const auto add = [&curves](CollectiveCurve curve) {
    const bool known =
        std::any_of(curves.begin(), curves.end(),
                    [&curve](const CollectiveCurve& each) { return same_subject(each, curve); });
    if (!known && !curve.points.empty()) curves.push_back(std::move(curve));
  };
  if (own)
    for (const ComparedLog& log : logs)
      if (!log.rows.empty() && not_monotone(log).empty()) add(own_curve(log, wires));
  for (const ComparedLog& log : logs) {
    const std::vector<const ComparedLog*> fits = fits_of(logs, log, true);
    if (fits.size() < 2) continue;
    for (const Group& group : other_groups(fits, wires, !own))
      add(derived_curve(fits, wires, group));
  }
  return curves;
}

}  // namespace shardlab::sim
