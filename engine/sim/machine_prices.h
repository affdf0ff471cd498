#pragma once

#include <string_view>
#include <vector>

#include "engine/sim/machine.h"
#include "engine/sim/nccl.h"
#include "engine/sim/prices.h"
#include "engine/sim/profile.h"
#include "engine/sim/rate_line.h"
#include "engine/sim/rates.h"

namespace shardlab::sim {

/// What a machine's wires look like to NCCL.
[[nodiscard]] Wires wires_of(const Machine& machine);

/// Changes to a machine, as typed behind `--what-if`.
struct WhatIf {
  double bandwidth = 1;  ///< Of all wires.
  double latency = 1;    ///< Factor on what a communication of no bytes takes.
  double peak = 1;       ///< Of all kernels.
  double launch = 0;     ///< More host seconds a kernel.
  bool overlap = true;   ///< Communications run beside kernels.
  double slow_rank = 1;  ///< Factor on the kernels of rank 0.

  [[nodiscard]] bool changes() const;
};

/// Reads `bandwidth=2x,latency=0.5x,peak=2x,launch=20us,overlap=off,slow-rank=1.2x`.
///
/// Errors   Error{invalid} naming the known words.
[[nodiscard]] WhatIf parse_what_if(std::string_view text);

/// How well the time of a communication is known.
struct CallTrust {
  double half_width = 0;
  Source source = Source::derived;
  bool extrapolated = false;  ///< Sizes or ranks lie outside what was measured.
  bool validated = true;      ///< Measured, or by a model that logs of such calls were held to.
};

/// Prices of a machine and a software profile.
///
/// A call loads the fast links of its ranks unless each domain has one member only, and the network
/// if it crosses domains; an exchange loads what lies between a rank and its farther peer. Its
/// latency is what the model says that no bytes would take, or the fastest time of a measured
/// curve.
class MachinePrices final : public Prices {
 public:
  /// Of `ranks` that work at once; the GPUs of a host that is not full share nothing with idle
  /// ones.
  MachinePrices(const Machine& machine, const Profile& profile, MathMode math,
                const WhatIf& what_if = {}, int ranks = 1);

  [[nodiscard]] double issue(const Step& step) const override;
  [[nodiscard]] bool host_computes() const override { return cpu_; }
  [[nodiscard]] double kernel(const Step& step) const override;
  [[nodiscard]] CallPrice communication(const Step& start, const Place& place) const override;
  [[nodiscard]] Progress progress(const Step& start) const override;
  [[nodiscard]] double beside_communication() const override { return profile_.beside.value; }

  /// Of the communication that was started so.
  [[nodiscard]] CallTrust trust(const Step& start, const Place& place) const;

  /// Time and trust of one kernel.
  [[nodiscard]] OpTime rated(const Step& step) const;

 private:
  [[nodiscard]] CallPrice modelled(const Step& start, const Place& place) const;
  [[nodiscard]] const CollectiveCurve* curve_of(std::string_view collective,
                                                const Place& place) const;

  /// Whether curves of no more and of no fewer ranks are known.
  [[nodiscard]] bool measured_around(std::string_view collective, const Place& place) const;

  const Machine& machine_;
  Profile profile_;
  WhatIf what_if_;
  Rates rates_;
  MathMode math_;
  bool cpu_;
  double busy_compute_;  ///< Share of its rate that a kernel keeps beside those of other ranks.
  double busy_memory_;
  Wires wires_;
  std::vector<RateLine> lines_;  ///< Of the machine's collectives, in their order.
};

}  // namespace shardlab::sim
