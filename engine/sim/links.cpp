#include "engine/sim/links.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/core/check.h"
#include "engine/sim/link_classes.h"

namespace shardlab::sim {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

// Sizes and times that differ by less are one event: they differ by rounding only.
constexpr double rounding = 1e-9;

void check_flows(std::span<const Link> links, std::span<const Flow> flows) {
  for (std::size_t l = 0; l < links.size(); ++l)
    check(links[l].capacity > 0 && links[l].latency >= 0,
          "link {}: expected a capacity above 0 and a latency of at least 0, found {} and {}", l,
          links[l].capacity, links[l].latency);
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const Flow& flow = flows[f];
    check(flow.bytes >= 0 && std::isfinite(flow.bytes) && std::isfinite(flow.start) &&
              flow.most_rate > 0,
          "flow {}: expected bytes of at least 0, a start and a limit above 0, found {}, {}, {}", f,
          flow.bytes, flow.start, flow.most_rate);
    for (const int l : flow.route)
      check(l >= 0 && l < static_cast<int>(links.size()),
            "flow {}: its route names link {}, but there are {}", f, l, links.size());
  }
}

// Progressive filling among the classes that move; buffers live as long as the solver.
class Filling {
 public:
  Filling(const LinkClasses& classes, std::span<const double> most_rates)
      : classes_(classes), most_rates_(most_rates), crossing_(classes.capacity.size()) {
    for (std::size_t f = 0; f < classes.uses.size(); ++f)
      for (const auto& use : classes.uses[f])
        crossing_[use.link_class].push_back({static_cast<int>(f), use.times});
  }

  void solve(std::span<const int> moving, std::vector<double>& rates) {
    free_ = classes_.capacity;
    risers_.assign(classes_.capacity.size(), 0);
    rising_.assign(classes_.uses.size(), 0);
    limited_.clear();
    busy_.clear();
    for (const int f : moving) {
      rising_[f] = 1;
      if (most_rates_[f] < never) limited_.push_back(f);
      for (const auto& use : classes_.uses[f]) {
        if (risers_[use.link_class] == 0) busy_.push_back(use.link_class);
        risers_[use.link_class] += use.times;
      }
      rates[f] = never;
    }
    std::sort(limited_.begin(), limited_.end(),
              [&](int a, int b) { return most_rates_[a] < most_rates_[b]; });
    next_limited_ = 0;
    left_ = moving.size();
    while (left_ > 0 && raise(rates)) {
    }
  }

 private:
  struct Crossing {
    int flow_class;
    double times;
  };

  // Raises the level until something stops a flow; false when nothing will.
  bool raise(std::vector<double>& rates) {
    double level = never;
    for (const int l : busy_) level = std::min(level, level_of(l));
    while (next_limited_ < limited_.size() && !rising_[limited_[next_limited_]]) ++next_limited_;
    if (next_limited_ < limited_.size())
      level = std::min(level, most_rates_[limited_[next_limited_]]);
    if (level == never) return false;

    const double met = level * (1 + rounding);
    full_.clear();
    for (const int l : busy_)
      if (level_of(l) <= met) full_.push_back(l);
    for (; next_limited_ < limited_.size() && most_rates_[limited_[next_limited_]] <= met;
         ++next_limited_)
      stop(limited_[next_limited_], level, rates);
    for (const int l : full_)
      for (const Crossing& crossing : crossing_[l]) stop(crossing.flow_class, level, rates);
    std::erase_if(busy_, [&](int l) { return risers_[l] == 0; });
    return true;
  }

  [[nodiscard]] double level_of(int link) const {
    return std::max(free_[link], 0.0) / risers_[link];
  }

  void stop(int f, double level, std::vector<double>& rates) {
    if (!rising_[f]) return;
    rising_[f] = 0;
    --left_;
    rates[f] = level;
    for (const auto& use : classes_.uses[f]) {
      free_[use.link_class] -= use.times * level;
      risers_[use.link_class] -= use.times;
    }
  }

  const LinkClasses& classes_;
  std::span<const double> most_rates_;
  std::vector<std::vector<Crossing>> crossing_;
  std::vector<double> free_;
  std::vector<double> risers_;
  std::vector<std::uint8_t> rising_;
  std::vector<int> limited_;
  std::vector<int> busy_;
  std::vector<int> full_;
  std::size_t next_limited_ = 0;
  std::size_t left_ = 0;
};

std::vector<double> limits_of(const LinkClasses& classes, std::span<const Flow> flows) {
  std::vector<double> limits;
  limits.reserve(classes.example.size());
  for (const int f : classes.example) limits.push_back(flows[f].most_rate);
  return limits;
}

std::vector<double> for_each_flow(const LinkClasses& classes, const std::vector<double>& values) {
  std::vector<double> result;
  result.reserve(classes.class_of_flow.size());
  for (const int c : classes.class_of_flow) result.push_back(values[c]);
  return result;
}

}  // namespace

std::vector<double> fair_rates(std::span<const Link> links, std::span<const Flow> flows) {
  check_flows(links, flows);
  const LinkClasses classes = classify(links, flows);
  const std::vector<double> limits = limits_of(classes, flows);
  std::vector<int> moving(classes.example.size());
  for (std::size_t c = 0; c < moving.size(); ++c) moving[c] = static_cast<int>(c);
  std::vector<double> rates(moving.size());
  Filling(classes, limits).solve(moving, rates);
  return for_each_flow(classes, rates);
}

std::vector<double> finish_times(std::span<const Link> links, std::span<const Flow> flows) {
  check_flows(links, flows);
  const LinkClasses classes = classify(links, flows);
  const std::vector<double> limits = limits_of(classes, flows);
  const std::size_t count = classes.example.size();

  std::vector<double> begins(count);
  std::vector<double> left(count);
  std::vector<double> finishes(count);
  std::vector<int> waiting;
  for (std::size_t c = 0; c < count; ++c) {
    const Flow& flow = flows[classes.example[c]];
    begins[c] = flow.start;
    for (const int l : flow.route) begins[c] += links[l].latency;
    left[c] = flow.bytes;
    finishes[c] = begins[c];
    if (flow.bytes > 0) waiting.push_back(static_cast<int>(c));
  }
  std::sort(waiting.begin(), waiting.end(), [&](int a, int b) { return begins[a] > begins[b]; });

  Filling filling(classes, limits);
  std::vector<double> rates(count);
  std::vector<int> moving;
  double now = waiting.empty() ? 0 : begins[waiting.back()];
  while (!waiting.empty() || !moving.empty()) {
    if (moving.empty()) now = begins[waiting.back()];
    while (!waiting.empty() && begins[waiting.back()] <= now) {
      moving.push_back(waiting.back());
      waiting.pop_back();
    }
    filling.solve(moving, rates);

    double step = waiting.empty() ? never : begins[waiting.back()] - now;
    for (const int c : moving) step = std::min(step, left[c] / rates[c]);
    now += step;
    std::erase_if(moving, [&](int c) {
      if (left[c] / rates[c] <= step * (1 + rounding)) {
        finishes[c] = now;
        return true;
      }
      left[c] -= rates[c] * step;
      return false;
    });
  }
  return for_each_flow(classes, finishes);
}

}  // namespace shardlab::sim
