#include "engine/sim/simulate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/core/check.h"
#include "engine/core/split.h"

namespace shardlab::sim {
namespace {

/// One started call of one class.
struct Posted {
  double data_ready = 0;  ///< Issued, and what it reads is computed.
  double price = 0;
  double begin = 0;
  double end = 0;
  double waited_for = -1;  ///< When this rank began to wait, once it does.
  Progress progress = Progress::beside;
  bool ended = false;  ///< Its end is known.
  std::size_t step = 0;
  const Meeting* meeting = nullptr;
};

/// The calls of one class on one communicator, in order.
struct CommLane {
  AxisList axes;
  std::vector<Posted> posted;
  std::size_t resolved = 0;  ///< Calls before this one no longer hold up the lane.

  /// When a call that runs beside kernels may begin: after the last such call before it.
  [[nodiscard]] double post(std::size_t call) const {
    double free = 0;
    for (std::size_t before = call; before-- > 0;) {
      if (posted[before].progress != Progress::beside) continue;
      free = posted[before].end;
      break;
    }
    return std::max(posted[call].data_ready, free);
  }
};

/// A class on its way through its trace.
class Walker {
 public:
  Walker(const std::vector<Step>& steps, const std::vector<Meeting>& meetings, const Prices& prices,
         const Stragglers& stragglers, Timeline& timeline)
      : steps_(steps),
        meetings_(meetings),
        prices_(prices),
        stragglers_(stragglers),
        slowdown_(stragglers.slowdown_of(timeline.rank)),
        timeline_(timeline) {
    timeline_.steps = steps;
  }

  [[nodiscard]] bool done() const { return next_ == steps_.size(); }
  [[nodiscard]] const Step& at() const { return steps_[next_]; }

  [[nodiscard]] CommLane& lane(const AxisList& axes) {
    for (CommLane& lane : lanes_)
      if (lane.axes == axes) return lane;
    lanes_.push_back({axes, {}, 0});
    return lanes_.back();
  }

  [[nodiscard]] std::vector<CommLane>& lanes() { return lanes_; }

  /// Runs until a wait whose end is not known; says whether anything ran.
  bool advance() {
    const std::size_t from = next_;
    for (; !done(); ++next_) {
      const Step& step = at();
      if (step.kind == Step::Kind::wait) {
        if (!wait(step)) break;
      } else if (step.kind == Step::Kind::start) {
        start(step);
      } else {
        compute(step);
      }
    }
    if (done()) timeline_.seconds = std::max({host_, compute_, timeline_.seconds});
    return next_ != from;
  }

 private:
  void set_times(double begin, double end) {
    timeline_.steps[next_].begin_seconds = begin;
    timeline_.steps[next_].end_seconds = end;
  }

  void issue(const Step& step) {
    const double seconds = prices_.issue(step);
    host_ += seconds;
    if (prices_.host_computes()) host_ = compute_ = std::max(host_, compute_ + seconds);
  }

  void compute(const Step& step) {
    issue(step);
    if (step.kind == Step::Kind::look) {
      set_times(host_, host_);
      return;
    }
    const double begin = std::max(host_, compute_);
    if (!prices_.host_computes()) timeline_.launch_seconds += begin - compute_;
    const double alone =
        prices_.kernel(step) * slowdown_ * stragglers_.noise(timeline_.rank, next_);
    const double beside = communicating(begin, begin + alone);
    const double extra = beside * (prices_.beside_communication() - 1);
    timeline_.slowed_seconds += extra;
    compute_ = begin + alone + extra;
    if (prices_.host_computes()) host_ = compute_;
    set_times(begin, compute_);
  }

  /// Seconds between two times in which some call is under way, as far as is known by now.
  [[nodiscard]] double communicating(double begin, double end) const {
    if (prices_.beside_communication() == 1) return 0;
    double most = 0;
    for (const CommLane& lane : lanes_) {
      double here = 0;
      for (std::size_t call = lane.posted.size(); call-- > 0;) {
        const Posted& posted = lane.posted[call];
        if (posted.progress == Progress::at_wait) continue;
        const bool known = posted.ended;
        const double from = known ? posted.begin : posted.data_ready;
        const double to = known ? posted.end : posted.data_ready + posted.price;
        if (to <= begin) break;
        here += std::max(0.0, std::min(end, to) - std::max(begin, from));
      }
      most = std::max(most, here);
    }
    return std::min(most, end - begin);
  }

  void start(const Step& step) {
    issue(step);
    const auto found = std::find_if(meetings_.begin(), meetings_.end(), [&](const Meeting& m) {
      return m.axes == step.axes && m.relative_peer == step.relative_peer;
    });
    Posted posted;
    posted.data_ready = std::max(host_, compute_);
    posted.price = prices_.communication(step, found->place);
    posted.progress = prices_.progress(step);
    posted.step = next_;
    posted.meeting = &*found;
    lane(step.axes).posted.push_back(posted);
    set_times(posted.data_ready, posted.data_ready);
  }

  bool wait(const Step& step) {
    CommLane& its = lane(step.axes);
    const std::size_t call = step.sequence - 1;
    check(call < its.posted.size(), "simulate: wait for call {} over {} axes that never started",
          step.sequence, step.axes.size());
    Posted& posted = its.posted[call];
    const double begin = std::max(compute_, prices_.host_computes() ? host_ : 0);
    posted.waited_for = begin;
    if (!posted.ended) return false;
    const double end = std::max(begin, posted.end);
    const double late = std::clamp(posted.begin - begin, 0.0, end - begin);
    timeline_.waits.push_back({next_, late, end - begin - late});
    set_times(begin, end);
    compute_ = end;
    issue(step);
    if (prices_.host_computes()) host_ = std::max(host_, compute_);
    // Shown where it ran: from when all members were there.
    timeline_.steps[posted.step].begin_seconds = posted.begin;
    timeline_.steps[posted.step].end_seconds = posted.end;
    return true;
  }

  const std::vector<Step>& steps_;
  const std::vector<Meeting>& meetings_;
  const Prices& prices_;
  const Stragglers& stragglers_;
  double slowdown_;
  Timeline& timeline_;
  std::size_t next_ = 0;
  double host_ = 0;
  double compute_ = 0;
  std::vector<CommLane> lanes_;
};

class Simulation {
 public:
  explicit Simulation(std::vector<Walker>& walkers) : walkers_(walkers) {}

  void run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t w = 0; w < walkers_.size(); ++w) {
        while (walkers_[w].advance() | resolve(static_cast<int>(w))) moved = true;
      }
    }
    for (const Walker& walker : walkers_)
      if (!walker.done())
        fail(Fault::invalid, "simulate: {} number {} never has all its members", walker.at().op,
             walker.at().sequence);
  }

 private:
  /// Ends what can be ended of a class's calls.
  bool resolve(int w) {
    bool any = false;
    for (CommLane& lane : walkers_[w].lanes()) {
      while (lane.resolved < lane.posted.size()) {
        // What a rank moves itself runs on no lane.
        Posted& next = lane.posted[lane.resolved];
        if (next.progress == Progress::beside) {
          if (!end_call(lane, lane.resolved)) break;
          next.ended = true;
          any = true;
        }
        ++lane.resolved;
      }
    }
    // A rank that moves data itself may wait for its calls in any order.
    Walker& walker = walkers_[w];
    if (walker.done() || walker.at().kind != Step::Kind::wait) return any;
    CommLane& lane = walker.lane(walker.at().axes);
    const std::size_t call = walker.at().sequence - 1;
    if (call >= lane.posted.size()) return any;
    Posted& waited = lane.posted[call];
    if (waited.ended || waited.progress != Progress::at_wait || !end_call(lane, call)) return any;
    waited.ended = true;
    return true;
  }

  bool end_call(CommLane& lane, std::size_t call) {
    Posted& mine = lane.posted[call];
    const bool at_wait = mine.progress == Progress::at_wait;
    if (at_wait && mine.waited_for < 0) return false;
    double begin = at_wait ? mine.waited_for : 0;
    double price = mine.price;
    for (const int member : mine.meeting->classes) {
      CommLane& its = walkers_[member].lane(lane.axes);
      if (its.posted.size() <= call || (!at_wait && its.resolved < call)) return false;
      const Posted& theirs = its.posted[call];
      if (!at_wait) {
        begin = std::max(begin, its.post(call));
        price = std::max(price, theirs.price);
      } else if (mine.meeting->relative_peer == 0) {
        // Members of a collective read what the others made in their own waits.
        if (theirs.waited_for < 0) return false;
        begin = std::max(begin, theirs.waited_for);
      } else {
        begin = std::max(begin, theirs.data_ready);
      }
    }
    mine.begin = begin;
    mine.end = begin + price;
    return true;
  }

  std::vector<Walker>& walkers_;
};

}  // namespace

double Stragglers::slowdown_of(int rank) const {
  const auto found = slowdown.find(rank);
  return found == slowdown.end() ? 1 : found->second;
}

double Stragglers::noise(int rank, std::size_t step) const {
  if (jitter == 0) return 1;
  std::uint64_t bits =
      hash_join(hash_join(hash_join(hash_start, seed), step), static_cast<std::uint64_t>(rank));
  bits = (bits ^ bits >> 31U) * 0xBF58476D1CE4E5B9ULL;
  bits ^= bits >> 29U;
  // Four uniform numbers add up to nearly a normal one, of variance 4 / 12.
  double sum = 0;
  for (int i = 0; i < 4; ++i, bits >>= 16U) sum += static_cast<double>(bits & 0xFFFFU) / 0xFFFF;
  return std::exp(jitter * (sum - 2) / std::sqrt(4.0 / 12));
}

std::vector<int> Stragglers::colours(int ranks) const {
  std::vector<int> colours;
  if (jitter == 0 && slowdown.empty()) return colours;
  colours.assign(static_cast<std::size_t>(ranks), 0);
  int next = 1;
  for (const auto& [rank, factor] : slowdown) {
    check(rank >= 0 && rank < ranks, "slow rank {}: there are {}", rank, ranks);
    check(factor > 0, "slow rank {}: a factor of {}", rank, factor);
    colours[rank] = next++;
  }
  if (jitter != 0) std::iota(colours.begin(), colours.end(), 0);
  return colours;
}

Simulated simulate(const Placement& placement, std::span<const int> trace_class,
                   std::span<const Trace* const> traces, const Prices& prices,
                   const Stragglers& stragglers) {
  Simulated simulated;
  simulated.classes =
      time_classes(placement, trace_class, traces, stragglers.colours(placement.mesh().size()));
  const TimeClasses& classes = simulated.classes;
  simulated.timelines.resize(classes.representative.size());
  std::vector<Walker> walkers;
  walkers.reserve(simulated.timelines.size());
  for (std::size_t c = 0; c < simulated.timelines.size(); ++c) {
    const int rank = classes.representative[c];
    Timeline& timeline = simulated.timelines[c];
    timeline.rank = rank;
    timeline.members = classes.members[c];
    walkers.emplace_back(traces[trace_class[rank]]->steps(), classes.meetings[c], prices,
                         stragglers, timeline);
  }
  Simulation(walkers).run();
  for (const Timeline& timeline : simulated.timelines)
    simulated.seconds = std::max(simulated.seconds, timeline.seconds);
  return simulated;
}

}  // namespace shardlab::sim
