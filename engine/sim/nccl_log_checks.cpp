#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/core/check.h"
#include "engine/sim/nccl_log_runs.h"

namespace shardlab::sim {
namespace {

using Half = std::optional<NcclTiming> NcclRow::*;
constexpr std::array<std::pair<Half, const char*>, 2> halves{
    std::pair{&NcclRow::out_of_place, "out-of-place"}, std::pair{&NcclRow::in_place, "in-place"}};

constexpr double mebibyte = 1 << 20;

std::string size_text(double bytes) {
  if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
  if (bytes < mebibyte) return fmt::format("{:.4g} KiB", bytes / 1024);
  if (bytes < 1024 * mebibyte) return fmt::format("{:.4g} MiB", bytes / mebibyte);
  return fmt::format("{:.4g} GiB", bytes / mebibyte / 1024);
}

/// What the numbers say about a run as a whole.
class Examination {
 public:
  explicit Examination(NcclRun& run) : run_(run) {}

  void check_values();
  void check_rates();
  void check_order(Half half, const char* name);
  void check_plateau();
  void check_sizes();
  void check_average(std::optional<double> average);

 private:
  void odd(int line, std::string text) { note(run_.oddities, line, std::move(text)); }
  void suspect(Symptom symptom, int line, std::string text) {
    run_.suspicions.push_back({symptom, line, std::move(text)});
  }
  NcclRun& run_;
  bool complete_ = true;  ///< All announced sizes seem to be there.
};

void Examination::check_values() {
  bool checked = false;
  int bad = 0;
  int line = 0;
  for (const NcclRow& row : run_.rows)
    for (const auto& [half, name] : halves) {
      if (!(row.*half) || !(row.*half)->wrong) continue;
      checked = true;
      if (*(row.*half)->wrong <= 0) continue;
      if (bad++ == 0) line = row.line;
    }
  if (bad > 0)
    suspect(Symptom::wrong_values, line,
            fmt::format("wrong values in {} of {} rows, first here", bad, run_.rows.size()));
  if (!checked) odd(run_.line, "no values were checked");
}

void Examination::check_rates() {
  std::size_t all = 0;
  std::size_t bad = 0;
  int first = 0;
  for (NcclRow& row : run_.rows)
    for (const auto& [half, name] : halves) {
      std::optional<NcclTiming>& timing = row.*half;
      if (!timing) continue;
      ++all;
      const double rate = static_cast<double>(row.bytes) / timing->seconds.value;
      const double rounding = timing->seconds.half_step / timing->seconds.value;
      const double tolerance = timing->algbw.half_step * 1.01 + rate * (0.005 + rounding);
      if (std::abs(rate - timing->algbw.value) <= tolerance) continue;
      timing->doubtful = true;
      odd(row.line,
          fmt::format("{} in {:.6g} us is {:.4g} GB/s, but the {} algbw is {:.4g}",
                      size_text(static_cast<double>(row.bytes)), timing->seconds.value * 1e6,
                      rate * 1e-9, name, timing->algbw.value * 1e-9));
      if (bad++ == 0) first = row.line;
    }
  if (4 * bad > all)
    suspect(Symptom::inconsistent, first,
            fmt::format("algbw is not size by time in {} of {} timings, first here", bad, all));
}

void Examination::check_order(Half half, const char* name) {
  // The least time of a larger size, from the largest on.
  double least = std::numeric_limits<double>::infinity();
  double pending = least;
  double at = 0;
  std::int64_t pending_bytes = -1;
  for (std::size_t i = run_.rows.size(); i-- > 0;) {
    NcclRow& row = run_.rows[i];
    if (!(row.*half) || (row.*half)->doubtful) continue;
    if (row.bytes != pending_bytes) {
      if (pending < least) at = static_cast<double>(pending_bytes);
      least = std::min(least, pending);
      pending = std::numeric_limits<double>::infinity();
      pending_bytes = row.bytes;
    }
    const double seconds = (row.*half)->seconds.value;
    if (seconds > 1.05 * least) {
      // Beyond that it is no step between two algorithms.
      (row.*half)->doubtful = seconds > 1.5 * least;
      odd(row.line, fmt::format("{} took {:.4g} us {}, more than the {:.4g} us of {}{}",
                                size_text(static_cast<double>(row.bytes)), seconds * 1e6, name,
                                least * 1e6, size_text(at), i == 0 ? ": first use?" : ""));
    }
    pending = std::min(pending, seconds);
  }
}

void Examination::check_plateau() {
  // Of what their best size had, the last sizes of the worse and the better half keep so much.
  double worse = 1;
  double better = 0;
  double best_bytes = 0;
  for (const auto& [half, name] : halves) {
    double kept = 1;
    double peak = 0;
    double peak_bytes = 0;
    const NcclRow* dip = nullptr;
    for (const NcclRow& row : run_.rows) {
      if (!(row.*half) || (row.*half)->doubtful || static_cast<double>(row.bytes) < mebibyte)
        continue;
      const double rate = static_cast<double>(row.bytes) / (row.*half)->seconds.value;
      kept = peak > 0 ? std::min(1.0, rate / peak) : 1;
      if (kept < 0.95 && dip == nullptr) dip = &row;
      if (kept >= 0.95 && dip != nullptr) {
        odd(dip->line, fmt::format("{} is a dip: {} is slower than a smaller size, {} is not", name,
                                   size_text(static_cast<double>(dip->bytes)),
                                   size_text(static_cast<double>(row.bytes))));
        dip = nullptr;
      }
      if (rate > peak) {
        peak = rate;
        peak_bytes = static_cast<double>(row.bytes);
      }
    }
    if (peak == 0) continue;
    better = std::max(better, kept);
    if (kept < worse) best_bytes = peak_bytes;
    worse = std::min(worse, kept);
  }
  const std::optional<Plateau> plateau = run_.plateau();
  const int last = run_.rows.back().line;
  if (better > 0 && better < 0.95)
    suspect(Symptom::collapse, last,
            fmt::format("the largest sizes have {:.0f} % of the rate at {} and do not recover: a "
                        "healthy fabric keeps its rate",
                        100 * worse, size_text(best_bytes)));
  // Half of 12.5 GB/s, one 100 Gbit/s port a host; an all-to-all shares it between up to 8 ranks.
  const bool shared = run_.collective.empty() || run_.collective == "all_to_all";
  const double limit = shared ? 6.25e9 / 8 : 6.25e9;
  if (plateau && plateau->bytes >= 64 * mebibyte && plateau->busbw < limit && run_.most_ranks != 1)
    suspect(Symptom::slow, last,
            fmt::format("busbw is {:.3g} GB/s at {}, less than {:.3g}, half of what one 100 Gbit/s "
                        "port a host carries: right only on a slower fabric",
                        plateau->busbw * 1e-9, size_text(plateau->bytes), limit * 1e-9));
}

void Examination::check_sizes() {
  const auto [least, most] =
      std::minmax_element(run_.rows.begin(), run_.rows.end(),
                          [](const NcclRow& a, const NcclRow& b) { return a.bytes < b.bytes; });
  if (run_.announced_most > 0 &&
      (least->bytes > run_.announced_least || most->bytes < run_.announced_most / 2 ||
       most->bytes > run_.announced_most)) {
    complete_ = false;
    odd(run_.line, fmt::format("sizes from {} to {} are announced, {} to {} are there",
                               size_text(static_cast<double>(run_.announced_least)),
                               size_text(static_cast<double>(run_.announced_most)),
                               size_text(static_cast<double>(least->bytes)),
                               size_text(static_cast<double>(most->bytes))));
  }
  // Sizes grow by a factor or by a step, whichever is the same for the rows next to each other.
  double least_factor = std::numeric_limits<double>::infinity();
  double least_step = least_factor;
  const auto each_pair = [&](const auto& visit) {
    for (std::size_t i = 1; i < run_.rows.size(); ++i) {
      const auto before = static_cast<double>(run_.rows[i - 1].bytes);
      const auto here = static_cast<double>(run_.rows[i].bytes);
      if (before >= 1024 && here > before) visit(run_.rows[i], before, here);
    }
  };
  each_pair([&](const NcclRow&, double before, double here) {
    least_factor = std::min(least_factor, here / before);
    least_step = std::min(least_step, here - before);
  });
  each_pair([&](const NcclRow& row, double before, double here) {
    if (here / before > 1.25 * least_factor && here - before > 1.25 * least_step) {
      complete_ = false;
      odd(row.line,
          fmt::format("sizes between {} and {} are missing", size_text(before), size_text(here)));
    }
  });
}

void Examination::check_average(std::optional<double> average) {
  if (!average || !complete_) return;
  double sum = 0;
  double timings = 0;
  for (const NcclRow& row : run_.rows)
    for (const auto& [half, name] : halves)
      if (row.*half) {
        sum += (row.*half)->busbw.value;
        timings += 1;
      }
  if (std::abs(sum / timings - *average) > 0.01 * *average + 0.01e9)
    odd(run_.rows.back().line,
        fmt::format("the mean busbw of the rows is {:.4g} GB/s, the footer says {:.4g}: rows are "
                    "missing or changed",
                    sum / timings * 1e-9, *average * 1e-9));
}

}  // namespace

void examine(NcclRun& run, std::optional<double> average) {
  find_ranks(run);
  Examination examination(run);
  examination.check_values();
  examination.check_rates();
  for (const auto& [half, name] : halves) examination.check_order(half, name);
  examination.check_plateau();
  examination.check_sizes();
  examination.check_average(average);
  std::stable_sort(run.oddities.begin(), run.oddities.end(),
                   [](const Oddity& a, const Oddity& b) { return a.line < b.line; });
}

}  // namespace shardlab::sim
