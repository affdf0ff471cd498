#include "engine/core/scenario.h"

#include <algorithm>
#include <charconv>

#include "engine/core/check.h"

namespace shardlab {
namespace {

template <typename T>
bool read(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end;
}

int edits(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int corner = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int swap = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, swap});
    }
  }
  return row.back();
}

}  // namespace

const std::string& Params::text(const std::string& name) const {
  const auto found = values_.find(name);
  expect(found != values_.end(), "scenario asks for undeclared parameter {}", name);
  return found->second;
}

std::int64_t Params::integer(const std::string& name) const {
  std::int64_t value = 0;
  check(read(text(name), value), "--{}: expected a whole number, found '{}'", name, text(name));
  return value;
}

double Params::number(const std::string& name) const {
  double value = 0;
  check(read(text(name), value), "--{}: expected a number, found '{}'", name, text(name));
  return value;
}

std::vector<std::int64_t> Params::sizes(const std::string& name) const {
  std::vector<std::int64_t> sizes;
  std::string_view rest = text(name);
  while (true) {
    const std::size_t cross = rest.find('x');
    std::int64_t value = 0;
    check(read(rest.substr(0, cross), value) && value >= 1,
          "--{}: expected sizes such as 512x512, found '{}'", name, text(name));
    sizes.push_back(value);
    if (cross == std::string_view::npos) return sizes;
    rest.remove_prefix(cross + 1);
  }
}

Params Scenario::preset(std::string_view preset) const {
  check(preset == "paper" || preset == "small" || preset == "tiny",
        "unknown preset '{}': known are paper, small, tiny", preset);
  Params values;
  for (const ParamSpec& spec : params)
    values.set(spec.name, preset == "paper"   ? spec.paper
                          : preset == "small" ? spec.small
                                              : spec.tiny);
  return values;
}

void Scenarios::add(Scenario scenario) {
  std::string name = scenario.name;
  expect(scenarios_.emplace(name, std::move(scenario)).second, "scenario {} added twice", name);
}

const Scenario& Scenarios::find(std::string_view name) const {
  const auto found = scenarios_.find(std::string(name));
  if (found != scenarios_.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [each, scenario] : scenarios_) known.push_back(each);
  fail(Fault::invalid, "unknown scenario '{}': did you mean '{}'? Known are {}", name,
       nearest(name, known), fmt::join(known, ", "));
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  const auto best = std::min_element(
      known.begin(), known.end(),
      [word](const auto& a, const auto& b) { return edits(word, a) < edits(word, b); });
  return best == known.end() ? std::string() : *best;
}

}  // namespace shardlab
