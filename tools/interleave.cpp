#include "tools/interleave.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "engine/core/check.h"

namespace shardlab {
namespace {

void append(std::vector<double>& all, const std::vector<double>& block, int warmup,
            int block_warmup) {
  if (block.empty()) return;
  const auto timed = block.begin() + block_warmup;
  all.insert(all.begin() + warmup, block.begin(), timed);
  all.insert(all.end(), timed, block.end());
}

}  // namespace

std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed, int round) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::seed_seq words{seed & 0xffffffff, seed >> 32, static_cast<std::uint64_t>(round)};
  std::mt19937_64 random(words);
  // std::shuffle differs between libraries.
  for (std::size_t left = count; left > 1; --left)
    std::swap(order[left - 1], order[random() % left]);
  return order;
}

void append_block(Measurement& all, const Measurement& block) {
  expect(all.ranks.size() == block.ranks.size(), "a block of {} ranks after one of {}",
         block.ranks.size(), all.ranks.size());
  for (std::size_t r = 0; r < all.ranks.size(); ++r)
    append(all.ranks[r].seconds, block.ranks[r].seconds, all.warmup, block.warmup);
  append(all.losses, block.losses, all.warmup, block.warmup);
  all.turns.insert(all.turns.end(), block.turns.begin(), block.turns.end());
  all.warmup += block.warmup;
}

std::string with_blocks(const std::string& state, const std::vector<TimedBlock>& blocks,
                        std::uint64_t seed) {
  nlohmann::json json = nlohmann::json::parse(state);
  json["order_seed"] = seed;
  json["blocks"] = nlohmann::json::array();
  for (const TimedBlock& block : blocks)
    json["blocks"].push_back({{"order", block.order},
                              {"round", block.round},
                              {"first", block.first},
                              {"iterations", block.iterations}});
  return json.dump();
}

std::vector<double> slowest(const Measurement& measurement) {
  std::vector<double> seconds;
  for (const RankMeasure& rank : measurement.ranks) {
    seconds.resize(rank.seconds.size() - static_cast<std::size_t>(measurement.warmup));
    for (std::size_t i = 0; i < seconds.size(); ++i)
      seconds[i] =
          std::max(seconds[i], rank.seconds[i + static_cast<std::size_t>(measurement.warmup)]);
  }
  return seconds;
}

}  // namespace shardlab
