#include "tools/probe.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "engine/backends/cpu/peak.h"
#include "engine/core/check.h"
#include "engine/core/trace.h"
#include "engine/launch/launch.h"
#include "engine/sim/profile.h"
#include "tools/environment.h"
#include "tools/probe_busy.h"
#include "tools/probe_collectives.h"
#include "tools/probe_kernels.h"
#include "tools/probe_pointwise.h"

namespace shardlab {
namespace {

using sim::Source;

double memory_bytes() {
  std::ifstream info("/proc/meminfo");
  std::string word;
  double kibibytes = 0;
  while (info >> word)
    if (word == "MemTotal:" && info >> kibibytes) return kibibytes * 1024;
  fail(Fault::unsupported, "probe: /proc/meminfo does not say how much memory there is");
}

std::string vendor_of(const std::string& processor) {
  if (processor.find("AMD") != std::string::npos) return "amd";
  return processor.find("Intel") != std::string::npos ? "intel" : "arm";
}

/// Rates from what was measured, less what every kernel costs.
sim::Curve curve_of(sim::Family family, Dtype dtype, const std::vector<ProbedPoint>& points,
                    double launch) {
  sim::Curve curve;
  curve.family = family;
  curve.precision = {dtype, MathMode::exact};
  curve.source = Source::user_measured;
  curve.from = "shardlab probe, one core";
  std::vector<double> spreads;
  for (const ProbedPoint& point : points) {
    if (point.seconds < 1.5 * launch) continue;
    curve.points.emplace_back(point.size, point.size / (point.seconds - launch));
    spreads.push_back(point.spread);
  }
  curve.half_width = sim::half_width_of(curve.source);
  if (!spreads.empty())
    curve.half_width = std::clamp(probed(1, spreads).seconds, curve.half_width, 1.0);
  return curve;
}

double best_pointwise_rate(const sim::Machine& machine) {
  double best = 0;
  for (const sim::Curve& curve : machine.curves)
    if (curve.family == sim::Family::pointwise)
      for (const auto& [size, rate] : curve.points) best = std::max(best, rate);
  return best;
}

class Prober {
 public:
  Prober(const ProbeOptions& options, const ProbeProgress& progress)
      : options_(options), progress_(progress) {}

  Probed run() {
    const double begin = Trace::now_seconds();
    topology();
    kernels();
    peaks();
    if (cores_ > 1) {
      probed_.machine.collectives = probe_collectives(options_, cores_, progress_);
      progress_("all cores at once");
      const BusyShares busy = probe_busy(options_, cores_);
      number("host.busy_compute", busy.compute, "a product on all cores at once", 0.1);
      number("host.busy_memory", busy.memory, "a large sum on all cores at once", 0.1);
    }
    probed_.seconds = Trace::now_seconds() - begin;
    return std::move(probed_);
  }

 private:
  void number(const char* path, double value, const char* from, double half_width = 0.05) {
    probed_.machine.numbers[path] = {value, Source::user_measured, from, half_width};
  }

  void topology() {
    sim::Machine& machine = probed_.machine;
    machine.name = "this-cpu";
    machine.words["gpu.name"] = processor_name();
    machine.words["gpu.arch"] = "cpu";
    machine.words["host.cpu"] = vendor_of(processor_name());
    number("gpu.memory", std::floor(memory_bytes() / cores_), "MemTotal by cores", 0.01);
    number("host.gpus", cores_, "cores that this process may run on", 0.01);
    number("nvlink.domain", cores_, "ranks are threads of one process", 0.01);
    number("nic.count", 0, "one host", 0.01);
  }

  void kernels() {
    sim::Machine& machine = probed_.machine;
    progress_("dispatch");
    const DispatchCost cost = probe_dispatch(options_);
    // The profile has the dispatch of the machine that it was made on.
    const double known = sim::find_profile("shardlab").op_issue.value;
    number("gpu.launch", cost.kernel_seconds, "sum of 64 elements", 0.3);
    number("host.launch", std::max(0.0, cost.issue_seconds - known),
           "an op beside its kernel, less op_issue of the profile", 0.3);
    const auto add = [&](sim::Family family, Dtype dtype, const std::vector<ProbedPoint>& points,
                         const std::string& op = {}) {
      sim::Curve curve = curve_of(family, dtype, points, cost.kernel_seconds);
      curve.op = op;
      if (!curve.points.empty()) machine.curves.push_back(std::move(curve));
    };
    progress_("pointwise kernels");
    const std::vector<ProbedOp> pointwise = probe_pointwise(options_);
    add(sim::Family::pointwise, Dtype::float32, mean_of(pointwise));
    for (const ProbedOp& each : pointwise)
      add(sim::Family::pointwise, Dtype::float32, each.points, each.op);
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
      progress_(fmt::format("products and attention in {}", name_of(dtype)));
      add(sim::Family::matmul, dtype, probe_products(options_, dtype));
      const ProbedAttention attention = probe_attention(options_, dtype);
      add(sim::Family::attention, dtype, attention.forward);
      add(sim::Family::attention_gradient, dtype, attention.gradient);
    }
  }

  void peaks() {
    number("gpu.memory_bandwidth", best_pointwise_rate(probed_.machine),
           "best of the pointwise kernels");
    const double single = cpu::measure_fma_peak_flops(false);
    number("gpu.peak.float32", single, "multiply-adds in registers");
    number("gpu.peak.float64", cpu::measure_fma_peak_flops(true), "multiply-adds in registers");
    for (const char* half : {"gpu.peak.bfloat16", "gpu.peak.float16"})
      number(half, single, "as float32: this backend has no kernels of it", 0.5);
  }

  const ProbeOptions& options_;
  const ProbeProgress& progress_;
  int cores_ = usable_cores();
  Probed probed_;
};

}  // namespace

ProbedPoint probed(double size, std::vector<double> samples) {
  expect(!samples.empty(), "probe: no sample at size {}", size);
  std::sort(samples.begin(), samples.end());
  const std::size_t count = samples.size();
  const double median = samples[count / 2];
  const double spread = 0.5 * (samples[count - 1 - count / 10] - samples[count / 10]);
  return {size, median, median > 0 ? spread / median : 0};
}

Probed probe_machine(const ProbeOptions& options, const ProbeProgress& progress) {
  return Prober(options, progress).run();
}

}  // namespace shardlab
