#include "tools/ab_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "engine/core/check.h"
#include "tools/turn_gate.h"

extern char** environ;

namespace shardlab {
namespace {

/// Where a command finds its end of the socket: above all that shells open for themselves.
constexpr int socket_of_command = 63;

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
                     const std::string& pair)
    : errors_(errors) {
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
  const int failed = posix_spawn(&child_, "/bin/sh", &files, nullptr, words, variables.data());
  posix_spawn_file_actions_destroy(&files);
  if (ends[1] >= 0) close(ends[1]);
  socket_ = ends[0];
  if (failed == 0) return;
  if (socket_ >= 0) close(socket_);
  fail(Fault::external, "--ab: no shell: {}", std::strerror(failed));
}

AbCommand::~AbCommand() {
  if (socket_ >= 0) close(socket_);
  if (child_ >= 0) wait();
}

bool AbCommand::asks() {
  char asked = 0;
  ssize_t got = 0;
  while ((got = recv(socket_, &asked, 1, 0)) < 0 && errno == EINTR) {
  }
  return got == 1 && asked == TurnGate::asks;
}

void AbCommand::give_turn() {
  // One that is gone is seen when it is asked whether it wants another.
  (void)send(socket_, &TurnGate::gives, 1, MSG_NOSIGNAL);
}

void AbCommand::finish(const std::string& name) {
  wait();
  if (status_ == 0) return;
  fail(Fault::external, "--ab: command {} {}: {}", name,
       WIFEXITED(status_) ? fmt::format("ended with {}", WEXITSTATUS(status_))
                          : fmt::format("was ended by signal {}", WTERMSIG(status_)),
       last_lines(errors_));
}

void AbCommand::wait() {
  const pid_t child = std::exchange(child_, -1);
  while (waitpid(child, &status_, 0) < 0)
    if (errno != EINTR) fail(Fault::external, "--ab: lost a command: {}", std::strerror(errno));
}

}  // namespace shardlab
