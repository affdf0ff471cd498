#include <string>
#include <string_view>

#include "engine/core/error.h"
#include "engine/sim/machine_toml.h"
#include "engine/sim/rates.h"
#include "tests/engine/sim/machine_case.h"

// A machine that is read can be written and read again, and prices kernels of any size.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace shardlab::sim;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto find = [&text](std::string_view name, const MachineText& by) {
    return name == "itself" ? MachineText{"itself", by.file + "+", text} : find_small(name, by);
  };
  try {
    const Machine machine = read_machine({"fuzz", "fuzz.toml", text}, find);
    if (!(read_machine({"fuzz", "fuzz.toml", to_toml(machine)}) == machine)) __builtin_trap();
    const Rates rates(machine);
    for (double work = 1e-3; work < 1e18; work *= 1e3)
      if (!(rates.time({Family::matmul, {}, work, work}).seconds >= 0)) __builtin_trap();
  } catch (const shardlab::Error&) {
    return 0;
  }
  return 0;
}
