#include "tools/calibrate_topology.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/sim/host_wires.h"
#include "engine/sim/sheet.h"
#include "engine/sim/text_lines.h"
#include "tools/json_text.h"
#include "tools/machine_text.h"
#include "tools/table.h"

namespace shardlab {
namespace {

/// What a machine and a topology say of one thing.
struct Said {
  std::string path;
  std::string machine;
  std::string file;
};

class Comparison {
 public:
  Comparison(const sim::Machine& machine, const sim::HostWires& wires)
      : machine_(machine), wires_(wires) {
    number("host.gpus", wires.gpus);
    number("nvlink.links", wires.links);
    number("nvlink.domain", wires.domain);
    word("nvlink.kind", wires.kind);
    number("nic.count", wires.nics);
    number("nic.bandwidth", wires.nic_bytes_per_second);
    number("nic.latency", wires.nic_latency);
  }

  void print(const std::string& name, const std::string& file) const {
    Table table({"", name, file});
    for (const Said& each : said_) table.row({each.path, each.machine, each.file});
    fmt::print("{}", table.text());
    for (const std::string& note : wires_.notes) fmt::print("{}: {}\n", file, note);
  }

  [[nodiscard]] nlohmann::json json() const {
    nlohmann::json rows = nlohmann::json::array();
    for (const Said& each : said_)
      rows.push_back({{"path", each.path}, {"machine", each.machine}, {"file", each.file}});
    return {{"rows", rows}, {"notes", wires_.notes}};
  }

 private:
  void number(const char* path, std::optional<double> value) {
    const sim::Dimension dimension = sim::find_number(path)->dimension;
    const auto shown = [dimension](double each) { return show_quantity(dimension, each); };
    said_.push_back({path, machine_.has(path) ? shown(machine_.value(path)) : "-",
                     value ? shown(*value) : "-"});
  }

  void word(const char* path, const std::string& value) {
    const auto known = machine_.words.find(path);
    said_.push_back(
        {path, known == machine_.words.end() ? "-" : known->second, value.empty() ? "-" : value});
  }

  const sim::Machine& machine_;
  const sim::HostWires& wires_;
  std::vector<Said> said_;
};

bool is_xml(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != std::string::npos && text[first] == '<';
}

}  // namespace

bool is_topology(const std::string& text) {
  if (is_xml(text)) return true;
  // A matrix names its columns above, and its first row begins with the same device.
  int rows = 0;
  for (sim::Lines lines(text); lines.next();) {
    const std::vector<std::string_view> words = sim::words_of(lines.text());
    rows += !words.empty() && words.front() == "GPU0" ? 1 : 0;
  }
  return rows >= 2;
}

sim::Machine calibrate_by_topology(const CalibrateOptions& options, const sim::Machine& machine,
                                   const std::string& text) {
  const std::string& file = options.from.front();
  const std::string name = std::filesystem::path(file).filename().string();
  const sim::HostWires wires =
      is_xml(text) ? wires_of(sim::read_nccl_topology(text, file))
                   : wires_of(sim::GpuMatrix::read(text, file),
                              static_cast<int>(machine.value_or("nvlink.links", 0)));
  sim::Machine own = sim::corrected(machine, wires, name);
  const Comparison comparison(machine, wires);
  if (options.json)
    fmt::print("{}\n", json_text(comparison.json()));
  else
    comparison.print(machine.name, name);
  return own;
}

}  // namespace shardlab
