#pragma once

#include "engine/core/trace.h"
#include "engine/sim/placement.h"

namespace shardlab::sim {

/// How started communications go on.
enum class Progress : std::uint8_t {
  beside,   ///< On a lane of their own, as NCCL on its stream.
  at_wait,  ///< By the rank itself when it waits, as rank threads copy.
};

/// A communication on idle wires.
struct CallPrice {
  double latency = 0;      ///< Shared with nothing.
  double transfer = 0;     ///< Longer if others move bytes over the same wires.
  bool in_domain = false;  ///< Bytes cross the fast links of each member.
  bool on_network = false;

  [[nodiscard]] double seconds() const { return latency + transfer; }
};

/// What every step of a trace costs, alone, on one machine and with one software profile.
///
/// Units    Seconds.
class Prices {
 public:
  virtual ~Prices() = default;

  /// What the host spends to issue a step.
  [[nodiscard]] virtual double issue(const Step& step) const = 0;

  /// Whether the host waits for every kernel, as on cpu.
  [[nodiscard]] virtual bool host_computes() const { return false; }

  /// A kernel on an idle device.
  [[nodiscard]] virtual double kernel(const Step& step) const = 0;

  /// From the moment that all its members are there.
  [[nodiscard]] virtual CallPrice communication(const Step& start, const Place& place) const = 0;

  [[nodiscard]] virtual Progress progress(const Step& /*start*/) const { return Progress::beside; }

  /// Factor on the time of kernels while a communication runs beside them.
  [[nodiscard]] virtual double beside_communication() const { return 1; }
};

}  // namespace shardlab::sim
