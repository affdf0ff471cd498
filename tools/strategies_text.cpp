#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/noted_table.h"
#include "tools/strategies.h"
#include "tools/table.h"

namespace shardlab {
namespace {

std::string hours_text(const Strategy& row) {
  return fmt::format("~{} GPU-hours of 1,000 steps", show_hours(*row.plan));
}

/// Lower-case names of a row: what it is and what it changes.
std::string both_names(const Strategy& row) {
  return row.change.empty() ? row.name : fmt::format("{} ({})", row.name, row.change);
}

}  // namespace

std::string strategies_text(const Strategies& strategies, const PlanTitle& title,
                            const PlanOptions& options) {
  Table table({"strategy", "change", "fits", "step", "device memory", "GPU-hours", "same result?"});
  NotedTable refused({"what does not go", "because"});
  bool any_refused = false;
  double host_bytes = 0;
  for (const Strategy& row : strategies.rows) {
    std::vector<std::string> cells{row.name, row.change, row.fits() ? "yes" : "no"};
    if (row.plan && row.plan->predicted()) {
      cells.push_back("~" + show_seconds(row.plan->seconds));
      cells.push_back(show_bytes(row.plan->device_bytes));
      cells.push_back(show_hours(*row.plan));
      host_bytes = std::max(host_bytes, row.plan->host_bytes);
    } else {
      cells.insert(cells.end(), 3, "-");
    }
    cells.emplace_back(name_of(row.result));
    table.row(std::move(cells));
    if (row.fits()) continue;
    refused.rows({{both_names(row)}}, row.why_not);
    any_refused = true;
  }
  std::string text =
      fmt::format("{}\n\n{}GPU-hours are of 1,000 steps; 'yes' up to the order of sums\n",
                  title_of(*strategies.scenario, strategies.problem, title, options), table.text());
  if (host_bytes > 0) text += offload_note(host_bytes);
  if (any_refused) text += "\n" + refused.text();
  text += "\n";
  const Strategy* cheapest = strategies.cheapest(true);
  const Strategy* runnable = strategies.cheapest(false);
  if (cheapest == nullptr)
    text += fmt::format("nothing alone fits unchanged on up to {} ranks\n", options.max_ranks);
  else
    text += fmt::format("cheapest that fits unchanged: {}, {}\n", both_names(*cheapest),
                        hours_text(*cheapest));
  if (runnable != nullptr && runnable != cheapest)
    text += fmt::format("cheapest that shardlab runs: {}, {}\n", both_names(*runnable),
                        hours_text(*runnable));
  if (runnable != nullptr) {
    text += fmt::format("next: {}\n", command_of(*runnable->plan, title));
  } else {
    std::string combined = title.request.command_line;
    const std::string flag = " --strategies";
    if (const std::size_t at = combined.find(flag); at != std::string::npos)
      combined.erase(at, flag.size());
    text += fmt::format("next, all of them combined: {}\n", combined);
  }
  return text;
}

nlohmann::json strategies_json(const Strategies& strategies, const PlanTitle& title,
                               const PlanOptions& options) {
  nlohmann::json json = problem_json(*strategies.scenario, strategies.problem, title, options);
  json["strategies"] = nlohmann::json::array();
  for (const Strategy& row : strategies.rows) {
    nlohmann::json each{{"strategy", row.name},
                        {"change", row.change},
                        {"fits", row.fits()},
                        {"same_result", name_of(row.result)}};
    if (row.plan) each["plan"] = plan_json(*row.plan);
    if (!row.fits()) each["reason"] = row.why_not;
    json["strategies"].push_back(std::move(each));
  }
  const Strategy* cheapest = strategies.cheapest(true);
  json["cheapest_unchanged"] = nullptr;
  if (cheapest != nullptr) json["cheapest_unchanged"] = cheapest->name;
  return json;
}

}  // namespace shardlab
