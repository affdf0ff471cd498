#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "engine/comm/thread/bell.h"

namespace shardlab {
class ThreadCommunicator;
}

namespace shardlab::thread {

/// Whether the memory that a rank lent may be used.
enum class Presence { present, withdrawn, left };

/// One rank of a launch, as others see it.
struct alignas(64) Seat {
  std::atomic<Presence> presence{Presence::present};
  /// Whether it reads or writes the memory of others now.
  std::atomic<bool> touching{false};
  Bell bell;
  /// Its communicators; used by its own thread only.
  std::vector<ThreadCommunicator*> open;
};

/// The ranks of one launch and how they end.
class Crew {
 public:
  Crew(int ranks, std::chrono::milliseconds deadline)
      : deadline_(deadline), manners_(manners_for(ranks)), seats_(ranks) {}

  [[nodiscard]] Seat& seat(int rank) { return seats_[rank]; }
  [[nodiscard]] std::chrono::milliseconds deadline() const { return deadline_; }
  [[nodiscard]] Manners manners() const { return manners_; }

  /// Ends every wait; the first text is kept.
  void abort(const std::string& text);
  [[nodiscard]] bool aborted() const { return aborted_.load(); }
  [[nodiscard]] std::string reason() const;

  /// Ends the waits for this rank.
  void leave(int rank);

  /// Takes back the memory that a rank lent: returns once no other rank uses it, for ever.
  void withdraw(int rank);

 private:
  void ring_all();

  std::chrono::milliseconds deadline_;
  Manners manners_;
  std::vector<Seat> seats_;
  mutable std::mutex mutex_;
  std::string reason_;
  std::atomic<bool> aborted_{false};
};

/// While it lives, memory of these ranks may be used, unless one has withdrawn.
class Touch {
 public:
  Touch(Crew& crew, int rank) : touching_(crew.seat(rank).touching) { touching_.store(true); }
  Touch(const Touch&) = delete;
  Touch& operator=(const Touch&) = delete;
  ~Touch() { touching_.store(false); }

 private:
  std::atomic<bool>& touching_;
};

}  // namespace shardlab::thread
