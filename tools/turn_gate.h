#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

namespace shardlab {

/// Lets the ranks of this program go on when another program gives it a turn, as `compare --ab`
/// does to two commands that it holds against each other.
class TurnGate {
 public:
  static constexpr const char* variable = "SHARDLAB_TURNS";
  static constexpr char asks = '?';   ///< What this end writes when all ranks wait.
  static constexpr char gives = '!';  ///< What it reads when its turn begins.

  /// The gate that the environment names as `SOCKET,PAIR`; a null pointer if it names none.
  ///
  /// Errors   invalid: anything else.
  static std::unique_ptr<TurnGate> of_environment();

  TurnGate(int socket, std::string pair);

  /// What both programs of a pair are called.
  [[nodiscard]] const std::string& pair() const { return pair_; }

  /// A measurement of so many ranks begins.
  void open(int ranks);

  /// Waits until all ranks have called it and the turn is given. It ends when they call it again,
  /// or this program ends.
  ///
  /// Errors   external: the other end is gone.
  void pass();

  /// A rank has failed: the others wait no more.
  void abandon();

 private:
  [[nodiscard]] bool is_given() const;

  int socket_;
  std::string pair_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int ranks_ = 1;
  int waiting_ = 0;
  long turn_ = 0;
  bool abandoned_ = false;
};

}  // namespace shardlab
