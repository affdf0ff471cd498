#include "tools/probe_verb.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "engine/core/check.h"
#include "engine/sim/machine_toml.h"
#include "results/store.h"
#include "tools/json_text.h"
#include "tools/picture.h"
#include "tools/probe.h"
#include "tools/probe_store.h"
#include "tools/table.h"

namespace shardlab {
namespace {

std::string rate_text(sim::Family family, double rate) {
  return family == sim::Family::pointwise ? fmt::format("{:.1f} GB/s", rate * 1e-9)
                                          : fmt::format("{:.1f} GFLOP/s", rate * 1e-9);
}

std::string size_text(sim::Family family, double size) {
  return family == sim::Family::pointwise ? show_bytes(size) : show_flop(size);
}

void print(const Probed& probed) {
  const sim::Machine& machine = probed.machine;
  fmt::print("{}, {:.0f} cores, {} a core\n\n", machine.word("gpu.name"),
             machine.value("host.gpus"), show_bytes(machine.value("gpu.memory")));
  Table kernels({"kernels", "dtype", "smallest", "rate", "largest", "rate", "best"});
  for (const sim::Curve& curve : machine.curves) {
    const auto best =
        std::max_element(curve.points.begin(), curve.points.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto& [small, small_rate] = curve.points.front();
    const auto& [large, large_rate] = curve.points.back();
    kernels.row({curve.op.empty() ? sim::name_of(curve.family) : curve.op,
                 curve.family == sim::Family::pointwise ? "" : name_of(curve.precision),
                 size_text(curve.family, small), rate_text(curve.family, small_rate),
                 size_text(curve.family, large), rate_text(curve.family, large_rate),
                 rate_text(curve.family, best->second)});
  }
  fmt::print("{}\n", kernels.text());
  Table calls({"collective", "ranks", "smallest", "time", "largest", "time"});
  for (const sim::CollectiveCurve& curve : machine.collectives)
    calls.row({curve.collective, fmt::to_string(curve.ranks),
               show_bytes(curve.points.front().first), show_seconds(curve.points.front().second),
               show_bytes(curve.points.back().first), show_seconds(curve.points.back().second)});
  if (!calls.empty()) fmt::print("{}\n", calls.text());
  if (machine.has("host.busy_compute"))
    fmt::print(
        "while every core works, a product keeps {:.0f} % of its rate alone, a sum {:.0f} %\n",
        100 * machine.value("host.busy_compute"), 100 * machine.value("host.busy_memory"));
  fmt::print("measured in {}\n", show_seconds(probed.seconds));
}

}  // namespace

Exit probe_verb(const ProbeVerbOptions& options) {
  check(options.point_seconds > 0 && options.point_seconds <= 1,
        "--point-seconds: expected more than 0, at most 1, found {}", options.point_seconds);
  // What cannot be stored is refused before it is measured.
  if (options.output.empty())
    results::Store(options.database);
  else
    spare_database(options.output);
  ProbeOptions probe;
  probe.point_seconds = options.point_seconds;
  const Probed probed =
      probe_machine(probe, [](const std::string& line) { fmt::print(stderr, "{} ...\n", line); });
  const std::string text = sim::to_toml(probed.machine);
  if (options.output.empty()) {
    store_probe(probed, options.database, options.command_line);
  } else {
    std::ofstream stream(options.output, std::ios::binary);
    stream << text << std::flush;
    if (!stream) fail(Fault::external, "{}: cannot be written", options.output);
  }
  if (options.json) {
    fmt::print("{}\n", json_text(nlohmann::json{{"seconds", probed.seconds}, {"machine", text}}));
    return Exit::fine;
  }
  print(probed);
  fmt::print("{}\nshardlab predict vit --machine {} --ranks 1,2\n",
             options.output.empty() ? "stored in " + options.database : "wrote " + options.output,
             options.output.empty() ? "this-cpu" : options.output);
  return Exit::fine;
}

}  // namespace shardlab
