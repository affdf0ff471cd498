#include <cmath>
#include <string_view>

#include "engine/core/error.h"
#include "engine/sim/nccl_log.h"

namespace {

void expect(bool ok) {
  if (!ok) __builtin_trap();
}

}  // namespace

// What is read as a log has rows, a curve that can be fitted, and ranks that agree with themselves.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  try {
    const auto log =
        shardlab::sim::read_nccl_log({reinterpret_cast<const char*>(data), size}, "fuzz");
    expect(!log.runs.empty());
    for (const auto& run : log.runs) {
      expect(!run.rows.empty());
      expect(run.ranks == 0 || run.may_have_ranks(run.ranks));
      expect(run.least_ranks <= run.most_ranks);
      const auto plateau = run.plateau();
      expect(plateau && std::isfinite(plateau->busbw) && std::isfinite(plateau->growth));
      double before = 0;
      for (const auto& [bytes, seconds] : run.points()) {
        expect(bytes > before && seconds > 0 && std::isfinite(seconds));
        before = bytes;
      }
    }
  } catch (const shardlab::Error& error) {
    expect(error.fault() == shardlab::Fault::invalid);
  }
  return 0;
}
