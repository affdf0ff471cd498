#include "tools/predict_offload.h"

#include <algorithm>

namespace shardlab {

OffloadPrediction with_offload(const Prediction& prediction, sim::Offload offload,
                               const Params& params, const Mesh& mesh,
                               const PredictOptions& options) {
  const sim::HostLink link = sim::host_link(options.machine, mesh.size());
  const sim::Placement placement(mesh, static_cast<int>(options.machine.value("nvlink.domain")));
  OffloadPrediction result;
  double exposed = 0;
  for (const sim::Timeline& timeline : prediction.simulated.timelines) {
    if (!timeline.kept) continue;
    const int number = prediction.traced->of_rank[timeline.rank];
    const RankMeasure& rank = prediction.traced->classes[number];
    const std::vector<Step>& steps = prediction.traced->folded[number].steps();
    const sim::EngineMemory engine =
        sim::engine_memory(steps, static_cast<double>(rank.peak_bytes), rank.at_peak, params.train);
    const sim::Offloaded each = sim::offloaded(offload, link, timeline, prediction.half_width,
                                               engine, static_cast<double>(rank.live_bytes_after));
    exposed = std::max(exposed, each.exposed_seconds);
    result.half_width = std::max(result.half_width, each.half_width);
    result.host_bytes = std::max(result.host_bytes, each.host_bytes);
    sim::DeviceMemory memory =
        sim::device_memory(options.machine, options.profile, each.engine, steps, placement);
    if (memory.total > result.memory.total) result.memory = std::move(memory);
  }
  result.seconds = prediction.simulated.seconds + exposed;
  result.fit = sim::fit(options.machine, result.memory);
  return result;
}

}  // namespace shardlab
