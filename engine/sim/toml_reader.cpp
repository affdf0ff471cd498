#include "engine/sim/toml_reader.h"

#include <algorithm>
#include <cmath>

#include "engine/core/check.h"
#include "engine/core/scenario.h"
#include "engine/sim/sheet.h"

namespace shardlab::sim {
namespace {

constexpr std::size_t most_shown = 60;

std::vector<std::string> split(std::string_view all) {
  std::vector<std::string> words;
  while (!all.empty()) {
    const std::size_t end = std::min(all.find(' '), all.size());
    words.emplace_back(all.substr(0, end));
    all.remove_prefix(std::min(end + 1, all.size()));
  }
  return words;
}

}  // namespace

void TomlReader::fault(const TomlValue& entry, const std::string& text) const {
  fail(Fault::invalid, "{}:{}: {}", file_, entry.line, text);
}

void TomlReader::unknown(const TomlValue& entry, const std::string& what, std::string_view word,
                         const std::vector<std::string>& known) const {
  const std::string shown(word.substr(0, most_shown));
  fault(entry, fmt::format("{}unknown word '{}{}': did you mean '{}'?", what, shown,
                           word.size() > most_shown ? "..." : "", nearest(shown, known)));
}

const TomlValue& TomlReader::table_of(const TomlValue& entry, const std::string& what,
                                      std::string_view keys) const {
  if (entry.kind != TomlValue::Kind::table)
    fault(entry, fmt::format("{}: expected a table of {}, found {}", what,
                             fmt::join(split(keys), ", "), name_of(entry.kind)));
  for (const TomlValue& item : entry.items)
    if (!among(item.key, keys)) unknown(item, what + ": ", item.key, split(keys));
  return entry;
}

const TomlValue& TomlReader::at(const TomlValue& table, const std::string& what,
                                std::string_view key) const {
  const TomlValue* found = table.find(key);
  if (found == nullptr) fault(table, fmt::format("{}: no {} given", what, key));
  return *found;
}

std::string TomlReader::word(const TomlValue& entry, const std::string& what) const {
  if (entry.kind != TomlValue::Kind::text || entry.text.empty())
    fault(entry,
          fmt::format("{}: expected a text in quotes, found {}", what,
                      entry.kind == TomlValue::Kind::text ? "an empty one" : name_of(entry.kind)));
  return entry.text;
}

std::string TomlReader::word_among(const TomlValue& entry, const std::string& what,
                                   std::string_view known) const {
  std::string text = word(entry, what);
  if (!among(text, known)) unknown(entry, what + ": ", text, split(known));
  return text;
}

double TomlReader::number(const TomlValue& entry, const std::string& what) const {
  if (entry.kind != TomlValue::Kind::number)
    fault(entry, fmt::format("{}: expected a number, found {}", what, name_of(entry.kind)));
  return entry.number;
}

double TomlReader::in_range(const TomlValue& entry, const std::string& what, double value) const {
  if (!(value >= smallest && value <= largest))
    fault(entry, fmt::format("{}: expected a number from {} to {} in SI units, found {}", what,
                             smallest, largest, value));
  return value;
}

int TomlReader::whole(const TomlValue& entry, const std::string& what) const {
  const double value = number(entry, what);
  if (!(value >= 1 && value <= 1e6) || value != std::floor(value))
    fault(entry,
          fmt::format("{}: expected a whole number from 1 to 1000000, found {}", what, value));
  return static_cast<int>(value);
}

const Unit& TomlReader::unit(const TomlValue& entry, const std::string& what) const {
  const std::string name = word(entry, what);
  if (const Unit* known = find_unit(name)) return *known;
  std::vector<std::string> names;
  for (const Unit& each : units()) names.emplace_back(each.name);
  unknown(entry, what + ": unit: ", name, names);
}

const Unit& TomlReader::unit(const TomlValue& entry, const std::string& what,
                             Dimension dimension) const {
  const Unit& known = unit(entry, what);
  if (known.dimension != dimension)
    fault(entry, fmt::format("{}: expected {}, as in '{}'; found unit '{}' of {}", what,
                             name_of(dimension), si_unit(dimension).name, known.name,
                             name_of(known.dimension)));
  return known;
}

std::pair<const TomlValue*, const TomlValue*> TomlReader::both(const TomlValue& entry,
                                                               const std::string& what) const {
  const bool array = entry.kind == TomlValue::Kind::array;
  if (!array || entry.items.size() != 2)
    fault(entry, fmt::format("{}: expected two in brackets, found {}", what,
                             array ? fmt::format("{}", entry.items.size()) : name_of(entry.kind)));
  return {&entry.items[0], &entry.items[1]};
}

Points TomlReader::points(const TomlValue& entry, const std::string& what, double size_factor,
                          double value_factor) const {
  const bool array = entry.kind == TomlValue::Kind::array;
  if (!array || entry.items.empty())
    fault(entry, fmt::format("{}: expected points as [[size, value], ...], found {}", what,
                             array ? "none" : name_of(entry.kind)));
  Points points;
  for (const TomlValue& item : entry.items) {
    const auto [size, measured] = both(item, what + ": points");
    points.emplace_back(
        in_range(*size, what, number(*size, what + ": points") * size_factor),
        in_range(*measured, what, number(*measured, what + ": points") * value_factor));
    if (points.size() > 1 && points.back().first <= points[points.size() - 2].first)
      fault(item, fmt::format("{}: sizes must rise, found {} after {}", what, size->number,
                              points[points.size() - 2].first / size_factor));
  }
  return points;
}

}  // namespace shardlab::sim
