#pragma once

#include <string>
#include <vector>

namespace shardlab::cpu {

/// The vector instruction set that kernels run with now, as Highway names it: `AVX3` is AVX-512.
[[nodiscard]] std::string isa_level_name();

/// Every level that this build has and this processor can run, best first.
[[nodiscard]] std::vector<std::string> isa_levels();

/// Makes kernels run with one level only; an empty name takes the limit away. Not for use while
/// kernels run.
///
/// Errors   Error{invalid} listing the levels if `level` is none of them.
void restrict_isa_for_test(const std::string& level);

}  // namespace shardlab::cpu
