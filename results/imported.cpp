#include "results/imported.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

namespace shardlab::results {
namespace {

/// Reads whole numbers and the characters between them.
class Digits {
 public:
  explicit Digits(std::string_view text) : rest_(text) {}

  int number(std::size_t digits) {
    int value = 0;
    const char* end = rest_.data() + std::min(digits, rest_.size());
    const auto [stop, error] = std::from_chars(rest_.data(), end, value);
    ok_ = ok_ && error == std::errc() && stop == rest_.data() + digits && value >= 0;
    rest_.remove_prefix(std::min(digits, rest_.size()));
    return value;
  }
  bool skip(std::string_view one_of) {
    if (rest_.empty() || one_of.find(rest_[0]) == std::string_view::npos) return false;
    last_ = rest_[0];
    rest_.remove_prefix(1);
    return true;
  }
  void need(std::string_view one_of) { ok_ = skip(one_of) && ok_; }

  /// Digits of a fraction as microseconds.
  int microseconds() {
    int value = 0;
    for (int place = 100'000; skip("0123456789"); place /= 10) value += (last_ - '0') * place;
    return value;
  }

  [[nodiscard]] char last() const { return last_; }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  char last_ = ' ';
  bool ok_ = true;
};

}  // namespace

StoredRun imported_run(Execution execution, const std::string& profile) {
  StoredRun run;
  run.status = RunStatus::complete;
  run.header.series.execution = execution;
  run.header.series.profile = profile;
  run.header.series.dtype.clear();
  return run;
}

std::string parameters_text(const std::map<std::string, std::string>& parameters) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, value] : parameters) json[name] = value;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void add_samples(StoredRun& run, const Metric& metric, const std::vector<double>& values,
                 std::int32_t rank) {
  MetricSamples all{metric, {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool odd = !std::isfinite(values[i]) || (metric.unit == "s" && values[i] < 0);
    if (!odd)
      all.samples.push_back({static_cast<std::int64_t>(i), rank, false, values[i]});
    else if (run.status == RunStatus::complete) {
      run.status = RunStatus::failed;
      run.reason = fmt::format("{} of iteration {}: {} {} cannot be", metric.name, i, values[i],
                               metric.unit);
    }
  }
  if (!all.samples.empty()) run.rows.metrics.push_back(std::move(all));
}

Metric cpu_seconds() { return {"cpu_seconds", "s", false, Better::lower, AcrossRanks::max}; }
Metric allocated_peak_bytes() {
  return {"peak_bytes.allocated", "B", false, Better::lower, AcrossRanks::max};
}
Metric reserved_peak_bytes() {
  return {"peak_bytes.reserved", "B", false, Better::lower, AcrossRanks::max};
}
Metric process_peak_bytes() {
  return {"peak_bytes.process", "B", false, Better::lower, AcrossRanks::max};
}
Metric counter(const std::string& name) {
  return {"counter." + name, "1", false, Better::none, AcrossRanks::sum};
}
Metric rate(const std::string& name, const std::string& unit) {
  return {name, unit, false, Better::higher, AcrossRanks::min};
}

std::string utc_from(std::string_view text) {
  using namespace std::chrono;
  Digits digits(text);
  const int y = digits.number(4);
  digits.need("-");
  const int m = digits.number(2);
  digits.need("-");
  const int d = digits.number(2);
  digits.need("T ");
  const int h = digits.number(2);
  digits.need(":");
  const int min = digits.number(2);
  digits.need(":");
  const int s = digits.number(2);
  const int us = digits.skip(".,") ? digits.microseconds() : 0;
  int offset = 0;
  if (digits.skip("+-")) {
    const int sign = digits.last() == '-' ? -1 : 1;
    offset = digits.number(2) * 60;
    digits.skip(":");
    offset = sign * (offset + digits.number(2));
  } else {
    digits.skip("Z");
  }
  const year_month_day date{year{y}, month(static_cast<unsigned>(m)),
                            day(static_cast<unsigned>(d))};
  if (!digits.ok() || !digits.at_end() || !date.ok() || h > 23 || min > 59 || s > 60) return "";
  const auto utc = sys_days(date) + hours{h} + minutes{min - offset} + seconds{s};
  const auto midnight = floor<days>(utc);
  const year_month_day on{midnight};
  const hh_mm_ss at{utc - midnight};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(on.year()),
                     static_cast<unsigned>(on.month()), static_cast<unsigned>(on.day()),
                     at.hours().count(), at.minutes().count(), at.seconds().count(), us);
}

}  // namespace shardlab::results
