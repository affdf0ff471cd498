#include "engine/sim/machine_toml.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "engine/core/check.h"
#include "engine/sim/rates.h"
#include "engine/sim/sheet.h"
#include "engine/sim/toml_reader.h"

namespace shardlab::sim {
namespace {

constexpr std::size_t most_files = 16;

constexpr std::string_view number_keys = "value unit source from half_width";
constexpr std::string_view curve_keys = "family op dtype unit points source from half_width";
constexpr std::string_view collective_keys =
    "collective ranks hosts unit points source from half_width log_ranks";
constexpr std::array sources{Source::user_measured, Source::public_measured, Source::derived,
                             Source::vendor};
constexpr std::array families{Family::matmul, Family::attention, Family::attention_gradient,
                              Family::pointwise};

/// Reads the entries of one file into a machine.
class MachineReader {
 public:
  MachineReader(const TomlReader& toml, Machine& machine) : toml_(toml), machine_(machine) {}

  void read(const TomlValue& table, const std::string& above = "");

 private:
  void read_entry(const std::string& path, const TomlValue& entry);
  void read_curve(const TomlValue& entry);
  void read_collective(const TomlValue& entry);

  [[nodiscard]] Quantity quantity(const KnownNumber& known, const TomlValue& entry) const;
  [[nodiscard]] std::vector<Precision> precisions(const TomlValue& entry,
                                                  const std::string& what) const;

  /// The one of `all` that is named.
  template <typename All>
  [[nodiscard]] auto choice(const TomlValue& entry, const std::string& what, const All& all) const;

  /// Source, from and half_width, as numbers and curves share them.
  template <typename Each>
  void read_origin(const TomlValue& table, const std::string& what, Each& each) const;

  const TomlReader& toml_;
  Machine& machine_;
};

template <typename All>
auto MachineReader::choice(const TomlValue& entry, const std::string& what, const All& all) const {
  std::string names;
  for (const auto& each : all) names += (names.empty() ? "" : " ") + std::string(name_of(each));
  const std::string name = toml_.word_among(entry, what, names);
  return *std::find_if(all.begin(), all.end(),
                       [&name](const auto& each) { return name == name_of(each); });
}

template <typename Each>
void MachineReader::read_origin(const TomlValue& table, const std::string& what, Each& each) const {
  each.source = choice(toml_.at(table, what, "source"), what + ": source", sources);
  if (const TomlValue* from = table.find("from")) each.from = toml_.word(*from, what + ": from");
  each.half_width = half_width_of(each.source);
  const TomlValue* given = table.find("half_width");
  if (given == nullptr) return;
  each.half_width = toml_.number(*given, what + ": half_width");
  if (!(each.half_width > 0 && each.half_width <= 10))
    toml_.fault(
        *given,
        fmt::format("{}: half_width is relative: expected more than 0, at most 10; found {}", what,
                    each.half_width));
}

Quantity MachineReader::quantity(const KnownNumber& known, const TomlValue& entry) const {
  const std::string what(known.path);
  const TomlValue& table = toml_.table_of(entry, what, number_keys);
  const TomlValue& given = toml_.at(table, what, "value");
  double value = toml_.number(given, what + ": value");
  if (table.find("unit") != nullptr || known.dimension != Dimension::count)
    value *= toml_.unit(toml_.at(table, what, "unit"), what, known.dimension).factor;
  if (value != 0 || !known.may_be_zero) value = toml_.in_range(given, what, value);
  if (known.dimension == Dimension::count && value != std::floor(value))
    toml_.fault(given, fmt::format("{}: expected a whole number, found {}", what, value));
  if (known.dimension == Dimension::share && value > 1)
    toml_.fault(given, fmt::format("{}: expected a share, at most 1; found {}", what, value));
  Quantity quantity;
  quantity.value = value;
  read_origin(table, what, quantity);
  return quantity;
}

std::vector<Precision> MachineReader::precisions(const TomlValue& entry,
                                                 const std::string& what) const {
  const auto one = [&](const TomlValue& each) {
    return parse_precision(
        toml_.word_among(each, what + ": dtype", "float64 float32 tf32 bfloat16 float16"));
  };
  if (entry.kind != TomlValue::Kind::array) return {one(entry)};
  if (entry.items.empty()) toml_.fault(entry, what + ": expected a dtype, found none");
  std::vector<Precision> all;
  all.reserve(entry.items.size());
  for (const TomlValue& each : entry.items) all.push_back(one(each));
  return all;
}

void MachineReader::read_curve(const TomlValue& entry) {
  const TomlValue& table = toml_.table_of(entry, "curve", curve_keys);
  Curve curve;
  curve.family = choice(toml_.at(table, "curve", "family"), "curve: family", families);
  std::string what = fmt::format("curve of {}", name_of(curve.family));
  if (const TomlValue* op = table.find("op")) {
    curve.op = toml_.word(*op, what + ": op");
    if (curve.op.empty() || family_of(curve.op) != curve.family)
      toml_.fault(*op, fmt::format("{}: op '{}' is none of this family", what, curve.op));
    what = "curve of " + curve.op;
  }
  const bool pointwise = curve.family == Family::pointwise;
  const auto [size, rate] = toml_.both(toml_.at(table, what, "unit"), what + ": unit");
  const double size_factor =
      toml_.unit(*size, what, pointwise ? Dimension::bytes : Dimension::flop).factor;
  const double rate_factor =
      toml_.unit(*rate, what, pointwise ? Dimension::bytes_per_second : Dimension::flop_per_second)
          .factor;
  curve.points = toml_.points(toml_.at(table, what, "points"), what, size_factor, rate_factor);
  read_origin(table, what, curve);
  if (pointwise && table.find("dtype") != nullptr)
    toml_.fault(table, what + ": has no dtype, bytes count");
  for (const Precision precision :
       pointwise ? std::vector<Precision>(1) : precisions(toml_.at(table, what, "dtype"), what)) {
    curve.precision = precision;
    machine_.curves.push_back(curve);
  }
}

void MachineReader::read_collective(const TomlValue& entry) {
  const TomlValue& table = toml_.table_of(entry, "collective", collective_keys);
  CollectiveCurve curve;
  curve.collective = toml_.word_among(toml_.at(table, "collective", "collective"), "collective",
                                      known_collectives());
  const std::string what = "curve of " + curve.collective;
  curve.ranks = toml_.whole(toml_.at(table, what, "ranks"), what + ": ranks");
  curve.hosts = toml_.whole(toml_.at(table, what, "hosts"), what + ": hosts");
  if (curve.hosts > curve.ranks)
    toml_.fault(table, fmt::format("{}: {} ranks on {} hosts", what, curve.ranks, curve.hosts));
  const auto [size, value] = toml_.both(toml_.at(table, what, "unit"), what + ": unit");
  const double size_factor = toml_.unit(*size, what, Dimension::bytes).factor;
  const bool is_rate = toml_.unit(*value, what).dimension == Dimension::bytes_per_second;
  const Unit& value_unit =
      toml_.unit(*value, what, is_rate ? Dimension::bytes_per_second : Dimension::seconds);
  curve.points =
      toml_.points(toml_.at(table, what, "points"), what, size_factor, value_unit.factor);
  if (is_rate)
    for (auto& [bytes, rate] : curve.points)
      rate = toml_.in_range(*value, what + ": seconds", bytes / rate);
  read_origin(table, what, curve);
  if (const TomlValue* given = table.find("log_ranks")) {
    if (given->kind != TomlValue::Kind::array || given->items.size() != 2)
      toml_.fault(*given, what + ": log_ranks: expected two numbers, as in [16, 96]");
    curve.log_ranks = {toml_.whole(given->items[0], what + ": log_ranks"),
                       toml_.whole(given->items[1], what + ": log_ranks")};
  }
  machine_.collectives.push_back(std::move(curve));
}

void MachineReader::read_entry(const std::string& path, const TomlValue& entry) {
  if (const KnownNumber* number = find_number(path)) {
    machine_.numbers[path] = quantity(*number, entry);
    return;
  }
  if (const KnownWord* known = find_word(path)) {
    machine_.words[path] = known->values.empty() ? toml_.word(entry, path)
                                                 : toml_.word_among(entry, path, known->values);
    return;
  }
  std::vector<std::string> paths{"extends", "name", "curve", "collective"};
  bool begins = false;
  for (const KnownNumber& each : known_numbers()) paths.emplace_back(each.path);
  for (const KnownWord& each : known_words()) paths.emplace_back(each.path);
  for (const std::string& each : paths) begins = begins || each.starts_with(path + ".");
  if (!begins) toml_.unknown(entry, "", path, paths);
  if (entry.kind != TomlValue::Kind::table)
    toml_.fault(entry, fmt::format("{}: expected a table, found {}", path, name_of(entry.kind)));
  read(entry, path + ".");
}

void MachineReader::read(const TomlValue& table, const std::string& above) {
  for (const TomlValue& item : table.items) {
    const std::string& name = item.key;
    if (name.find('.') != std::string::npos) toml_.fault(item, "a key in quotes holds a dot");
    if (above.empty() && name == "extends") {
      (void)toml_.word(item, name);
    } else if (above.empty() && name == "name") {
      machine_.name = toml_.word(item, name);
    } else if (above.empty() && (name == "curve" || name == "collective")) {
      if (item.kind != TomlValue::Kind::array)
        toml_.fault(item,
                    fmt::format("{}: expected [[{}]], found {}", name, name, name_of(item.kind)));
      for (const TomlValue& each : item.items)
        name == "curve" ? read_curve(each) : read_collective(each);
    } else {
      read_entry(above + name, item);
    }
  }
}

/// Scaling what is inherited must not leave the range that files are held to.
void check_range(const Machine& machine, const std::string& file) {
  for (const Curve& curve : machine.curves)
    for (const auto& [size, rate] : curve.points)
      check(rate >= TomlReader::smallest && rate <= TomlReader::largest,
            "{}: curve of {}: rate {} after {}", file, name_of(curve.family), rate, curve.from);
}

Machine read(const MachineText& source, const FindMachine& find, std::vector<std::string>& open) {
  check(std::find(open.begin(), open.end(), source.file) == open.end(),
        "{}: machine files extend each other: {}, {}", source.file, fmt::join(open, ", "),
        source.file);
  check(open.size() < most_files, "{}: more than {} files extend each other", source.file,
        most_files);
  open.push_back(source.file);
  const TomlReader toml(source.file);
  const TomlValue table = parse_toml(source.text, source.file);
  Machine machine;
  machine.name = source.name;
  MachineReader(toml, machine).read(table);
  if (const TomlValue* extends = table.find("extends")) {
    std::optional<MachineText> found;
    if (!find) toml.fault(*extends, "extends: there is nothing to extend here");
    try {
      found = find(extends->text, source);
    } catch (const Error& error) {
      toml.fault(*extends, error.what());
    }
    machine = extended(read(*found, find, open), std::move(machine));
    check_range(machine, source.file);
  }
  const std::vector<std::string> paths = missing(machine);
  check(paths.empty(), "{}: the machine is not complete: it has no {}", source.file,
        fmt::join(paths, ", "));
  return machine;
}

}  // namespace

Machine read_machine(const MachineText& source, const FindMachine& find) {
  std::vector<std::string> open;
  return read(source, find, open);
}

}  // namespace shardlab::sim
