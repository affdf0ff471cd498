#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/sim/text_lines.h"

namespace shardlab::sim {

/// One half (out-of-place or in-place) of a row of nccl-tests, as printed.
///
/// Units    Seconds and bytes/s.
struct NcclTiming {
  Rounded seconds;
  Rounded algbw;
  Rounded busbw;
  std::optional<double> wrong;  ///< Wrong elements found; none where nothing was checked.
  bool doubtful = false;        ///< An oddity says why; not to be fitted.
};

/// One size of a run.
struct NcclRow {
  int line = 0;
  std::int64_t bytes = 0;  ///< As nccl-tests counts them: all ranks' parts together.
  std::int64_t count = 0;
  std::optional<NcclTiming> out_of_place;
  std::optional<NcclTiming> in_place;
};

/// Why a run may not be what its reader takes it for.
enum class Symptom : std::uint8_t {
  wrong_ranks,   ///< The number of ranks that is stated is not the one that the numbers show.
  one_rank,      ///< Nothing was sent: each process ran alone.
  mixed_rows,    ///< Rows come from different numbers of ranks.
  wrong_values,  ///< The test found wrong results.
  broken_off,    ///< The run ended in an error.
  inconsistent,  ///< Rates are not size by time, in many rows.
  cpu_times,     ///< The table has times of the call, not of its completion.
  collapse,      ///< Large sizes are slower than smaller ones and stay so.
  slow,          ///< Below half of one 100 Gbit/s port a host: of known hardware, ask that instead.
};

struct Suspicion {
  Symptom symptom;
  int line = 0;
  std::string text;
};

/// What the largest sizes of a run reach.
struct Plateau {
  double busbw = 0;   ///< bytes/s at the largest size, the better half.
  double bytes = 0;   ///< The largest size.
  double growth = 0;  ///< busbw there by busbw at the size before, less one; 0 with one size.
};

/// One table of nccl-tests: one collective, element type and number of ranks.
struct NcclRun {
  int line = 0;            ///< Where its first row is.
  std::string collective;  ///< all_reduce, all_to_all, send_recv ...; empty where unknown.
  std::string dtype;       ///< As printed.
  std::string redop;       ///< As printed; empty for "none".
  std::int64_t root = -1;  ///< As printed; -1 where there is none.
  int listed_ranks = 0;    ///< Ranks that the header lists; 0 without a list.
  int hosts = 0;           ///< Hosts in that list; 0 without it.
  std::string gpu;         ///< Model of the first rank in that list.
  int ranks = 0;           ///< What the numbers show, else what is listed; 0 where unknown.
  int least_ranks = 0;     ///< The numbers fit least_ranks to most_ranks; 0 where they say nothing.
  int most_ranks = 0;
  std::string version;               ///< Of NCCL, as in "2.28.3".
  std::int64_t announced_least = 0;  ///< Sizes that the header announces, in bytes; 0 without it.
  std::int64_t announced_most = 0;
  std::vector<NcclRow> rows;
  std::vector<Oddity> oddities;
  std::vector<Suspicion> suspicions;

  [[nodiscard]] bool suspect() const { return !suspicions.empty(); }

  /// Whether the numbers allow a run on so many ranks, as a label beside the log may state.
  [[nodiscard]] bool may_have_ranks(int count) const;

  [[nodiscard]] std::optional<Plateau> plateau() const;

  /// Bytes and seconds, sizes rising, without doubtful timings: out-of-place, or in-place where
  /// there is no other; of a size measured several times the median.
  [[nodiscard]] std::vector<std::pair<double, double>> points() const;
};

/// What one file holds.
struct NcclLog {
  std::string name;
  std::vector<NcclRun> runs;
  std::vector<Oddity> oddities;  ///< Of lines outside of any run.
};

/// Reads what nccl-tests printed, or its JSON file. `name` is for messages.
///
/// What a log cannot tell: a run that is slow by a constant factor looks like one on a slower
/// fabric. `Symptom::slow` catches only the hopeless; compare plateau() with what the machine
/// should reach.
///
/// Cost     Linear in the text.
/// Errors   invalid with file and line: no table, or JSON that is none before the first row.
[[nodiscard]] NcclLog read_nccl_log(std::string_view text, std::string_view name);

/// Bus bandwidth by algorithm bandwidth of a collective on so many ranks; 0 where unknown.
///
/// Example  bus_factor("all_reduce", 8) == 1.75
[[nodiscard]] double bus_factor(std::string_view collective, double ranks);

}  // namespace shardlab::sim
