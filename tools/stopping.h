#pragma once

#include <string>
#include <vector>

namespace shardlab {

/// When a measurement has timed enough iterations.
struct StoppingRule {
  int iterations = 0;          ///< So many; 0: as the other two say.
  double precision = 0;        ///< Relative half width of the median's interval; 0: none.
  double budget_seconds = 10;  ///< Of timed iterations; at least 3 are taken all the same.
  int most = 20;               ///< Where neither a number nor a precision was asked for.
};

/// Decides after each iteration, the same from equal times.
///
/// With a precision it looks at the interval after 8 iterations and then each time a quarter more
/// are there, up to 1,000: the more often one looks, the more often an interval is narrow by
/// chance.
class Stopping {
 public:
  /// Errors   invalid: a rule that cannot be met.
  explicit Stopping(const StoppingRule& rule);

  /// `seconds` is what the slowest rank took.
  void add(double seconds);

  [[nodiscard]] bool enough() const { return enough_; }
  [[nodiscard]] int left() const;  ///< Of a fixed number; else -1.

  /// Why it ended, for people; empty unless a precision was asked for.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] double half_width() const;

  StoppingRule rule_;
  std::vector<double> seconds_;
  double sum_ = 0;
  std::size_t next_look_;
  bool enough_ = false;
  bool precise_ = false;
};

/// A share as typed: `1%` or `0.01`.
///
/// Errors   invalid: naming the option, no number, or not in ]0, 1].
[[nodiscard]] double share_typed(const std::string& option, const std::string& text);

/// A duration as typed: `10s`, `500ms`, `2min` or `10`.
///
/// Errors   invalid: naming the option, no number, an unknown unit, or not positive.
[[nodiscard]] double seconds_typed(const std::string& option, const std::string& text);

}  // namespace shardlab
