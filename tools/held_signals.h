#pragma once

#include <csignal>

namespace shardlab {

/// Holds back the signals that end this program, so that it can first end what it started and
/// delete what it made.
///
/// They arrive when this object goes. What is ignored stays so. To be made while this thread is the
/// only one.
///
/// Errors   external: the system has no more files.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Waits until a file can be read, or is at its end; false: a signal is held.
  [[nodiscard]] bool wait_to_read(int file) const;

  /// Waits until a child may have ended; false: a signal is held.
  [[nodiscard]] bool wait_for_child() const;

  /// Waits so long, or until a child may have ended, whatever is held.
  void wait_for_child(int milliseconds) const;

  /// What programs that are started should hold back themselves.
  [[nodiscard]] const sigset_t& before() const { return before_; }

 private:
  void forget_children() const;

  sigset_t before_{};
  int ends_ = -1;      // Can be read while a signal is held.
  int children_ = -1;  // Can be read when a child has ended since it was last read.
};

}  // namespace shardlab
