#include "engine/sim/collective_trust.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace shardlab::sim {
namespace {

constexpr double mebibyte = 1 << 20;

// By band: what half_width_from says of all logs, to two digits.
constexpr std::array half_widths{0.23, 0.15, 0.26};

struct Logs {
  std::string_view collective;
  std::array<int, 3> by_band;
  double most_bytes;
  int most_ranks;
};
constexpr std::array validated{
    Logs{"all_reduce", {4, 4, 16}, 16384 * mebibyte, 1440},
    Logs{"all_to_all", {0, 0, 9}, 16384 * mebibyte, 192},
    Logs{"send_recv", {0, 0, 1}, 1024 * mebibyte, std::numeric_limits<int>::max()},
};

}  // namespace

Band band_of(double bytes) {
  if (bytes < mebibyte) return Band::small;
  return bytes <= 64 * mebibyte ? Band::middle : Band::large;
}

const char* name_of(Band band) {
  constexpr std::array names{"< 1 MiB", "1-64 MiB", "> 64 MiB"};
  return names[static_cast<std::size_t>(band)];
}

bool are_validated(std::string_view wires) {
  constexpr std::array known{"switch", "infiniband", "roce", "efa"};
  return std::find(known.begin(), known.end(), wires) != known.end();
}

CollectiveTrust collective_trust(std::string_view collective, double bytes) {
  const auto band = static_cast<std::size_t>(band_of(bytes));
  for (const Logs& each : validated)
    if (each.collective == collective && each.by_band[band] > 0)
      return {half_widths[band], each.by_band[band], each.most_bytes, each.most_ranks};
  return {};
}

double half_width_from(std::span<const Residual> residuals, Band band) {
  std::vector<std::pair<double, double>> errors;
  double total = 0;
  for (const Residual& each : residuals) {
    if (each.band != band) continue;
    errors.emplace_back(std::abs(each.error), each.weight);
    total += each.weight;
  }
  std::sort(errors.begin(), errors.end());
  double below = 0;
  for (const auto& [error, weight] : errors) {
    below += weight;
    if (6 * below >= 5 * total) return error;
  }
  return 0;
}

}  // namespace shardlab::sim
