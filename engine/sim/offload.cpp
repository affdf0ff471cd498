#include "engine/sim/offload.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/core/check.h"

namespace shardlab::sim {
namespace {

enum Part : std::uint8_t { forward, backward, update, part_count };

Part part_of(const Step& step) {
  if (step.scope == nullptr) return forward;
  const auto within = [&step](std::string_view name) {
    return step.scope->starts_with(name) &&
           (step.scope->size() == name.size() || (*step.scope)[name.size()] == '.');
  };
  return within("optimizer") ? update : within("backward") ? backward : forward;
}

/// Steps of one part of a training step, in program order.
struct Window {
  std::size_t begin = 0;
  std::size_t end = 0;
  double seconds = 0;
};

/// Parts follow each other: a part begins with its first step.
std::array<Window, part_count> windows_of(const Timeline& timeline) {
  const std::vector<TimedStep>& steps = timeline.steps;
  std::array<Window, part_count> windows;
  double end = timeline.seconds;
  std::size_t last = steps.size();
  for (const Part part : {update, backward, forward}) {
    Window& window = windows[part];
    const auto first = std::find_if(steps.begin(), steps.end(), [part](const TimedStep& timed) {
      return part_of(*timed.step) == part;
    });
    window.end = last;
    window.begin = part == forward ? 0 : std::min<std::size_t>(last, first - steps.begin());
    if (window.begin == window.end) continue;
    const double begin = part == forward ? 0 : std::min(end, steps[window.begin].begin_seconds);
    window.seconds = end - begin;
    end = begin;
    last = window.begin;
  }
  return windows;
}

double largest_output(const Timeline& timeline, const Window& window) {
  double largest = 0;
  for (std::size_t i = window.begin; i < window.end; ++i) {
    const Step& step = *timeline.steps[i].step;
    if (step.kind == Step::Kind::kernel)
      largest = std::max(largest, static_cast<double>(step.local.count() * width_of(step.dtype)));
  }
  return largest;
}

/// Bytes alive at each step beyond what always lives, and how many of them are in host memory.
struct Alive {
  std::vector<double> bytes;
  std::vector<double> away;
  double saved = 0;      ///< When forward ends.
  double gradients = 0;  ///< When backward ends.
};

Alive alive_of(const Timeline& timeline, const std::array<Window, part_count>& windows,
               double rest) {
  Alive alive;
  for (const TimedStep& timed : timeline.steps)
    alive.bytes.push_back(std::max(0.0, static_cast<double>(timed.step->live_bytes) - rest));
  alive.away.resize(alive.bytes.size());
  const Window& ahead = windows[forward];
  const Window& back = windows[backward];
  if (ahead.begin == ahead.end || back.begin == back.end) return alive;
  alive.saved = alive.bytes[ahead.end - 1];
  alive.gradients = alive.bytes[back.end - 1];
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = ahead.end; i-- > ahead.begin;)
    alive.away[i] = least = std::min(least, alive.bytes[i]);
  least = alive.saved;
  for (std::size_t i = back.begin; i < back.end; ++i) {
    least = std::min(least, alive.bytes[i]);
    alive.away[i] = std::max(0.0, least - alive.gradients);
  }
  return alive;
}

}  // namespace

const char* name_of(Offload offload) {
  if (offload.optimizer) return offload.activations ? "both" : "optimizer";
  return offload.activations ? "activations" : "none";
}

Offload parse_offload(std::string_view text) {
  for (const Offload& offload : all_offloads())
    if (text == name_of(offload)) return offload;
  fail(Fault::invalid, "unknown offload '{}'; known are none, optimizer, activations, both", text);
}

std::vector<Offload> all_offloads() {
  return {{}, {.optimizer = true}, {.activations = true}, {.optimizer = true, .activations = true}};
}

HostLink host_link(const Machine& machine, int ranks) {
  const Quantity& copy = machine.number("host.copy_bandwidth");
  const int devices = std::min(ranks, static_cast<int>(machine.value("host.gpus")));
  return {copy.value, machine.value_or("host.memory_bandwidth", 0), devices, copy.half_width};
}

double transfer_seconds(const HostLink& link, const Crossing& crossing) {
  const double wire = std::max(crossing.out_bytes, crossing.in_bytes) / link.copy_bandwidth;
  if (link.memory_bandwidth == 0) return wire;
  const double memory =
      link.devices * (crossing.out_bytes + crossing.in_bytes) / link.memory_bandwidth;
  return std::max(wire, memory);
}

double exposed_seconds(const HostLink& link, const Crossing& crossing) {
  return std::max(0.0, transfer_seconds(link, crossing) - crossing.compute_seconds);
}

Offloaded offloaded(Offload offload, const HostLink& link, const Timeline& timeline,
                    double half_width, const EngineMemory& engine, double rest) {
  const std::array<Window, part_count> windows = windows_of(timeline);
  const Alive alive = alive_of(timeline, windows, rest);
  const double state =
      offload.optimizer ? engine.at_peak[static_cast<int>(Category::optimizer)] : 0;
  const double saved = offload.activations ? alive.saved : 0;

  Offloaded result;
  result.host_bytes = state + saved;
  if (saved > 0) result.staged_bytes += 2 * largest_output(timeline, windows[forward]);
  if (state > 0) result.staged_bytes += 2 * 2 * largest_output(timeline, windows[update]);
  result.staged_bytes = std::min(result.staged_bytes, result.host_bytes);

  const Crossing crossings[part_count] = {{windows[forward].seconds, saved, 0},
                                          {windows[backward].seconds, 0, saved},
                                          {windows[update].seconds, state, state}};
  double copied = 0;
  double replaced = 0;
  for (const Crossing& crossing : crossings) {
    const double exposed = exposed_seconds(link, crossing);
    result.exposed_seconds += exposed;
    if (exposed == 0) continue;
    copied += transfer_seconds(link, crossing);
    replaced += crossing.compute_seconds;
  }
  // Parts that wait for the link are as uncertain as the link, the others as their kernels.
  const double total = timeline.seconds + result.exposed_seconds;
  if (total > 0)
    result.half_width =
        std::hypot(half_width * (timeline.seconds - replaced), link.half_width * copied) / total;

  result.engine = engine;
  double before = 0;
  double after = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < alive.bytes.size(); ++i) {
    before = std::max(before, alive.bytes[i]);
    const double stays = alive.bytes[i] - (offload.activations ? alive.away[i] : 0);
    if (stays <= after) continue;
    after = stays;
    at = i;
  }
  result.engine.peak = engine.peak - state - (before - after) + result.staged_bytes;
  auto& parts = result.engine.at_peak;
  parts[static_cast<int>(Category::optimizer)] -= state;
  if (saved > 0) {
    // The highest moment may be another one: what it holds is told as far as it is known.
    double others = 0;
    for (const Category each : {Category::parameter, Category::optimizer})
      others += parts[static_cast<int>(each)];
    double& gradients = parts[static_cast<int>(Category::gradient)];
    gradients = at >= windows[update].begin ? alive.gradients : std::min(gradients, after);
    for (const Category each : {Category::workspace, Category::communication})
      parts[static_cast<int>(each)] = 0;
    parts[static_cast<int>(Category::activation)] =
        std::max(0.0, result.engine.peak - others - gradients);
  }
  return result;
}

}  // namespace shardlab::sim
