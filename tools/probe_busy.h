#pragma once

#include "tools/probe.h"

namespace shardlab {

/// What kernels keep of their rate alone while every core works on its own.
struct BusyShares {
  double compute = 1;  ///< Of a product.
  double memory = 1;   ///< Of a sum that no cache holds.
};

/// Medians of pairs taken one after the other, so that what slows both does not count.
[[nodiscard]] BusyShares probe_busy(const ProbeOptions& options, int cores);

}  // namespace shardlab
