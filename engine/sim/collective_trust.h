#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace shardlab::sim {

/// Sizes of calls whose predictions err alike.
enum class Band : std::uint8_t { small, middle, large };

/// Below 1 MiB, to 64 MiB, above.
[[nodiscard]] Band band_of(double bytes);
[[nodiscard]] const char* name_of(Band band);

/// How well a collective is predicted without a log of it.
struct CollectiveTrust {
  double half_width = 0;  ///< Relative, of the 80 % interval.
  int logs = 0;           ///< Public logs that this rests on; 0: not validated.
};

/// Of predictions by `choose`, `all_to_all` and `exchange` on NVLink, InfiniBand, RoCE or EFA.
///
/// Half of the prediction is assumed where no log is; on other fabrics, whose words pass through
/// the hosts, errors of a factor of 5 were seen below 64 MiB.
///
/// Source   Public logs of nccl-tests, by `half_width_from`.
[[nodiscard]] CollectiveTrust collective_trust(std::string_view collective, double bytes);

/// A row of a log that was not used for what it is compared with.
struct Residual {
  Band band = Band::large;
  double error = 0;   ///< Of the prediction, relative: measured by predicted, less one.
  double weight = 1;  ///< One by the rows of its log in the band, so that logs count alike.
};

/// Half width within which five of six residuals of a band lie; 0 without any.
///
/// Five of six and not four of five, because rows of one log err together: few logs show less than
/// the whole spread.
[[nodiscard]] double half_width_from(std::span<const Residual> residuals, Band band);

}  // namespace shardlab::sim
