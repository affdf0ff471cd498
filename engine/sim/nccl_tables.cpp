#include "engine/sim/nccl_tables.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/core/check.h"

namespace shardlab::sim::nccl {
namespace {

constexpr double micro = 1e-6;
constexpr double giga = 1e9;

// Rows: Volta, Ampere, Hopper, Blackwell. Columns: one domain, two, more.
using Table = std::array<std::array<double, 3>, 4>;
constexpr Table most_ll{{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}}};
constexpr Table most_ring_ll128{
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {73.4, 34.6, 73.4}}};
constexpr Table most_tree_ll128{{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}}};
constexpr Table most_tree{{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}}};
constexpr Table most_nvls_tree{
    {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 43.8}}};
constexpr std::array<double, 4> nvls_efficiency{0, 0, 0.85, 0.74};
constexpr std::array<double, 4> link_usable{20.0 / 25, 20.0 / 25, 20.6 / 25, 40.1 / 50};

// Microseconds; columns LL, LL128, Simple; rows tree, ring, nvls, nvls_tree, pat.
using Latencies = std::array<std::array<double, 3>, 5>;
constexpr Latencies base{{{6.8, 14, 8.4}, {6.6, 14, 8.4}, {0, 0, 0}, {0, 0, 0}, {8, 8, 8}}};
constexpr std::array<Latencies, 3> hop{
    {{{{0.6, 1.25, 4}, {0.6, 1.9, 3.4}, {0, 0, 25}, {0, 0, 25}, {0, 0, 4}}},
     {{{1, 1.9, 4}, {1, 2.5, 5.7}, {0, 0, 0}, {0, 0, 0}, {0, 0, 4}}},
     {{{5, 8.5, 14}, {2.7, 4, 14}, {0, 0, 18}, {0, 0, 20.9}, {0, 0, 14}}}}};

// By powers of two from 64 bytes to 256 MiB.
constexpr std::array<std::array<double, 23>, 3> tree_share{
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}}};

constexpr auto within_80 =
    std::to_array({40e9, 30e9, 20e9, 18e9, 15e9, 12e9, 10e9, 9e9, 7e9, 6e9, 5e9, 4e9, 3e9});
constexpr auto within_90 =
    std::to_array({60e9, 50e9, 40e9, 30e9, 24e9, 20e9, 15e9, 12e9, 11e9, 6e9, 3e9});
constexpr auto within_100 =
    std::to_array({90e9, 80e9, 70e9, 60e9, 50e9, 40e9, 30e9, 24e9, 20e9, 19e9, 18e9});
constexpr auto between_80 =
    std::to_array({48e9, 30e9, 28e9, 24e9, 20e9, 18e9, 15e9, 12e9, 10e9, 9e9, 7e9, 6e9, 5e9, 4e9,
                   3e9, 2.4e9, 1.2e9, 0.24e9, 0.12e9});
constexpr auto between_90 = std::to_array({48e9, 45e9, 42e9, 40e9, 30e9, 24e9, 22e9, 20e9, 17.5e9,
                                           15e9, 12e9, 6e9, 3e9, 2.4e9, 1.2e9, 0.24e9, 0.12e9});
constexpr auto between_100 =
    std::to_array({96e9, 48e9, 45.1e9, 42e9, 40e9, 30e9, 24e9, 22e9, 20e9, 17.5e9, 15e9, 12e9, 6e9,
                   3e9, 2.4e9, 1.2e9, 0.24e9, 0.12e9});

int row_of(int sm) { return sm >= 100 ? 3 : sm >= 90 ? 2 : sm >= 80 ? 1 : 0; }
int column_of(int nodes) { return std::min(nodes, 3) - 1; }
std::size_t at(Protocol protocol) { return static_cast<std::size_t>(protocol); }
std::size_t at(Algorithm algorithm) { return static_cast<std::size_t>(algorithm); }

}  // namespace

Caps caps_of(int sm, int nodes, Cpu cpu) {
  const int row = row_of(sm);
  const int column = column_of(nodes);
  // Across hosts the CPU writes LL's flags, so its maker decides and not the GPU.
  const int ll_row = nodes == 1 ? row : cpu == Cpu::amd ? 1 : 0;
  return {most_ll[ll_row][column] * giga,      most_ring_ll128[row][column] * giga,
          most_tree_ll128[row][column] * giga, most_tree[row][column] * giga,
          most_nvls_tree[row][column] * giga,  nvls_efficiency[row]};
}

double base_latency(Algorithm algorithm, Protocol protocol) {
  return base[at(algorithm)][at(protocol)] * micro;
}

double hop_latency(Hardware hardware, Algorithm algorithm, Protocol protocol) {
  return hop[static_cast<std::size_t>(hardware)][at(algorithm)][at(protocol)] * micro;
}

double post_latency(Cpu cpu, Protocol protocol) {
  return (cpu == Cpu::amd ? 2 : 1) * (protocol == Protocol::simple ? 3 : 1) * micro;
}

double tree_correction(Protocol protocol, double bytes) {
  const auto& shares = tree_share[at(protocol)];
  if (bytes < 64) return shares.front();
  const double octave = std::log2(bytes / 64);
  const auto below = static_cast<std::size_t>(octave);
  if (below >= shares.size()) return 1;
  const double above = below + 1 < shares.size() ? shares[below + 1] : 1;
  return shares[below] + (above - shares[below]) * (octave - static_cast<double>(below));
}

std::span<const double> speeds(int sm, bool between_domains) {
  if (sm >= 100) return between_domains ? std::span<const double>(between_100) : within_100;
  if (sm >= 90) return between_domains ? std::span<const double>(between_90) : within_90;
  return between_domains ? std::span<const double>(between_80) : within_80;
}

double usable_of_link(int sm) { return link_usable[row_of(sm)]; }

void check_generation(int sm) {
  check(sm == 70 || sm == 80 || sm == 90 || sm == 100,
        "no NCCL tables for sm{}: there are tables for sm70, sm80, sm90 and sm100", sm);
}

}  // namespace shardlab::sim::nccl
