#include "results/gate_test.h"

#include <algorithm>

#include "engine/core/check.h"
#include "results/random.h"
#include "results/rate.h"

namespace shardlab::results {
namespace {

class Gate {
 public:
  Gate(const Samples& noise, double slowdown, const GateQuestion& question)
      : noise_(noise), question_(question), pairs_(static_cast<std::size_t>(question.pairs)) {
    check(question.pairs > 0, "a report of {} pairs", question.pairs);
    check(question.reports > 0, "a rate of {} reports", question.reports);
    check(slowdown > -1, "a slow-down of {}: times would not be positive", slowdown);
    check(recorded() >= pairs_, "a report of {} pairs; {} were recorded", pairs_, recorded());
    rate_.slowdown = slowdown;
  }

  [[nodiscard]] std::size_t recorded() const { return noise_.base.size(); }

  // The pairs [first, first + count[ become the next ones of the report.
  void take(std::size_t first, std::size_t count, Random& random) {
    for (std::size_t i = first; i < first + count && samples_.base.size() < pairs_; ++i) {
      const bool swapped = random.below(2) == 1;
      samples_.base.push_back(swapped ? noise_.next[i] : noise_.base[i]);
      samples_.next.push_back((swapped ? noise_.base[i] : noise_.next[i]) * (1 + rate_.slowdown));
    }
  }

  [[nodiscard]] bool is_full() const { return samples_.base.size() == pairs_; }

  void report() {
    const Change change = change_of(samples_, question_.options.seed);
    const Verdict verdict = judge(change, question_.metric, change.p, question_.options).verdict;
    ++rate_.reports;
    rate_.worse += verdict == Verdict::worse ? 1 : 0;
    rate_.better += verdict == Verdict::better ? 1 : 0;
    samples_.base.clear();
    samples_.next.clear();
  }

  [[nodiscard]] GateRate rate() const {
    GateRate rate = rate_;
    rate.interval = rate_interval(rate.worse, rate.reports);
    return rate;
  }

 private:
  const Samples& noise_;
  const GateQuestion& question_;
  std::size_t pairs_;
  GateRate rate_;
  Samples samples_{.taken = Taken::pairs};
};

}  // namespace

GateRate resampled_rate(const Samples& noise, double slowdown, const GateQuestion& question) {
  Gate gate(noise, slowdown, question);
  const auto pairs = static_cast<std::size_t>(question.pairs);
  const std::size_t stretch = std::max<std::size_t>(1, pairs / 4);
  Random random(question.seed);
  for (std::int64_t r = 0; r < question.reports; ++r) {
    while (!gate.is_full()) gate.take(random.below(gate.recorded() - stretch + 1), stretch, random);
    gate.report();
  }
  return gate.rate();
}

GateRate recorded_rate(const Samples& noise, double slowdown, const GateQuestion& question) {
  Gate gate(noise, slowdown, question);
  const auto pairs = static_cast<std::size_t>(question.pairs);
  Random random(question.seed);
  for (std::size_t first = 0; first + pairs <= gate.recorded(); first += pairs) {
    gate.take(first, pairs, random);
    gate.report();
  }
  return gate.rate();
}

}  // namespace shardlab::results
