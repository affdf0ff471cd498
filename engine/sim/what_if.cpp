#include <charconv>

#include "engine/core/check.h"
#include "engine/sim/machine_prices.h"

namespace shardlab::sim {
namespace {

double number_of(std::string_view word, std::string_view text, std::string_view unit) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  check(error == std::errc() && std::string_view(end, text.data() + text.size()) == unit,
        "--what-if {}={}: expected a number and {}", word, text, unit);
  check(value > 0, "--what-if {}={}: must be above 0", word, text);
  return value;
}

}  // namespace

bool WhatIf::changes() const {
  return bandwidth != 1 || latency != 1 || peak != 1 || launch != 0 || !overlap || slow_rank != 1;
}

WhatIf parse_what_if(std::string_view text) {
  WhatIf what;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view word = part.substr(0, equals);
    const std::string_view value = part.substr(std::min(part.size(), equals + 1));
    if (word == "bandwidth") {
      what.bandwidth = number_of(word, value, "x");
    } else if (word == "latency") {
      what.latency = number_of(word, value, "x");
    } else if (word == "peak") {
      what.peak = number_of(word, value, "x");
    } else if (word == "slow-rank") {
      what.slow_rank = number_of(word, value, "x");
    } else if (word == "launch") {
      what.launch = number_of(word, value, "us") * 1e-6;
    } else if (word == "overlap") {
      check(value == "on" || value == "off", "--what-if overlap={}: expected on or off", value);
      what.overlap = value == "on";
    } else {
      fail(Fault::invalid,
           "--what-if {}: known are bandwidth, latency, peak, launch, overlap and slow-rank", word);
    }
  }
  return what;
}

}  // namespace shardlab::sim
