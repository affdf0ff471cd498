#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace shardlab {

/// A command of a shell that runs beside this program and may take turns with another one.
class AbCommand {
 public:
  /// Starts `text`; what it writes is dropped, and of its errors the last lines are kept in a file.
  /// `pair` is the name that it finds in its environment, see turn_gate.h; empty: it gets none.
  ///
  /// Errors   external: there is no shell.
  AbCommand(const std::string& text, const std::filesystem::path& errors, const std::string& pair);

  /// Waits for it, which then gets no turn any more.
  ~AbCommand();
  AbCommand(const AbCommand&) = delete;
  AbCommand& operator=(const AbCommand&) = delete;

  /// Waits until it asks for a turn; false: it has ended.
  [[nodiscard]] bool asks();

  void give_turn();

  /// Waits until it ends.
  ///
  /// Errors   external: it did not end with 0, naming it `name` with what it said last.
  void finish(const std::string& name);

 private:
  void wait();

  std::filesystem::path errors_;
  pid_t child_ = -1;
  int socket_ = -1;
  int status_ = 0;
};

}  // namespace shardlab
