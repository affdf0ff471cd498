#pragma once

#include <string>

namespace shardlab::results {

/// As people read it: `1.23 ms`, `45.1 MiB`, `169 GFLOP`.
[[nodiscard]] std::string show_seconds(double seconds);

/// Two times in the unit of the larger: `1.02 .. 6.88 ms`.
[[nodiscard]] std::string show_range(double low_seconds, double high_seconds);
[[nodiscard]] std::string show_bytes(double bytes);

/// Two sizes in the unit of the larger: `15.8 .. 16.1 MiB`.
[[nodiscard]] std::string show_byte_range(double low, double high);
[[nodiscard]] std::string show_flop(double flop);
[[nodiscard]] std::string show_percent(double fraction);

}  // namespace shardlab::results
