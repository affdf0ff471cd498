#include "tools/turn_gate.h"

#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "engine/core/check.h"

namespace shardlab {

std::unique_ptr<TurnGate> TurnGate::of_environment() {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return nullptr;
  const std::string_view all(text);
  int socket = -1;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), socket);
  const std::string_view rest = all.substr(static_cast<std::size_t>(end - all.data()));
  check(error == std::errc() && socket >= 0 && rest.size() > 1 && rest.front() == ',',
        "{}: '{}', expected a socket, a comma and the name of a pair", variable, all);
  return std::make_unique<TurnGate>(socket, std::string(rest.substr(1)));
}

TurnGate::TurnGate(int socket, std::string pair) : socket_(socket), pair_(std::move(pair)) {}

void TurnGate::open(int ranks) {
  const std::lock_guard lock(mutex_);
  ranks_ = ranks;
  waiting_ = 0;
  abandoned_ = false;
}

void TurnGate::pass() {
  std::unique_lock lock(mutex_);
  if (abandoned_) return;
  if (++waiting_ < ranks_) {
    // A rank that waits here sleeps; one that waits in a collective would take cores from the other
    // program.
    const long turn = turn_;
    changed_.wait(lock, [&] { return turn_ != turn || abandoned_; });
    return;
  }
  waiting_ = 0;
  ++turn_;
  const bool given = is_given();
  abandoned_ = !given;
  changed_.notify_all();
  if (!given) fail(Fault::external, "{}: the program that gives turns is gone", variable);
}

void TurnGate::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

bool TurnGate::is_given() const {
  if (send(socket_, &asks, 1, MSG_NOSIGNAL) != 1) return false;
  char answer = 0;
  ssize_t got = 0;
  while ((got = recv(socket_, &answer, 1, 0)) < 0 && errno == EINTR) {
  }
  return got == 1 && answer == gives;
}

}  // namespace shardlab
