#include "engine/sim/call_events.h"

#include <algorithm>

#include "engine/core/check.h"

namespace shardlab::sim {

CallEvents::CallEvents(const TimeClasses& classes, const std::vector<AxisList>& lanes,
                       std::vector<Walker>& walkers, std::vector<Timeline>& timelines, bool shared)
    : classes_(classes),
      walkers_(walkers),
      timelines_(timelines),
      lanes_(static_cast<int>(lanes.size())),
      shared_(shared),
      watchers_(walkers.size(), std::vector<std::vector<int>>(lanes.size())),
      gatherings_(classes.parties.size()),
      shares_(walkers.size()) {
  for (std::size_t c = 0; c < walkers.size(); ++c)
    for (const Meeting& meeting : classes.meetings[c]) {
      if (meeting.relative_peer == 0) continue;
      const auto lane = std::find(lanes.begin(), lanes.end(), meeting.axes) - lanes.begin();
      for (const int member : classes.parties[meeting.party]) {
        std::vector<int>& watch = watchers_[member][lane];
        if (std::find(watch.begin(), watch.end(), static_cast<int>(c)) == watch.end())
          watch.push_back(static_cast<int>(c));
      }
    }
}

void CallEvents::run() {
  for (std::size_t c = walkers_.size(); c-- > 0;) ready_.push_back(static_cast<int>(c));
  settle();
  while (!events_.empty()) {
    const double now = events_.top().time;
    while (!events_.empty() && events_.top().time == now) {
      const Event event = events_.top();
      events_.pop();
      handle(event);
    }
    for (const auto& [number, end] : shares_.update(now)) {
      running_[number].end = end;
      events_.push({end, Kind::end, number, 0});
    }
    // Ranks go on when all that happens now has happened.
    if (events_.empty() || events_.top().time != now) settle();
  }
  for (const Walker& walker : walkers_)
    if (!walker.done())
      fail(Fault::invalid, "simulate: {} number {} never has all its members", walker.at().op,
           walker.waits_for() + 1);
}

void CallEvents::handle(const Event& event) {
  if (event.kind == Kind::post) {
    post(event.number, event.lane, event.time);
    return;
  }
  const Running& running = running_[event.number];
  if (event.kind == Kind::move) {
    const std::vector<int> own{running.member};
    shares_.begin(event.number, running.party < 0 ? own : classes_.parties[running.party],
                  running.price, event.time);
    return;
  }
  // Of two ends that a call was given, the later word holds.
  if (event.time != running.end) return;
  shares_.end(event.number);
  free_.push_back(event.number);
  const Running ended = running;
  running_[event.number].end = -1;
  finish(ended);
}

void CallEvents::settle() {
  while (!over_.empty() || !ready_.empty()) {
    if (!over_.empty()) {
      const Running ended = over_.back();
      over_.pop_back();
      finish(ended);
      continue;
    }
    const int c = ready_.back();
    ready_.pop_back();
    walkers_[c].advance();
    for (int lane = 0; lane < lanes_; ++lane) queue_posts(c, lane);
    if (!walkers_[c].done()) end_at_wait(c);
  }
}

void CallEvents::queue_posts(int c, int number) {
  CommLane& lane = walkers_[c].lane(number);
  drop(c, number);
  for (; lane.announced < lane.issued(); ++lane.announced) {
    if (lane[lane.announced].progress != Progress::at_wait) continue;
    for (const int watcher : watchers_[c][number])
      if (watcher != c && is_waiting_for(watcher, number, lane.announced))
        ready_.push_back(watcher);
  }
  if (lane.busy) return;
  while (lane.next_post < lane.issued() && lane[lane.next_post].progress == Progress::at_wait)
    ++lane.next_post;
  if (lane.next_post == lane.issued()) return;
  lane.busy = true;
  const double time = std::max(lane[lane.next_post].ready, lane.free);
  if (shared_)
    events_.push({time, Kind::post, c, number});
  else
    post(c, number, time);
}

void CallEvents::post(int c, int number, double time) {
  CommLane& lane = walkers_[c].lane(number);
  const std::size_t call = lane.next_post++;
  lane[call].post = time;
  const Meeting& meeting = meeting_of(c, lane[call]);
  if (meeting.relative_peer == 0) {
    const auto at = gatherings_[meeting.party].try_emplace(call).first;
    Gathering& all = at->second;
    all.last = std::max(all.last, time);
    if (all.members == 0 || lane[call].alone > all.price.seconds()) all.price = *lane[call].price;
    if (++all.members < classes_.parties[meeting.party].size()) return;
    begin({c, number, call, meeting.party, all.price, all.last, 0});
    gatherings_[meeting.party].erase(at);
    return;
  }
  for (const int watcher : watchers_[c][number]) {
    CommLane& its = walkers_[watcher].lane(number);
    const int posts = its.count_post(call);
    // Most posts are not the last that an exchange needs.
    if (its.knows(call) && posts >= std::min(its[call].needs, 255))
      look_at_exchange(watcher, number, call);
  }
}

void CallEvents::look_at_exchange(int c, int number, std::size_t call) {
  CommLane& lane = walkers_[c].lane(number);
  if (!lane.knows(call)) return;
  Call& mine = lane[call];
  const Meeting& meeting = meeting_of(c, mine);
  if (mine.begin >= 0 || meeting.relative_peer == 0 || mine.progress == Progress::at_wait) return;
  Running running{c, number, call, -1, {}, 0, 0};
  const Call* longest = &mine;
  for (const int member : classes_.parties[meeting.party]) {
    const CommLane& its = walkers_[member].lane(number);
    if (!its.knows(call) || its[call].post < 0) return;
    running.begin = std::max(running.begin, its[call].post);
    if (its[call].alone > longest->alone) longest = &its[call];
  }
  running.price = *longest->price;
  mine.begin = running.begin;
  for (const int member : classes_.parties[meeting.party])
    ++walkers_[member].lane(number)[call].seen_by;
  begin(running);
}

void CallEvents::begin(const Running& running) {
  if (!shared_) {
    Running alone = running;
    alone.end = running.begin + running.price.seconds();
    over_.push_back(alone);
    return;
  }
  int number = static_cast<int>(running_.size());
  if (free_.empty()) {
    running_.push_back(running);
  } else {
    number = free_.back();
    free_.pop_back();
    running_[number] = running;
  }
  events_.push({running.begin + running.price.latency, Kind::move, number, 0});
}

void CallEvents::finish(const Running& running) {
  if (running.party < 0) {
    set_end(running.member, running.lane, running.call, running);
    return;
  }
  for (const int member : classes_.parties[running.party])
    set_end(member, running.lane, running.call, running);
}

void CallEvents::set_end(int c, int number, std::size_t call, const Running& running) {
  CommLane& lane = walkers_[c].lane(number);
  Call& mine = lane[call];
  mine.begin = running.begin;
  mine.end = running.end;
  if (mine.progress == Progress::beside) {
    lane.busy = false;
    lane.free = running.end;
    timelines_[c].shared_seconds +=
        std::max(0.0, running.end - running.begin - running.price.seconds());
  }
  if (is_waiting_for(c, number, call)) ready_.push_back(c);
  queue_posts(c, number);
}

bool CallEvents::is_waiting_for(int c, int number, std::size_t call) const {
  const Walker& walker = walkers_[c];
  return !walker.done() && walker.at().kind == Step::Kind::wait && walker.waits_on() == number &&
         walker.waits_for() == call;
}

void CallEvents::end_at_wait(int c) {
  Walker& walker = walkers_[c];
  const int number = walker.waits_on();
  const std::size_t call = walker.waits_for();
  Call& mine = walker.lane(number).waited(call);
  if (mine.ended() || mine.progress != Progress::at_wait) return;
  const Meeting& meeting = meeting_of(c, mine);
  const std::vector<int>& members = classes_.parties[meeting.party];
  Running running{c, number, call, -1, *mine.price, mine.waited_for, 0};
  if (meeting.relative_peer == 0) {
    // Members of a collective read what the others made in their own waits.
    if (mine.post >= 0) return;
    mine.post = mine.waited_for;
    const auto at = gatherings_[meeting.party].try_emplace(call).first;
    Gathering& all = at->second;
    all.last = std::max(all.last, mine.waited_for);
    if (++all.members < members.size()) return;
    running.begin = all.last;
    for (const int member : members) {
      running.end = running.begin + walkers_[member].lane(number)[call].alone;
      set_end(member, number, call, running);
    }
    gatherings_[meeting.party].erase(at);
    return;
  }
  for (const int member : members) {
    const CommLane& its = walkers_[member].lane(number);
    if (!its.knows(call)) return;
    running.begin = std::max(running.begin, its[call].ready);
  }
  for (const int member : members) ++walkers_[member].lane(number)[call].seen_by;
  running.end = running.begin + running.price.seconds();
  set_end(c, number, call, running);
}

void CallEvents::drop(int c, int number) {
  CommLane& lane = walkers_[c].lane(number);
  const auto watchers = static_cast<int>(watchers_[c][number].size());
  while (lane.issued() > lane.dropped() + 4) {
    const Call& first = lane[lane.dropped()];
    const bool seen = first.seen_by == watchers || meeting_of(c, first).relative_peer == 0;
    if (!first.ended() || !seen) return;
    lane.drop_first();
  }
}

}  // namespace shardlab::sim
