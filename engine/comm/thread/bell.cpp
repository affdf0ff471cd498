#include "engine/comm/thread/bell.h"

#include <sched.h>

#include <thread>

namespace shardlab::thread {
namespace {

void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

void Bell::arm() {
  {
    const std::lock_guard lock(mutex_);
    rung_ = false;
  }
  armed_.store(true);
}

void Bell::wake() {
  {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    armed_.store(false);
  }
  woken_.notify_one();
}

bool Bell::sleep_until(Clock::time_point end) {
  std::unique_lock lock(mutex_);
  const bool rung = woken_.wait_until(lock, end, [this] { return rung_; });
  armed_.store(false);
  return rung;
}

Manners manners_for(int ranks) {
  // Some 10 ms of yielding: a peer that takes longer is computing, and may want this core.
  if (ranks <= usable_cores()) return {.spins = 20, .yields = 20000};
  return {.spins = 5, .yields = 4};
}

bool Patience::pass() {
  if (turn_ < manners_.spins) {
    ++turn_;
    pause_core();
    return true;
  }
  if (!end_) end_ = Bell::Clock::now() + deadline_;
  if (turn_ < manners_.spins + manners_.yields) {
    ++turn_;
    std::this_thread::yield();
    return turn_ % 64 != 0 || Bell::Clock::now() < *end_;
  }
  if (!armed_) {
    bell_.arm();
    armed_ = true;
    return true;
  }
  armed_ = false;
  turn_ = 0;
  return bell_.sleep_until(*end_);
}

}  // namespace shardlab::thread
