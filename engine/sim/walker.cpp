#include "engine/sim/walker.h"

#include <algorithm>

namespace shardlab::sim {

void CommLane::drop_first() {
  if (!calls_[first_].waited) held_.emplace_back(dropped(), calls_[first_]);
  if (++first_ < 16) return;
  std::erase_if(held_, [](const auto& each) { return each.second.waited; });
  const auto some = static_cast<std::ptrdiff_t>(first_);
  calls_.erase(calls_.begin(), calls_.begin() + some);
  posts_.erase(posts_.begin(),
               posts_.begin() + std::min(some, static_cast<std::ptrdiff_t>(posts_.size())));
  gone_ += first_;
  first_ = 0;
}

Call& CommLane::waited(std::size_t call) {
  if (call >= dropped()) return (*this)[call];
  return std::find_if(held_.begin(), held_.end(),
                      [&](const auto& each) { return each.first == call; })
      ->second;
}

int CommLane::count_post(std::size_t call) {
  if (call < gone_) return 0;
  if (posts_.size() <= call - gone_) posts_.resize(call - gone_ + 8);
  std::uint8_t& posts = posts_[call - gone_];
  posts = static_cast<std::uint8_t>(std::min(posts + 1, 255));
  return posts;
}

Walker::Walker(const RankProgram& program, PricedTrace& priced,
               const std::vector<Meeting>& meetings, std::size_t lanes, const Prices& prices,
               const Stragglers& stragglers, Timeline& timeline)
    : priced_(priced),
      meetings_(meetings),
      stragglers_(stragglers),
      timeline_(timeline),
      cursor_(program),
      lanes_(lanes),
      slowdown_(stragglers.slowdown_of(timeline.rank)),
      beside_(prices.beside_communication()),
      host_computes_(prices.host_computes()) {}

void Walker::advance() {
  for (; !cursor_.done(); cursor_.next(), ++taken_) {
    const PricedTrace::Entry& entry = priced_[cursor_.at()];
    if (entry.kind == Step::Kind::wait) {
      if (!wait(entry)) return;
    } else if (entry.kind == Step::Kind::start) {
      start(entry);
    } else {
      compute(entry);
    }
  }
  timeline_.seconds = std::max({host_, compute_, timeline_.seconds});
}

void Walker::set_times(double begin, double end) {
  if (!timeline_.kept) return;
  const Step& step = priced_.trace().steps()[cursor_.at()];
  std::uint64_t sequence = 0;
  if (step.kind == Step::Kind::start) sequence = lanes_[waits_on()].issued();
  if (step.kind == Step::Kind::wait) sequence = waits_for() + 1;
  timeline_.steps.push_back({&step, sequence, begin, end});
}

void Walker::issue(double seconds) {
  host_ += seconds;
  if (host_computes_) host_ = compute_ = std::max(host_, compute_ + seconds);
}

void Walker::compute(const PricedTrace::Entry& entry) {
  issue(entry.issue);
  if (entry.kind == Step::Kind::look) {
    set_times(host_, host_);
    return;
  }
  const double begin = std::max(host_, compute_);
  if (!host_computes_) timeline_.launch_seconds += begin - compute_;
  const double alone = entry.kernel * slowdown_ * stragglers_.noise(timeline_.rank, taken_);
  const double extra = beside_ == 1 ? 0 : communicating(begin, begin + alone) * (beside_ - 1);
  timeline_.slowed_seconds += extra;
  compute_ = begin + alone + extra;
  if (host_computes_) host_ = compute_;
  set_times(begin, compute_);
}

double Walker::communicating(double begin, double end) const {
  double most = 0;
  for (const CommLane& lane : lanes_) {
    double here = 0;
    for (std::size_t call = lane.issued(); call-- > lane.dropped();) {
      const Call& each = lane[call];
      if (each.progress == Progress::at_wait) continue;
      // What was waited for is over.
      if (each.waited || each.to <= begin) break;
      here += std::max(0.0, std::min(end, each.to) - std::max(begin, each.from));
    }
    most = std::max(most, here);
  }
  return std::min(most, end - begin);
}

void Walker::start(const PricedTrace::Entry& entry) {
  issue(entry.issue);
  CommLane& lane = lanes_[entry.lane];
  Call& call = lane.append();
  call.ready = std::max(host_, compute_);
  call.price = &priced_.call(cursor_.at(), meetings_[entry.meeting].place);
  call.alone = call.price->seconds();
  call.progress = entry.progress;
  call.meeting = entry.meeting;
  call.needs = meetings_[entry.meeting].members;
  if (call.progress == Progress::beside) {
    call.from = std::max(call.ready, lane.expected);
    lane.expected = call.to = call.from + call.alone;
  }
  call.kept_at = timeline_.steps.size();
  set_times(call.ready, call.ready);
}

bool Walker::wait(const PricedTrace::Entry& entry) {
  CommLane& lane = lanes_[entry.lane];
  const std::size_t number = lane.issued() - 1 - entry.back;
  Call& call = lane.waited(number);
  const double begin = std::max(compute_, host_computes_ ? host_ : 0);
  call.waited_for = begin;
  if (!call.ended()) return false;
  const double end = std::max(begin, call.end);
  const double late = std::clamp(call.begin - begin, 0.0, end - begin);
  timeline_.late_seconds += late;
  timeline_.transfer_seconds += end - begin - late;
  if (timeline_.kept) timeline_.waits.push_back({timeline_.steps.size(), late, end - begin - late});
  set_times(begin, end);
  compute_ = end;
  issue(entry.issue);
  if (host_computes_) host_ = std::max(host_, compute_);
  call.waited = true;
  if (call.progress == Progress::beside && call.end > call.to && number >= lane.dropped()) {
    double expected = call.end;
    for (std::size_t later = number + 1; later < lane.issued(); ++later) {
      Call& queued = lane[later];
      if (queued.progress == Progress::at_wait) continue;
      queued.from = std::max(queued.ready, expected);
      expected = queued.to = queued.from + queued.alone;
    }
    lane.expected = expected;
  }
  // Shown where it ran: from when all members were there.
  if (timeline_.kept) {
    timeline_.steps[call.kept_at].begin_seconds = call.begin;
    timeline_.steps[call.kept_at].end_seconds = call.end;
  }
  return true;
}

}  // namespace shardlab::sim
