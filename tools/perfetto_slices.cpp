#include "tools/perfetto_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <tuple>

namespace shardlab {
namespace {

constexpr std::string_view wait_mark = "wait ";
constexpr const char* compute_thread = "compute";
constexpr const char* host_thread = "host";

class RankBuilder {
 public:
  RankBuilder(const std::vector<const results::Scope*>& scopes, double zero) : zero_(zero) {
    for (const results::Scope* scope : scopes) scopes_[{scope->iteration, scope->ordinal}] = scope;
  }

  void add(const results::Step& step) {
    const bool on_comm = step.lane.starts_with("comm");
    if (on_comm && step.op.starts_with(wait_mark))
      add_wait(step);
    else if (on_comm)
      add_start(step);
    else
      add_op(step);
  }

  RankSlices finish() {
    close_to(0);
    return std::move(rank_);
  }

 private:
  using Path = std::vector<std::string>;

  [[nodiscard]] Nanoseconds at(double seconds) const {
    return std::llround((seconds - zero_) * 1e9);
  }

  std::size_t push(const results::Step& step, const char* thread, const char* category) {
    rank_.slices.push_back({thread, step.op, category, at(step.begin_seconds),
                            std::max(at(step.begin_seconds), at(step.end_seconds)), &step});
    return rank_.slices.size() - 1;
  }

  void add_op(const results::Step& step) {
    const Nanoseconds begin = at(step.begin_seconds);
    const bool behind_device = begin < busy_until_ && at(step.end_seconds) < busy_until_;
    if (step.lane != compute_thread || behind_device) {
      push(step, step.lane == compute_thread ? host_thread : step.lane.c_str(), "op");
      return;
    }
    enter(step);
    note_time(rank_.slices[push(step, compute_thread, "op")], step);
    for (const std::size_t open : open_) {
      rank_.slices[open].begin = std::min(rank_.slices[open].begin, begin);
      rank_.slices[open].end = busy_until_;
    }
  }

  void add_start(const results::Step& step) {
    pending_[key_of(step, step.op)].push_back(push(step, step.lane.c_str(), "communication"));
    note_level(busy_until_, step.live_bytes);
  }

  void add_wait(const results::Step& step) {
    const std::size_t wait = push(step, compute_thread, "wait");
    note_time(rank_.slices[wait], step);
    auto& starts = pending_[key_of(step, step.op.substr(wait_mark.size()))];
    if (starts.empty()) return;
    rank_.arrows.push_back({starts.front(), wait});
    starts.pop_front();
  }

  void note_time(const Slice& slice, const results::Step& step) {
    busy_until_ = std::max(busy_until_, slice.end);
    note_level(busy_until_, step.live_bytes);
  }

  void note_level(Nanoseconds when, std::int64_t bytes) {
    if (rank_.levels.empty() || rank_.levels.back().bytes != bytes)
      rank_.levels.push_back({when, bytes});
  }

  /// Closes and opens scopes until those of a step are open.
  void enter(const results::Step& step) {
    Path path{fmt::format("iteration {}", step.iteration)};
    const std::string name = scope_of(step);
    for (std::size_t begin = 0; begin < name.size();) {
      const std::size_t dot = std::min(name.find('.', begin), name.size());
      path.push_back(name.substr(begin, dot - begin));
      begin = dot + 1;
    }
    std::size_t common = 0;
    while (common < path.size() && common < path_.size() && path[common] == path_[common]) ++common;
    close_to(common);
    const Nanoseconds begin = at(step.begin_seconds);
    for (std::size_t i = common; i < path.size(); ++i) {
      open_.push_back(rank_.slices.size());
      rank_.slices.push_back({compute_thread, path[i], "scope", begin, begin, nullptr});
    }
    path_ = std::move(path);
  }

  void close_to(std::size_t depth) {
    open_.resize(depth);
    path_.resize(depth);
  }

  [[nodiscard]] std::string scope_of(const results::Step& step) const {
    std::string name;
    std::optional<std::int64_t> ordinal = step.scope;
    while (ordinal) {
      const auto found = scopes_.find({step.iteration, *ordinal});
      if (found == scopes_.end()) break;
      name = found->second->name + (name.empty() ? "" : "." + name);
      ordinal = found->second->parent;
    }
    return name;
  }

  using Key = std::tuple<std::int64_t, std::string, std::string, std::string, std::string>;

  /// A start and its wait have one detail, which ends in the number of the call.
  [[nodiscard]] Key key_of(const results::Step& step, const std::string& op) const {
    return {step.iteration, step.lane, op, step.detail, scope_of(step)};
  }

  double zero_;
  RankSlices rank_;
  std::map<std::pair<std::int64_t, std::int64_t>, const results::Scope*> scopes_;
  Path path_;
  std::vector<std::size_t> open_;
  std::map<Key, std::deque<std::size_t>> pending_;
  Nanoseconds busy_until_ = 0;
};

}  // namespace

RankSlices slices_of(const std::vector<const results::Step*>& steps,
                     const std::vector<const results::Scope*>& scopes, double zero_seconds) {
  RankBuilder builder(scopes, zero_seconds);
  for (const results::Step* step : steps) builder.add(*step);
  return builder.finish();
}

std::vector<std::size_t> outer_first(const std::vector<Slice>& slices) {
  std::vector<std::size_t> order(slices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return slices[a].begin != slices[b].begin ? slices[a].begin < slices[b].begin
                                              : slices[a].end > slices[b].end;
  });
  return order;
}

void part_overlaps(std::vector<Slice>& slices) {
  // Of each thread and the ones beside it: the ends of the slices that are open.
  std::map<std::string, std::vector<std::vector<Nanoseconds>>> threads;
  for (const std::size_t i : outer_first(slices)) {
    Slice& slice = slices[i];
    auto& beside = threads[slice.thread];
    std::size_t number = 0;
    for (;; ++number) {
      if (number == beside.size()) beside.emplace_back();
      std::vector<Nanoseconds>& open = beside[number];
      while (!open.empty() && open.back() <= slice.begin) open.pop_back();
      if (open.empty() || slice.end <= open.back()) break;
    }
    beside[number].push_back(slice.end);
    if (number > 0) slice.thread += fmt::format(" ({})", number + 1);
  }
}

}  // namespace shardlab
