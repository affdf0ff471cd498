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
  double half_width = 0.5;  ///< Relative, of the 80 % interval; this one without any log.
  int logs = 0;             ///< Public logs that this rests on; 0: not validated.
  double most_bytes = 0;    ///< The largest size in them.
  int most_ranks = 0;       ///< The most ranks in them; of send_recv any number, it joins two.
};

/// Of predictions by `choose`, `all_to_all` and `exchange` on validated wires.
///
/// Source   Public logs of nccl-tests, by `half_width_from`.
[[nodiscard]] CollectiveTrust collective_trust(std::string_view collective, double bytes);

/// Whether several public logs are of wires of this kind, as `nvlink.kind` or `fabric.kind` of a
/// machine: switch, infiniband, roce, efa.
///
/// Of TCPXO, whose words pass through the hosts, there is one, which errs by a factor of 5 below
/// 64 MiB.
[[nodiscard]] bool are_validated(std::string_view wires);

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
