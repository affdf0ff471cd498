#include "engine/comm/thread/crew.h"

#include <thread>

namespace shardlab::thread {

void Crew::abort(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    if (!aborted()) reason_ = text;
    aborted_.store(true);
  }
  ring_all();
}

std::string Crew::reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

void Crew::leave(int rank) {
  seat(rank).presence.store(Presence::left);
  ring_all();
}

void Crew::withdraw(int rank) {
  // Whoever looks at `presence` after this store keeps off; whoever looked before is waited for.
  Presence expected = Presence::present;
  seat(rank).presence.compare_exchange_strong(expected, Presence::withdrawn);
  for (const Seat& other : seats_)
    while (&other != &seat(rank) && other.touching.load()) std::this_thread::yield();
}

void Crew::ring_all() {
  for (Seat& seat : seats_) seat.bell.ring();
}

}  // namespace shardlab::thread
