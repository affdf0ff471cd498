#include "tools/executions.h"

#include <chrono>

#include "engine/backends/cpu/cpu.h"
#include "engine/backends/meta/meta.h"
#include "engine/comm/record/record.h"
#include "engine/comm/thread/hub.h"
#include "engine/core/check.h"

namespace shardlab {

Execution cpu_execution() {
  Execution threads;
  threads.name = "cpu";
  threads.backend = [] { return std::make_unique<CpuBackend>(); };
  threads.connect = [](const Mesh& mesh) {
    // A rank that fails or leaves ends all waits at once; the deadline is for faults of our own,
    // and an uneven split may keep a peer waiting for as long as a step takes.
    const auto hub = std::make_shared<ThreadHub>(mesh, std::chrono::minutes(30));
    return Connection{[hub](int rank) { return hub->network(rank); },
                      [hub](int rank) { hub->leave(rank); },
                      [hub](const std::string& text) { hub->abort(text); }};
  };
  return threads;
}

Execution meta_execution() {
  Execution meta;
  meta.name = "meta";
  meta.one_after_another = true;
  meta.backend = [] { return std::make_unique<MetaBackend>(); };
  meta.connect = [](const Mesh&) {
    return Connection{[](int) { return std::make_unique<RecordNetwork>(); }, [](int) {},
                      [](const std::string&) {}};
  };
  return meta;
}

Execution execution_named(const std::string& name) {
  if (name == "cpu") return cpu_execution();
  if (name == "cuda")
    fail(Fault::unsupported,
         "--on cuda: the CUDA backend is not in this build; see `shardlab doctor`");
  fail(Fault::invalid, "--on {}: known are cpu and cuda", name);
}

}  // namespace shardlab
