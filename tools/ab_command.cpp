#include "tools/ab_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "engine/core/check.h"
#include "tools/request.h"
#include "tools/turn_gate.h"

extern char** environ;

namespace shardlab {
namespace {

/// Where a command finds its end of the socket: above all that shells open for themselves.
constexpr int socket_of_command = 63;

/// How long a command that is told to end may take for it.
constexpr std::chrono::seconds patience(2);

/// The state of a child that somebody else has waited for.
constexpr int lost = -1;

[[noreturn]] void fail_by_signal() { fail(Fault::external, "--ab: a signal ends this program"); }

std::string last_lines(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string before, last;
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) before = std::exchange(last, line);
  return before.empty() ? last : before + "\n" + last;
}

/// Two ends of a socket that no command inherits, and that are not the one it looks for.
std::array<int, 2> socket_pair() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    fail(Fault::external, "--ab: no socket: {}", std::strerror(errno));
  for (int& end : ends) {
    const int above = fcntl(end, F_DUPFD_CLOEXEC, socket_of_command + 1);
    if (above < 0) fail(Fault::external, "--ab: no socket: {}", std::strerror(errno));
    close(end);
    end = above;
  }
  return ends;
}

}  // namespace

AbCommand::AbCommand(const std::string& text, const std::filesystem::path& errors,
                     const std::string& pair, const HeldSignals& signals)
    : errors_(errors), signals_(signals) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const std::string own = std::string(TurnGate::variable) + "=";
  std::string turns = fmt::format("{}{},{}", own, socket_of_command, pair);
  std::vector<char*> variables;
  for (char** each = environ; *each != nullptr; ++each)
    if (!std::string_view(*each).starts_with(own)) variables.push_back(*each);
  std::array<int, 2> ends{-1, -1};
  if (!pair.empty()) {
    ends = socket_pair();
    posix_spawn_file_actions_adddup2(&files, ends[1], socket_of_command);
    variables.push_back(turns.data());
  }
  variables.push_back(nullptr);
  std::string shell = "sh", flag = "-c", command = text;
  char* words[] = {shell.data(), flag.data(), command.data(), nullptr};
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setsigmask(&attributes, &signals.before());
  // A group of its own, so that all of it can be ended.
  posix_spawnattr_setpgroup(&attributes, 0);
  const int failed = posix_spawn(&child_, "/bin/sh", &files, &attributes, words, variables.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (ends[1] >= 0) close(ends[1]);
  socket_ = ends[0];
  if (failed == 0) return;
  if (socket_ >= 0) close(socket_);
  fail(Fault::external, "--ab: no shell: {}", std::strerror(failed));
}

AbCommand::~AbCommand() {
  if (socket_ >= 0) close(socket_);
  if (child_ < 0) return;
  const pid_t group = -child_;
  kill(group, SIGTERM);
  const auto begin = std::chrono::steady_clock::now();
  while (!has_ended()) {
    if (std::chrono::steady_clock::now() - begin > patience) kill(group, SIGKILL);
    signals_.wait_for_child(100);
  }
}

bool AbCommand::asks() {
  char asked = 0;
  ssize_t got = 0;
  if (!signals_.wait_to_read(socket_)) fail_by_signal();
  while ((got = recv(socket_, &asked, 1, 0)) < 0 && errno == EINTR) {
  }
  return got == 1 && asked == TurnGate::asks;
}

void AbCommand::give_turn() {
  // One that is gone is seen when it is asked whether it wants another.
  (void)send(socket_, &TurnGate::gives, 1, MSG_NOSIGNAL);
}

void AbCommand::finish(const std::string& name, const std::filesystem::path& stored) {
  while (!has_ended())
    if (!signals_.wait_for_child()) fail_by_signal();
  const bool skipped =
      WIFEXITED(status_) && WEXITSTATUS(status_) == static_cast<int>(Exit::not_comparable);
  if (status_ == 0 || (skipped && std::filesystem::exists(stored))) return;
  if (status_ == lost)
    fail(Fault::external, "--ab: how command {} ended is not known: is SIGCHLD ignored?", name);
  fail(Fault::external, "--ab: command {} {}: {}", name,
       WIFEXITED(status_) ? fmt::format("ended with {}", WEXITSTATUS(status_))
                          : fmt::format("was ended by signal {}", WTERMSIG(status_)),
       last_lines(errors_));
}

bool AbCommand::has_ended() {
  if (child_ < 0) return true;
  const pid_t ended = waitpid(child_, &status_, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
  child_ = -1;
  if (ended < 0) status_ = lost;
  return true;
}

}  // namespace shardlab
