#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/core/check.h"
#include "engine/sim/nccl_log_runs.h"

namespace shardlab::sim {
namespace {

constexpr std::array halves{&NcclRow::out_of_place, &NcclRow::in_place};
constexpr double most_countable = 1e6;

int width_of_type(std::string_view dtype) {
  for (const char* wide : {"double", "float64", "int64", "uint64"})
    if (dtype == wide) return 8;
  for (const char* name : {"float", "float32", "int32", "uint32"})
    if (dtype == name) return 4;
  for (const char* narrow : {"half", "float16", "bfloat16"})
    if (dtype == narrow) return 2;
  return has(dtype, "8") ? 1 : 0;
}

/// Values that a printed quotient may have had before rounding.
struct Between {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
};

Between ratio_of(const NcclTiming& timing) {
  Between ratio;
  ratio.low = std::max(0.0, timing.busbw.value - timing.busbw.half_step) /
              (timing.algbw.value + timing.algbw.half_step);
  const double least = timing.algbw.value - timing.algbw.half_step;
  if (least > 0) ratio.high = (timing.busbw.value + timing.busbw.half_step) / least;
  return ratio;
}

/// Ranks for which busbw is `ratio` of algbw; none where high is below low.
Between ranks_of(Between ratio, bool all_reduce) {
  const double most = all_reduce ? 2 : 1;
  Between ranks{1, std::numeric_limits<double>::infinity()};
  if (ratio.low >= most) return {1, 0};
  ranks.low = std::max(1.0, most / (most - ratio.low));
  if (ratio.high < most) ranks.high = most / (most - ratio.high);
  return ranks;
}

/// Finds out what a run was from its numbers.
class RankSearch {
 public:
  explicit RankSearch(NcclRun& run) : run_(run) {}

  void find_collective();
  void conclude();

 private:
  /// What one timing or row says about the number of ranks.
  struct Clue {
    Between ranks;
    int line;
    const char* by;
  };

  void collect_ranks();
  void intersect_ranks();
  [[nodiscard]] std::string rank_text() const;
  void odd(int line, std::string text) { note(run_.oddities, line, std::move(text)); }
  void suspect(Symptom symptom, int line, std::string text) {
    run_.suspicions.push_back({symptom, line, std::move(text)});
  }

  NcclRun& run_;
  std::vector<Clue> clues_;
  bool in_parts_ = false;  ///< Each rank has a part of the size, whatever the collective is.
};

void RankSearch::find_collective() {
  // The row with the most digits shows the ratio best.
  const NcclTiming* best = nullptr;
  bool only_out_of_place_checked = false;
  double parts = 0;
  for (const NcclRow& row : run_.rows)
    for (const auto half : halves)
      if (row.*half && (best == nullptr || (row.*half)->busbw.value > best->busbw.value)) {
        best = &*(row.*half);
        only_out_of_place_checked =
            row.out_of_place && row.out_of_place->wrong && row.in_place && !row.in_place->wrong;
        const double part = static_cast<double>(row.count) * width_of_type(run_.dtype);
        parts = part > 0 ? static_cast<double>(row.bytes) / part : 0;
      }
  const Between ratio = best == nullptr ? Between() : ratio_of(*best);
  const bool alone = parts <= 1.5 && ratio.high < 0.4;
  in_parts_ = run_.collective.empty() ? parts > 1.5 || ratio.high < 1
                                      : bus_factor(run_.collective, 2) == 0.5;
  if (!run_.collective.empty()) return;
  if (alone || ratio.high > 2.1 || (ratio.low < 1 && ratio.high > 1.1)) {
    odd(run_.line, "which collective this is cannot be told from the numbers");
  } else if (in_parts_ && !run_.redop.empty()) {
    run_.collective = "reduce_scatter";
  } else if (in_parts_ && run_.root >= 0) {
    odd(run_.line, "this may be a gather or a scatter");
  } else if (in_parts_ && only_out_of_place_checked) {
    run_.collective = "all_to_all";
  } else if (in_parts_) {
    odd(run_.line, "this may be an all_gather or an all_to_all");
  } else if (ratio.low > 1) {
    run_.collective = "all_reduce";
  } else if (run_.root >= 0) {
    run_.collective = run_.redop.empty() ? "broadcast" : "reduce";
  } else if (only_out_of_place_checked) {
    run_.collective = "send_recv";
  } else {
    odd(run_.line, "this may be an all_reduce of two ranks or a send_recv");
  }
}

void RankSearch::collect_ranks() {
  const bool all_reduce = run_.collective == "all_reduce";
  const int width = width_of_type(run_.dtype);
  for (const NcclRow& row : run_.rows) {
    if (all_reduce || in_parts_)
      for (const auto half : halves)
        if (row.*half && (row.*half)->algbw.value > 0)
          clues_.push_back({ranks_of(ratio_of(*(row.*half)), all_reduce), row.line, "busbw/algbw"});
    if (in_parts_ && width > 0 && row.count > 0 && row.bytes > 0) {
      const double elements = static_cast<double>(row.bytes) / width;
      const auto count = static_cast<double>(row.count);
      clues_.push_back({{elements / (count + 1), elements / count}, row.line, "size by count"});
    }
  }
  for (Clue& clue : clues_)
    clue.ranks = {std::ceil(clue.ranks.low - 1e-9), std::floor(clue.ranks.high + 1e-9)};
}

/// The numbers of ranks that most clues allow; a few clues may be mangled rows.
void RankSearch::intersect_ranks() {
  std::vector<std::pair<double, int>> ends;
  for (const Clue& clue : clues_)
    if (clue.ranks.low <= clue.ranks.high) {
      ends.emplace_back(clue.ranks.low, -1);
      ends.emplace_back(clue.ranks.high, 1);
    }
  std::sort(ends.begin(), ends.end());
  std::size_t open = 0;
  std::size_t agreed = 0;
  Between ranks{1, most_countable};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    open = ends[i].second < 0 ? open + 1 : open - 1;
    if (open <= agreed) continue;
    agreed = open;
    ranks = {ends[i].first, ends[i + 1].first};
  }
  if (agreed > 0 && (ranks.low > 1 || ranks.high < most_countable)) {
    run_.least_ranks = static_cast<int>(std::min(ranks.low, most_countable));
    run_.most_ranks = static_cast<int>(std::min(ranks.high, most_countable));
  }
  const std::size_t against = clues_.size() - agreed;
  if (against == 0) return;
  const auto first = std::find_if(clues_.begin(), clues_.end(), [&](const Clue& clue) {
    return clue.ranks.low > ranks.low || clue.ranks.high < ranks.high;
  });
  std::string text = fmt::format("{} of {} ratios do not fit {} ranks, the first is {} here",
                                 against, clues_.size(), rank_text(), first->by);
  if (4 * against > clues_.size())
    suspect(Symptom::mixed_rows, first->line, std::move(text));
  else
    odd(first->line, std::move(text));
}

std::string RankSearch::rank_text() const {
  if (run_.least_ranks == 0) return "any number of";
  if (run_.least_ranks == run_.most_ranks) return fmt::format("{}", run_.most_ranks);
  return fmt::format("{} to {}", run_.least_ranks, run_.most_ranks);
}

void RankSearch::conclude() {
  collect_ranks();
  if (!clues_.empty()) intersect_ranks();
  const int listed = run_.listed_ranks;
  const bool told = run_.least_ranks > 0;
  if (run_.most_ranks == 1) {
    suspect(Symptom::one_rank, run_.line, "one rank: nothing was sent (built without MPI?)");
  } else if (listed > 0 && !run_.may_have_ranks(listed)) {
    suspect(Symptom::wrong_ranks, run_.line,
            fmt::format("the header lists {} ranks, but the numbers show {}", listed, rank_text()));
  }
  if (told && run_.least_ranks == run_.most_ranks)
    run_.ranks = run_.least_ranks;
  else if (listed > 0 && run_.may_have_ranks(listed))
    run_.ranks = listed;
  else
    odd(run_.line, told ? fmt::format("the numbers fit {} ranks", rank_text())
                        : "the number of ranks cannot be told from the numbers");
}

}  // namespace

void find_ranks(NcclRun& run) {
  RankSearch search(run);
  search.find_collective();
  search.conclude();
}

}  // namespace shardlab::sim
