#include "results/metric.h"

#include <array>

#include "results/names.h"

namespace shardlab::results {
namespace {

constexpr std::array better_names = {"lower", "higher", "none"};
constexpr std::array across_names = {"max", "min", "sum"};

}  // namespace

const char* name_of(Better better) { return better_names.at(static_cast<std::size_t>(better)); }

const char* name_of(AcrossRanks across_ranks) {
  return across_names.at(static_cast<std::size_t>(across_ranks));
}

Better better_from(std::string_view name) {
  return enum_from<Better>(better_names, name, "better");
}

AcrossRanks across_ranks_from(std::string_view name) {
  return enum_from<AcrossRanks>(across_names, name, "across ranks");
}

Metric step_seconds() { return {"step_seconds", "s", false, Better::lower, AcrossRanks::max}; }
Metric loss() { return {"loss", "1", false, Better::lower, AcrossRanks::max}; }
Metric bytes_sent() { return {"bytes_sent", "B", true, Better::lower, AcrossRanks::sum}; }
Metric flop() { return {"flop", "flop", true, Better::none, AcrossRanks::sum}; }
Metric collectives() { return {"collectives", "1", true, Better::lower, AcrossRanks::max}; }
Metric dispatches() { return {"dispatches", "1", true, Better::lower, AcrossRanks::max}; }
Metric peak_bytes() { return {"peak_bytes", "B", true, Better::lower, AcrossRanks::max}; }

Metric peak_bytes(std::string_view category) {
  return {"peak_bytes." + std::string(category), "B", category != "library", Better::lower,
          AcrossRanks::max};
}

}  // namespace shardlab::results
