#include "engine/sim/nccl_log.h"

#include <algorithm>
#include <array>
#include <map>

#include "engine/core/check.h"
#include "engine/sim/median.h"
#include "engine/sim/nccl_log_runs.h"

namespace shardlab::sim {
namespace {

const NcclTiming* best_timing(const NcclRow& row) {
  const auto usable = [](const std::optional<NcclTiming>& timing) {
    return timing && !timing->doubtful;
  };
  if (usable(row.out_of_place)) return &*row.out_of_place;
  return usable(row.in_place) ? &*row.in_place : nullptr;
}

double better_busbw(const NcclRow& row) {
  double best = 0;
  for (const auto* timing : {&row.out_of_place, &row.in_place})
    if (*timing) best = std::max(best, (*timing)->busbw.value);
  return best;
}

struct Test {
  std::string_view name;
  std::string_view collective;
};

constexpr std::array tests{
    Test{"all_reduce", "all_reduce"},  Test{"all_gather", "all_gather"},
    Test{"alltoallv", "all_to_all_v"}, Test{"alltoall", "all_to_all"},
    Test{"sendrecv", "send_recv"},     Test{"reduce_scatter", "reduce_scatter"},
    Test{"broadcast", "broadcast"},    Test{"reduce", "reduce"},
    Test{"gather", "gather"},          Test{"scatter", "scatter"},
    Test{"hypercube", "hypercube"},
};

}  // namespace

bool NcclRun::may_have_ranks(int count) const {
  if (least_ranks > 0) return least_ranks <= count && count <= most_ranks;
  return listed_ranks == 0 || listed_ranks == count;
}

std::optional<Plateau> NcclRun::plateau() const {
  std::map<std::int64_t, double> best;
  for (const NcclRow& row : rows) {
    double& busbw = best[row.bytes];
    busbw = std::max(busbw, better_busbw(row));
  }
  if (best.empty()) return std::nullopt;
  const auto last = std::prev(best.end());
  Plateau plateau{last->second, static_cast<double>(last->first), 0};
  if (last != best.begin() && std::prev(last)->second > 0)
    plateau.growth = last->second / std::prev(last)->second - 1;
  return plateau;
}

std::vector<std::pair<double, double>> NcclRun::points() const {
  std::map<std::int64_t, std::vector<double>> seconds;
  for (const NcclRow& row : rows)
    if (const NcclTiming* timing = best_timing(row); timing && row.bytes > 0)
      seconds[row.bytes].push_back(timing->seconds.value);
  std::vector<std::pair<double, double>> points;
  points.reserve(seconds.size());
  for (auto& [bytes, samples] : seconds)
    points.emplace_back(static_cast<double>(bytes), median(std::move(samples)));
  return points;
}

std::string_view collective_of(std::string_view test) {
  if (const std::size_t slash = test.rfind('/'); slash != std::string_view::npos)
    test.remove_prefix(slash + 1);
  const std::size_t end = test.find("_perf");
  if (end == std::string_view::npos) return {};
  const auto* found = std::find_if(tests.begin(), tests.end(), [&](const Test& known) {
    return known.name == test.substr(0, end);
  });
  return found == tests.end() ? std::string_view() : found->collective;
}

std::string nccl_version(std::int64_t code) {
  // From 2.9 on two digits each; before, one digit of the second part.
  const std::int64_t major = code < 10000 ? code / 1000 : code / 10000;
  const std::int64_t minor = code < 10000 ? code % 1000 / 100 : code % 10000 / 100;
  return fmt::format("{}.{}.{}", major, minor, code % 100);
}

double bus_factor(std::string_view collective, double ranks) {
  if (ranks < 1) return 0;
  if (collective == "all_reduce") return 2 * (ranks - 1) / ranks;
  for (const char* parts : {"all_gather", "reduce_scatter", "all_to_all", "gather", "scatter"})
    if (collective == parts) return (ranks - 1) / ranks;
  for (const char* whole : {"broadcast", "reduce", "send_recv"})
    if (collective == whole) return 1;
  return 0;
}

NcclLog read_nccl_log(std::string_view text, std::string_view name) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool json = first != std::string_view::npos && text[first] == '{';
  NcclLog log = json ? read_nccl_json(text, name) : read_nccl_text(text, name);
  check(!log.runs.empty(), "{}: no row of nccl-tests found{}", name,
        log.oddities.empty()
            ? std::string()
            : fmt::format("; line {}: {}", log.oddities.front().line, log.oddities.front().text));
  return log;
}

}  // namespace shardlab::sim
