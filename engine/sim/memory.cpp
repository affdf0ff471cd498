#include "engine/sim/memory.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace shardlab::sim {
namespace {

Quantity exact(double value, const char* from) { return {value, Source::user_measured, from, 0.0}; }

/// Channels of a communicator that hold buffers: NCCL's usual number.
constexpr double channels = 8;

/// Communicators of a trace, with the peers that each connects to.
double communicator_bytes(const Machine& machine, std::span<const Step> steps) {
  std::vector<AxisList> seen;
  double bytes = 0;
  for (const Step& step : steps) {
    if (step.kind != Step::Kind::start) continue;
    if (std::find(seen.begin(), seen.end(), step.axes) != seen.end()) continue;
    seen.push_back(step.axes);
    // A ring or a neighbour exchange connects to two peers.
    bytes += 2 * channels * machine.value_or("nccl.buffer", 0);
  }
  return bytes;
}

}  // namespace

EngineMemory engine_memory(std::span<const Step> steps, double peak,
                           const std::array<std::int64_t, category_count>& at_peak, bool training) {
  EngineMemory memory;
  memory.peak = peak;
  for (int c = 0; c < category_count; ++c) memory.at_peak[c] = static_cast<double>(at_peak[c]);
  memory.parameters = memory.at_peak[static_cast<int>(Category::parameter)];
  memory.training = training;
  for (const Step& step : steps) {
    if (step.kind == Step::Kind::start && step.relative_peer != 0) memory.ring = true;
    if (step.kind == Step::Kind::kernel && std::strcmp(step.op, "attention") == 0)
      memory.query_block = std::max(memory.query_block,
                                    static_cast<double>(step.local.count() * width_of(step.dtype)));
  }
  return memory;
}

DeviceMemory device_memory(const Machine& machine, const Profile& profile,
                           const EngineMemory& engine, std::span<const Step> steps,
                           const Placement& placement) {
  DeviceMemory memory;
  memory.engine = engine.peak;
  for (int c = 0; c < category_count; ++c)
    if (engine.at_peak[c] > 0)
      memory.parts.push_back(
          {name_of(static_cast<Category>(c)), exact(engine.at_peak[c], "counted by the engine")});
  memory.allocated = engine.peak;
  const auto add = [&](const char* name, Quantity bytes) {
    if (bytes.value <= 0) return;
    memory.parts.push_back({name, std::move(bytes)});
  };
  if (profile.keeps_training_state && !engine.training) {
    add("gradients and optimizer state kept at inference",
        exact(3 * engine.parameters, "gradient and two moments of every parameter"));
    memory.allocated += 3 * engine.parameters;
  }
  if (engine.ring && !engine.training) {
    Quantity blocks = profile.attention_blocks;
    blocks.value *= engine.query_block;
    memory.allocated += blocks.value;
    add("copies of the ring attention", blocks);
  }
  const double segment = machine.value_or("allocator.segment", 1);
  const double large = machine.value_or("allocator.large_segment", 0);
  memory.reserved = std::ceil((memory.allocated + large) / segment) * segment;
  add("allocator", {memory.reserved - memory.allocated, Source::derived,
                    "one open segment, rounded up to whole ones", 1.0});
  double total = memory.reserved;
  for (const char* path : {"gpu.context", "gpu.workspace"})
    if (machine.has(path)) {
      add(path, machine.number(path));
      total += machine.value(path);
    }
  if (placement.mesh().size() > 1) {
    const double base = machine.value_or("nccl.communicator", 0);
    const double connections = communicator_bytes(machine, steps);
    Quantity buffers =
        machine.has("nccl.communicator") ? machine.number("nccl.communicator") : exact(0, "none");
    buffers.value = std::max(base, connections);
    total += buffers.value;
    add("NCCL buffers", buffers);
  }
  memory.total = total;
  double variance = 0;
  for (const MemoryPart& part : memory.parts)
    variance += std::pow(part.bytes.value * part.bytes.half_width, 2);
  memory.half_width = std::sqrt(variance) / std::max(1.0, total);
  return memory;
}

Fit fit(const Machine& machine, const DeviceMemory& memory, double margin) {
  Fit result;
  const double room = machine.value("gpu.memory");
  const double needed = memory.total * (1 + std::max(margin, memory.half_width));
  if (needed <= room) return result;
  result.fits = false;
  result.over = needed - room;
  const auto largest = std::max_element(
      memory.parts.begin(), memory.parts.end(),
      [](const MemoryPart& a, const MemoryPart& b) { return a.bytes.value < b.bytes.value; });
  result.breaker = largest->name;
  return result;
}

}  // namespace shardlab::sim
