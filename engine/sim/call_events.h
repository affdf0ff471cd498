#pragma once

#include <map>
#include <queue>
#include <vector>

#include "engine/sim/walker.h"
#include "engine/sim/wire_shares.h"

namespace shardlab::sim {

/// Begins and ends the calls of all classes in the order of their times.
///
/// Where no rank has calls of two communicators under way, no call can stretch another and each
/// end follows from its members' posts alone; then nothing is put in order.
class CallEvents {
 public:
  CallEvents(const TimeClasses& classes, const std::vector<AxisList>& lanes,
             std::vector<Walker>& walkers, std::vector<Timeline>& timelines, bool shared);

  /// Errors   Error{invalid} naming a call that its members never all start.
  void run();

 private:
  /// A collective that some members have posted, or wait for with Progress::at_wait.
  struct Gathering {
    std::size_t members = 0;
    double last = 0;
    CallPrice price;
  };
  /// A call between its begin and its end.
  struct Running {
    int member = 0;  ///< Exchange: its class; collective: one of them.
    int lane = 0;
    std::size_t call = 0;
    int party = -1;  ///< Collective.
    CallPrice price;
    double begin = 0;
    double end = 0;
  };
  enum class Kind : std::uint8_t { post, move, end };
  struct Event {
    double time = 0;
    Kind kind = Kind::post;
    int number = 0;  ///< Post: the class; else the running call.
    int lane = 0;
    bool operator>(const Event& other) const { return time > other.time; }
  };

  void settle();
  void queue_posts(int c, int lane);
  void post(int c, int lane, double time);
  void look_at_exchange(int c, int lane, std::size_t call);
  void begin(const Running& running);
  void finish(const Running& running);
  void set_end(int c, int lane, std::size_t call, const Running& running);
  void end_at_wait(int c);
  void drop(int c, int lane);
  void handle(const Event& event);
  [[nodiscard]] bool is_waiting_for(int c, int lane, std::size_t call) const;
  [[nodiscard]] const Meeting& meeting_of(int c, const Call& call) const {
    return walkers_[c].meeting(call.meeting);
  }

  const TimeClasses& classes_;
  std::vector<Walker>& walkers_;
  std::vector<Timeline>& timelines_;
  int lanes_;
  bool shared_;
  std::vector<std::vector<std::vector<int>>>
      watchers_;  ///< Class, lane: whose exchanges look at it.
  std::vector<std::map<std::size_t, Gathering>> gatherings_;  ///< Party, call.
  WireShares shares_;
  std::vector<Running> running_;
  std::vector<int> free_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<int> ready_;     ///< Classes that may go on.
  std::vector<Running> over_;  ///< Calls whose end is known and not yet told.
};

}  // namespace shardlab::sim
