#include "tools/held_signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/core/check.h"

namespace shardlab {
namespace {

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

HeldSignals::HeldSignals() {
  sigset_t ends, child, both;
  for (sigset_t* set : {&ends, &child}) sigemptyset(set);
  // One that is ignored would be held all the same, as it would if it were not.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    if (!is_ignored(signal)) sigaddset(&ends, signal);
  sigaddset(&child, SIGCHLD);
  sigorset(&both, &ends, &child);
  ends_ = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
  children_ = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  if (ends_ < 0 || children_ < 0) {
    const int reason = errno;
    if (ends_ >= 0) close(ends_);
    fail(Fault::external, "signals cannot be held back: {}", std::strerror(reason));
  }
  pthread_sigmask(SIG_BLOCK, &both, &before_);
}

HeldSignals::~HeldSignals() {
  forget_children();
  close(ends_);
  close(children_);
  // Nobody has read the signals that are held: they are still to come.
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool HeldSignals::wait_to_read(int file) const {
  pollfd both[] = {{.fd = ends_, .events = POLLIN, .revents = 0},
                   {.fd = file, .events = POLLIN, .revents = 0}};
  while (poll(both, 2, -1) < 0)
    if (errno != EINTR) fail(Fault::external, "cannot wait: {}", std::strerror(errno));
  return both[0].revents == 0;
}

bool HeldSignals::wait_for_child() const {
  if (!wait_to_read(children_)) return false;
  forget_children();
  return true;
}

void HeldSignals::wait_for_child(int milliseconds) const {
  pollfd child{.fd = children_, .events = POLLIN, .revents = 0};
  (void)poll(&child, 1, milliseconds);
  forget_children();
}

void HeldSignals::forget_children() const {
  signalfd_siginfo ended;
  while (read(children_, &ended, sizeof ended) > 0) {
  }
}

}  // namespace shardlab
