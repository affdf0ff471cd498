#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shardlab::sim {

/// One thing a rank did, as a trace with times or a results file tells it.
struct Span {
  enum class Kind : std::uint8_t { kernel, transfer, wait } kind = Kind::kernel;
  std::string op;              ///< Kernel, or collective that runs or is waited for.
  std::string lane;            ///< Of the communicator; empty for kernels.
  std::uint64_t sequence = 0;  ///< Number of the call on its lane, from 1.
  double begin = 0;
  double end = 0;
};

/// All that some ranks did, one rank standing for `members` equal ones.
struct RankSpans {
  int rank = 0;
  int members = 1;
  std::vector<Span> spans;  ///< In program order.
  double slowed = 0;        ///< Seconds of its kernels that communication beside them added.
};

/// Where the time of one step went, on the rank whose kernels take longest: the others wait for it.
///
/// total = kernels + imbalance + slowed + launch + transfers + waiting + rest: kernels are those of
/// the rank in the middle, imbalance what this one needs longer for its own; launch is the device
/// idle between kernels for no call's sake; a wait is divided at the moment when the last member
/// came: before it somebody was late (waiting), after it data is under way (transfer).
///
/// The step begins with its first span, or when it is said to: what is idle before counts as
/// launch.
///
/// Units    Seconds.
struct Breakdown {
  int rank = 0;  ///< That rank, or the one that stands for it.
  double total = 0;
  double kernels = 0;
  double launch = 0;
  std::vector<std::pair<std::string, double>> transfers;  ///< By collective, exposed part.
  double imbalance = 0;
  double slowed = 0;
  double waiting = 0;
  double rest = 0;
};

[[nodiscard]] Breakdown breakdown(const std::vector<RankSpans>& ranks,
                                  std::optional<double> begins = std::nullopt);

struct Cause {
  std::string name;
  double seconds = 0;
};

/// Why N ranks take longer than T1 / N.
struct Waterfall {
  double ideal = 0;  ///< T1 / N.
  std::vector<Cause> causes;
  double unexplained = 0;  ///< total - ideal - causes; never handed out to them.
  double total = 0;
};

/// `total` is the time to explain: of the run itself, or published; `many` what is known of it.
[[nodiscard]] Waterfall explain(const Breakdown& one, const Breakdown& many, int ranks,
                                double one_total, double total);

}  // namespace shardlab::sim
