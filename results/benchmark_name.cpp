#include "results/benchmark_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace shardlab::results {
namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::array measuring{"iterations", "repeats", "min_time", "min_warmup_time",
                               "min_rel_accuracy"};

/// Parts between slashes, those within template arguments left alone.
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : name) {
    depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
    if (c == '/' && depth <= 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

bool is_count(std::string_view text) {
  return !text.empty() && text.size() < 8 && text[0] != '0' &&
         text.find_first_not_of("0123456789") == npos;
}

}  // namespace

BenchmarkName read_benchmark_name(std::string_view run_name) {
  const std::vector<std::string> parts = parts_of(run_name);
  BenchmarkName name{parts[0].empty() ? std::string(run_name) : parts[0], {}};
  if (name.scenario.empty()) name.scenario = "unnamed";
  int unnamed = 0;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    const std::size_t colon = part.find(':');
    const std::string key(part.substr(0, colon));
    const std::string value(colon == npos ? "" : part.substr(colon + 1));
    if (part.ends_with("_time") && colon == npos) {
      name.parameters["time"] = part.substr(0, part.size() - 5);
    } else if (colon == npos || key.empty()) {
      name.parameters[fmt::format("arg{}", unnamed++)] = part;
    } else if (key == "ranks" && is_count(value)) {
      name.mesh = "domain=" + value;
    } else if (std::find(measuring.begin(), measuring.end(), key) == measuring.end()) {
      name.parameters[key] = value;
    }
  }
  return name;
}

}  // namespace shardlab::results
