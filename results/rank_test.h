#pragma once

#include <cstddef>
#include <span>

namespace shardlab::results {

/// What a rank test says.
struct RankTest {
  double statistic = 0;  ///< Sum over pairs or differences: see the test.
  double p = 1;          ///< Two-sided: how often chance alone gives at least this.
  bool exact = true;     ///< Counted over all arrangements, else the normal approximation.
};

/// Whether values of `b` tend to lie above those of `a`: the U test of Mann and Whitney.
///
/// The statistic is the number of pairs in which `b` is larger, ties counting a half. Up to 50
/// values together all arrangements are counted, ties included; beyond, the approximation corrects
/// for ties and continuity.
///
/// Cost     (values together)^4 / 8 additions where exact.
/// Errors   invalid: a side without values, or a value that is not a number.
/// Source   Mann and Whitney, Annals of Mathematical Statistics 18, 1947.
[[nodiscard]] RankTest mann_whitney(std::span<const double> a, std::span<const double> b);

/// Whether differences of pairs tend to one side of zero: the signed-rank test of Wilcoxon.
///
/// The statistic is the sum of the ranks of the positive ones. Zeros are left out. Up to 50
/// differences all signs are counted, ties included; beyond, as above.
///
/// Errors   invalid: a difference that is not a number.
/// Source   Wilcoxon, Biometrics Bulletin 1, 1945.
[[nodiscard]] RankTest signed_rank(std::span<const double> differences);

/// The smallest p that samples of these sizes can reach.
[[nodiscard]] double least_mann_whitney_p(std::size_t a, std::size_t b);
[[nodiscard]] double least_signed_rank_p(std::size_t pairs);

}  // namespace shardlab::results
