#include "tools/machine_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "engine/sim/machines.h"
#include "engine/sim/profile.h"
#include "engine/sim/sheet.h"
#include "tools/noted_table.h"
#include "tools/table.h"

namespace shardlab {
namespace {

using sim::Dimension;

std::string numbers_text(const sim::Machine& machine) {
  NotedTable table({"number", "value", "80 % interval", "source", "from"});
  for (const sim::KnownNumber& known : sim::known_numbers()) {
    const auto found = machine.numbers.find(known.path);
    if (found == machine.numbers.end()) continue;
    const sim::Quantity& each = found->second;
    table.rows(
        {{std::string(known.path), show_quantity(known.dimension, each.value),
          show_quantity_range(known.dimension, each.value, each.half_width), name_of(each.source)}},
        each.from);
  }
  return table.text();
}

std::string percent(double fraction) { return fmt::format("+-{:.3g} %", 100 * fraction); }

/// Curves that say the same of several precisions.
struct Group {
  sim::Curve curve;
  std::string dtypes;

  [[nodiscard]] std::string title() const {
    return fmt::format("{}, {}", curve.op.empty() ? name_of(curve.family) : curve.op, dtypes);
  }
};

std::vector<Group> groups_of(const sim::Machine& machine) {
  std::vector<Group> groups;
  for (const sim::Curve& curve : machine.curves) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.curve.family == curve.family && group.curve.op == curve.op &&
             group.curve.points == curve.points && group.curve.from == curve.from &&
             group.curve.source == curve.source && group.curve.half_width == curve.half_width;
    });
    const bool any = curve.family == sim::Family::pointwise;
    const std::string dtype = any ? "any dtype" : name_of(curve.precision);
    if (same == groups.end())
      groups.push_back({curve, dtype});
    else
      same->dtypes += ", " + dtype;
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return std::tie(a.curve.family, a.curve.op, a.dtypes) <
           std::tie(b.curve.family, b.curve.op, b.dtypes);
  });
  return groups;
}

std::string curves_text(const sim::Machine& machine) {
  const std::vector<Group> groups = groups_of(machine);
  std::string text;
  for (std::size_t g = 0; g < groups.size();) {
    const sim::Family family = groups[g].curve.family;
    const bool pointwise = family == sim::Family::pointwise;
    const Dimension size = pointwise ? Dimension::bytes : Dimension::flop;
    const Dimension rate = pointwise ? Dimension::bytes_per_second : Dimension::flop_per_second;
    const std::string peak = sim::peak_path(family, groups[g].curve.precision);
    const std::string title = groups[g].title();
    NotedTable table({"size", "rate", "of peak", "80 %", "source", "from"});
    for (; g < groups.size() && groups[g].title() == title; ++g) {
      const sim::Curve& curve = groups[g].curve;
      std::vector<std::vector<std::string>> rows;
      for (const auto& [at, what] : curve.points)
        rows.push_back(
            {show_quantity(size, at), show_quantity(rate, what),
             machine.has(peak) ? fmt::format("{:.1f} %", 100 * what / machine.value(peak)) : "-"});
      rows.front().push_back(percent(curve.half_width));
      rows.front().emplace_back(name_of(curve.source));
      table.rows(std::move(rows), curve.from);
    }
    text += fmt::format("\n{}\n{}", title, table.text());
  }
  return text;
}

std::string collectives_text(const sim::Machine& machine) {
  std::string text;
  for (const sim::CollectiveCurve& curve : machine.collectives) {
    NotedTable table({"size", "time", "size by time", "80 %", "source", "from"});
    std::vector<std::vector<std::string>> rows;
    for (const auto& [bytes, seconds] : curve.points)
      rows.push_back(
          {show_quantity(Dimension::bytes, bytes), show_quantity(Dimension::seconds, seconds),
           seconds > 0 ? show_quantity(Dimension::bytes_per_second, bytes / seconds) : "-"});
    rows.front().push_back(percent(curve.half_width));
    rows.front().emplace_back(name_of(curve.source));
    table.rows(std::move(rows), curve.from);
    text += fmt::format("\n{}, {} rank{} on {} host{}{}\n{}", curve.collective, curve.ranks,
                        curve.ranks == 1 ? "" : "s", curve.hosts, curve.hosts == 1 ? "" : "s",
                        curve.extrapolated() ? ", extrapolated" : "", table.text());
  }
  return text;
}

std::string cell(const sim::Machine& machine, const char* path) {
  const auto found = machine.numbers.find(path);
  if (found == machine.numbers.end()) return "-";
  return show_quantity(sim::find_number(path)->dimension, found->second.value);
}

std::string ports(const sim::Machine& machine) {
  const auto kind = machine.words.find("fabric.kind");
  if (kind == machine.words.end() || !machine.has("nic.count")) return "-";
  return fmt::format("{} x {} {}", cell(machine, "nic.count"), cell(machine, "nic.bandwidth"),
                     kind->second);
}

struct Cost {
  const char* name;
  const char* text;
  Dimension dimension;
  const sim::Quantity* quantity;
};

std::vector<Cost> costs_of(const sim::Profile& profile) {
  return {
      {"op_issue", "host, an op on a whole tensor", Dimension::seconds, &profile.op_issue},
      {"sharded_issue", "host, an op on a sharded tensor", Dimension::seconds,
       &profile.sharded_issue},
      {"call_issue", "host, to start a communication", Dimension::seconds, &profile.call_issue},
      {"ring_message", "host, a message of a ring", Dimension::seconds, &profile.ring_message},
      {"beside", "factor on kernels beside a call", Dimension::count, &profile.beside},
      {"attention_blocks", "blocks of queries held more", Dimension::count,
       &profile.attention_blocks},
  };
}

}  // namespace

std::string machine_text(const sim::Machine& machine) {
  std::string text = machine.name + "\n\n";
  Table words({"word", "value", "meaning"});
  for (const sim::KnownWord& known : sim::known_words()) {
    const auto found = machine.words.find(known.path);
    if (found != machine.words.end())
      words.row({std::string(known.path), found->second, std::string(known.text)});
  }
  text += words.text() + "\n" + numbers_text(machine);
  return text + curves_text(machine) + collectives_text(machine);
}

std::string machines_text() {
  Table table({"machine", "device", "a host", "memory", "bandwidth", "bfloat16", "domain",
               "ports of a host", "measured"});
  for (const sim::BuiltInMachine& each : sim::built_in_machines()) {
    const sim::Machine machine = sim::find_machine(each.name);
    const auto measured = std::count_if(
        machine.numbers.begin(), machine.numbers.end(),
        [](const auto& number) { return number.second.source < sim::Source::derived; });
    table.row({machine.name, machine.word("gpu.name"), cell(machine, "host.gpus"),
               cell(machine, "gpu.memory"), cell(machine, "gpu.memory_bandwidth"),
               cell(machine, "gpu.peak.bfloat16"), cell(machine, "nvlink.domain"), ports(machine),
               fmt::format("{} of {}", measured, machine.numbers.size())});
  }
  return table.text();
}

std::string profiles_text() {
  std::string text;
  for (const sim::Profile& profile : sim::profiles()) {
    text += fmt::format(
        "{}{}: {}\n  a ring {}; {}\n", text.empty() ? "" : "\n", profile.name, profile.about,
        profile.ring.overlaps ? "overlaps with attention" : "does not overlap",
        profile.keeps_training_state ? "inference keeps gradients and optimizer state"
                                     : "inference keeps parameters only");
    NotedTable table({"cost", "value", "80 % interval", "source", "from"});
    for (const Cost& cost : costs_of(profile))
      table.rows(
          {{cost.text, show_quantity(cost.dimension, cost.quantity->value),
            show_quantity_range(cost.dimension, cost.quantity->value, cost.quantity->half_width),
            name_of(cost.quantity->source)}},
          cost.quantity->from);
    text += table.text();
  }
  return text;
}

}  // namespace shardlab
