#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "tools/held_signals.h"

namespace shardlab {

/// A command of a shell that runs beside this program and may take turns with another one.
class AbCommand {
 public:
  /// Starts `text`; what it writes is dropped, and of its errors the last lines are kept in a file.
  /// `pair` is the name that it finds in its environment, see turn_gate.h; empty: it gets none.
  /// `signals` must outlive it.
  ///
  /// Errors   external: there is no shell.
  AbCommand(const std::string& text, const std::filesystem::path& errors, const std::string& pair,
            const HeldSignals& signals);

  /// Ends it and what it started, if it has not ended.
  ~AbCommand();
  AbCommand(const AbCommand&) = delete;
  AbCommand& operator=(const AbCommand&) = delete;

  /// Waits until it asks for a turn; false: it has ended.
  ///
  /// Errors   external: a signal is held that ends this program.
  [[nodiscard]] bool asks();

  void give_turn();

  /// Waits until it ends, with 0, or with 3 where some of its runs were skipped and `stored`, in
  /// which the others are, is there.
  ///
  /// Errors   external: it ended otherwise, naming it `name` with what it said last; a signal is
  ///          held that ends this program.
  void finish(const std::string& name, const std::filesystem::path& stored = {});

 private:
  bool has_ended();

  std::filesystem::path errors_;
  const HeldSignals& signals_;
  pid_t child_ = -1;
  int socket_ = -1;
  int status_ = 0;
};

}  // namespace shardlab
