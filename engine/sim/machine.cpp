#include "engine/sim/machine.h"

#include <algorithm>

#include "engine/core/check.h"
#include "engine/sim/sheet.h"

namespace shardlab::sim {
namespace {

bool same(Precision a, Precision b) { return a.dtype == b.dtype && a.math == b.math; }

/// Other hardware reaches another part of its peak.
void scale(Curve& curve, const Machine& base, const Machine& machine) {
  const std::string path = peak_path(curve.family, curve.precision);
  const auto before = base.numbers.find(path);
  const auto now = machine.numbers.find(path);
  if (before == base.numbers.end() || now == machine.numbers.end()) return;
  const double ratio = now->second.value / before->second.value;
  if (ratio == 1) return;
  for (auto& [size, rate] : curve.points) rate *= ratio;
  curve.source = weakest(curve.source, Source::derived);
  curve.half_width = std::max(curve.half_width, half_width_of(Source::derived));
  curve.from = fmt::format("{}, times {:.3g} as {}", curve.from, ratio, path);
}

bool starts_with_any(std::string_view path, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [path](std::string_view start) { return path.starts_with(start); });
}

/// Whether the wires that a collective runs over are no longer those it was measured on.
bool rewired(const Machine& base, const Machine& machine, int hosts) {
  const auto is_wire = [hosts](std::string_view path) {
    return starts_with_any(path, {"gpu.arch", "host.gpus", "nvlink."}) ||
           (hosts > 1 && starts_with_any(path, {"nic.", "fabric.", "host.cpu"}));
  };
  for (const auto& [path, number] : base.numbers)
    if (is_wire(path) && machine.value(path) != number.value) return true;
  for (const auto& [path, word] : base.words)
    if (is_wire(path) && machine.word(path) != word) return true;
  return false;
}

template <typename Each>
void inherit(std::vector<Each>& own, const std::vector<Each>& inherited) {
  const auto count = static_cast<std::ptrdiff_t>(own.size());
  for (const Each& each : inherited)
    if (std::none_of(own.begin(), own.begin() + count,
                     [&each](const Each& mine) { return same_subject(mine, each); }))
      own.push_back(each);
}

bool must_have(Need need, const Machine& machine) {
  if (need != Need::gpu) return need == Need::always;
  const auto arch = machine.words.find("gpu.arch");
  return arch != machine.words.end() && arch->second != "cpu";
}

}  // namespace

const char* name_of(Family family) {
  switch (family) {
    case Family::matmul:
      return "matmul";
    case Family::attention:
      return "attention";
    case Family::attention_gradient:
      return "attention_gradient";
    case Family::pointwise:
      return "pointwise";
  }
  return "unknown";
}

bool same_subject(const Curve& a, const Curve& b) {
  return a.family == b.family && a.op == b.op &&
         (a.family == Family::pointwise || same(a.precision, b.precision));
}

bool same_subject(const CollectiveCurve& a, const CollectiveCurve& b) {
  return a.collective == b.collective && a.ranks == b.ranks && a.hosts == b.hosts;
}

bool operator==(const Curve& a, const Curve& b) {
  return same_subject(a, b) && a.points == b.points && a.source == b.source && a.from == b.from &&
         a.half_width == b.half_width;
}

const Quantity& Machine::number(std::string_view path) const {
  const auto found = numbers.find(path);
  if (found != numbers.end()) return found->second;
  const KnownNumber* known = find_number(path);
  expect(known != nullptr, "machine {}: no machine has a number '{}'", name, path);
  fail(Fault::invalid, "machine {} has no {}: {}", name, path, known->text);
}

const std::string& Machine::word(std::string_view path) const {
  const auto found = words.find(path);
  if (found != words.end()) return found->second;
  const KnownWord* known = find_word(path);
  expect(known != nullptr, "machine {}: no machine has a word '{}'", name, path);
  fail(Fault::invalid, "machine {} has no {}: {}", name, path, known->text);
}

std::string peak_path(Family family, Precision precision) {
  if (family == Family::pointwise) return "gpu.memory_bandwidth";
  if (precision.dtype == Dtype::int64) return "gpu.peak.float64";
  return fmt::format("gpu.peak.{}", name_of(precision));
}

std::vector<std::string> missing(const Machine& machine) {
  std::vector<std::string> paths;
  for (const KnownWord& known : known_words())
    if (must_have(known.need, machine) && !machine.words.contains(known.path))
      paths.emplace_back(known.path);
  for (const KnownNumber& known : known_numbers())
    if (must_have(known.need, machine) && !machine.has(known.path)) paths.emplace_back(known.path);
  return paths;
}

Machine extended(const Machine& base, Machine machine) {
  machine.numbers.insert(base.numbers.begin(), base.numbers.end());
  machine.words.insert(base.words.begin(), base.words.end());
  std::vector<Curve> inherited = base.curves;
  for (Curve& curve : inherited) scale(curve, base, machine);
  inherit(machine.curves, inherited);
  std::vector<CollectiveCurve> collectives = base.collectives;
  std::erase_if(collectives,
                [&](const CollectiveCurve& curve) { return rewired(base, machine, curve.hosts); });
  inherit(machine.collectives, collectives);
  return machine;
}

}  // namespace shardlab::sim
