#include "tools/reproduce_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/sim/collective_trust.h"
#include "engine/sim/median.h"
#include "results/published.h"
#include "tools/compared_log_json.h"
#include "tools/noted_table.h"
#include "tools/table.h"

namespace shardlab {
namespace {

using sim::Band;
using Use = sim::PublishedLog::Use;

constexpr std::array bands{Band::small, Band::middle, Band::large};

std::vector<sim::ComparedLog> judged_of(const std::vector<sim::PublishedLog>& logs) {
  std::vector<sim::ComparedLog> judged;
  for (const sim::PublishedLog& each : logs)
    if (each.use == Use::judge) judged.push_back(each.log);
  return judged;
}

/// The rows of a log in one band: their median error, before and after correction.
struct Errors {
  int rows = 0;
  int others = 0;
  double raw = 0;
  double corrected = 0;
};

Errors errors_of(const sim::ComparedLog& log, Band band) {
  Errors errors;
  std::vector<double> raw;
  std::vector<double> corrected;
  for (const sim::ComparedRow& row : log.rows) {
    if (sim::band_of(row.bytes) != band) continue;
    raw.push_back(std::abs(row.predicted / row.measured - 1));
    corrected.push_back(std::abs(row.corrected / row.measured - 1));
    errors.others = std::max(errors.others, row.others);
  }
  errors.rows = static_cast<int>(raw.size());
  if (errors.rows == 0) return errors;
  errors.raw = sim::median(std::move(raw));
  errors.corrected = sim::median(std::move(corrected));
  return errors;
}

std::string cell(const Errors& errors) {
  if (errors.rows == 0) return "-";
  if (errors.others == 0) return show_percent(errors.raw);
  return fmt::format("{} ({})", show_percent(errors.corrected), show_percent(errors.raw));
}

/// What the corrections of a log rest on.
std::string basis(const sim::ComparedLog& log, int of_fabric) {
  int others = 0;
  for (const Band band : bands) others = std::max(others, errors_of(log, band).others);
  if (others > 0) return fmt::format("{} others", others);
  return of_fabric < 2 ? "one log" : "few";
}

void print_missing() {
  for (const char* collective : {"reduce_scatter", "all_gather", "broadcast", "reduce",
                                 "all_to_all", "send_recv", "all_reduce"}) {
    std::string missing;
    for (const Band band : bands) {
      const double bytes = band == Band::small ? 1024 : band == Band::middle ? 1 << 22 : 1 << 30;
      if (sim::collective_trust(collective, bytes).logs > 0) continue;
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name_of(band));
    }
    if (!missing.empty()) fmt::print("not validated: {}, {}\n", collective, missing);
  }
}

}  // namespace

std::vector<sim::PublishedLog> published_collectives() {
  std::vector<sim::PublishedLog> all;
  for (const results::PublishedFile& file : results::published_logs()) {
    std::vector<sim::PublishedLog> logs =
        sim::read_published_logs(file.text, fmt::format("logs/{}.csv", file.name));
    std::move(logs.begin(), logs.end(), std::back_inserter(all));
  }
  return all;
}

void print(const std::vector<sim::PublishedLog>& logs) {
  const sim::LeftOut left = sim::leave_out(judged_of(logs));
  fmt::print(
      "collectives: public logs of nccl-tests, each predicted without itself\n"
      "  median error by size, after correction by the other logs of the fabric (and before)\n\n");
  Table table({"log", "collective", "ranks", "fabric", name_of(bands[0]), name_of(bands[1]),
               name_of(bands[2]), "by"});
  for (const sim::ComparedLog& log : left.logs) {
    const auto of_fabric =
        std::count_if(left.logs.begin(), left.logs.end(), [&log](const sim::ComparedLog& other) {
          return other.fabric == log.fabric && other.collective == log.collective;
        });
    std::string name = log.name.substr(log.name.find('_') + 1);
    table.row({name.substr(0, 34), log.collective, fmt::to_string(log.group.ranks), log.fabric,
               cell(errors_of(log, bands[0])), cell(errors_of(log, bands[1])),
               cell(errors_of(log, bands[2])), basis(log, static_cast<int>(of_fabric))});
  }
  fmt::print(
      "{}\none log: there is no other of its fabric; predicted uncorrected, not validated\n"
      "few: fewer than two others that agree within 1.5; predicted uncorrected\n\n",
      table.text());
  Table pooled({"size", "rows", "pooled median error", "mark"});
  for (const Band band : bands) {
    const std::vector<double> errors = left.errors(band);
    pooled.row({name_of(band), fmt::to_string(errors.size()), show_percent(sim::median(errors)),
                band == Band::small    ? "30 %"
                : band == Band::middle ? "20 %"
                                       : "10 %"});
  }
  fmt::print("{}\n", pooled.text());
  fmt::print("80 % intervals: {} of {} left-out rows inside ({}), median half width {}\n",
             left.inside, left.rows, show_percent(static_cast<double>(left.inside) / left.rows),
             show_percent(left.median_half_width));
  print_missing();
  NotedTable others({"log", "use", "why"});
  for (const sim::PublishedLog& each : logs)
    if (each.use != Use::judge)
      others.rows({{each.log.name, name_of(each.use)}},
                  each.use == Use::fault
                      ? "flagged when read, fitting it is an error: " + each.fault
                      : "shown, not judged: " + each.source);
  fmt::print("\n{}", others.text());
}

nlohmann::json json_of(const std::vector<sim::PublishedLog>& logs) {
  const sim::LeftOut left = sim::leave_out(judged_of(logs));
  nlohmann::json all = nlohmann::json::array();
  for (const sim::ComparedLog& log : left.logs) all.push_back(json_of(log));
  nlohmann::json pooled;
  for (const Band band : bands) pooled[name_of(band)] = sim::median(left.errors(band));
  return {{"name", collectives_name},
          {"logs", all},
          {"pooled_median_error", pooled},
          {"rows", left.rows},
          {"rows_inside_80_percent_interval", left.inside},
          {"median_half_width", left.median_half_width}};
}

}  // namespace shardlab
