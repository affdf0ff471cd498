#include "tools/stopping.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "engine/core/check.h"
#include "results/statistics.h"

namespace shardlab {
namespace {

constexpr std::size_t least = 3;
constexpr std::size_t first_look = 8;
constexpr std::size_t most = 1000;

/// A number and what stands behind it.
std::pair<double, std::string> number_and_unit(const std::string& option, const std::string& text,
                                               const char* expected) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  check(error == std::errc() && std::isfinite(value), "{}: expected {}, found '{}'", option,
        expected, text);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  return {value, std::string(unit)};
}

}  // namespace

Stopping::Stopping(const StoppingRule& rule) : rule_(rule), next_look_(first_look) {
  check(rule.iterations >= 0, "--iterations: {} is negative", rule.iterations);
  check(rule.iterations == 0 || rule.precision == 0,
        "--iterations and --precision: a number of iterations leaves nothing to decide");
}

void Stopping::add(double seconds) {
  seconds_.push_back(seconds);
  sum_ += seconds;
  const std::size_t taken = seconds_.size();
  if (rule_.iterations > 0) {
    enough_ = taken >= static_cast<std::size_t>(rule_.iterations);
    return;
  }
  const bool used_up = taken >= least && sum_ >= rule_.budget_seconds;
  if (rule_.precision == 0) {
    enough_ = used_up || taken >= static_cast<std::size_t>(rule_.most);
    return;
  }
  if (taken >= next_look_) {
    next_look_ = taken + (taken + 3) / 4;
    precise_ = half_width() <= rule_.precision;
  }
  enough_ = precise_ || used_up || taken >= most;
}

int Stopping::left() const {
  return rule_.iterations > 0 ? rule_.iterations - static_cast<int>(seconds_.size()) : -1;
}

double Stopping::half_width() const {
  const results::Interval interval = results::bootstrap_median(seconds_);
  return (interval.high - interval.low) / 2 / results::median(seconds_);
}

std::string Stopping::text() const {
  if (rule_.precision == 0 || seconds_.empty()) return {};
  const std::string known = fmt::format("{} iterations, the median is known to {:.2g} %",
                                        seconds_.size(), 100 * half_width());
  if (precise_) return known;
  return fmt::format("{}, not to {:.2g} %: {}", known, 100 * rule_.precision,
                     seconds_.size() >= most
                         ? fmt::format("{} are the most", most)
                         : fmt::format("the budget of {} s is used up", rule_.budget_seconds));
}

double share_typed(const std::string& option, const std::string& text) {
  const char* expected = "a share such as 1% or 0.01";
  const auto [value, unit] = number_and_unit(option, text, expected);
  check(unit.empty() || unit == "%", "{}: expected {}, found '{}'", option, expected, text);
  const double share = unit == "%" ? value / 100 : value;
  check(share > 0 && share <= 1, "{}: {} is not between 0 and 100 %", option, text);
  return share;
}

double seconds_typed(const std::string& option, const std::string& text) {
  const char* expected = "a time such as 10s, 500ms or 2min";
  const auto [value, unit] = number_and_unit(option, text, expected);
  const double factor = unit.empty() || unit == "s" ? 1
                        : unit == "ms"              ? 1e-3
                        : unit == "min"             ? 60
                                                    : 0;
  check(factor > 0, "{}: expected {}, found '{}'", option, expected, text);
  check(value > 0, "{}: {} is not positive", option, text);
  return value * factor;
}

}  // namespace shardlab
