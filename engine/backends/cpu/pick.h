#pragma once

#include <type_traits>

namespace shardlab::cpu {

/// Whichever of two functions is for elements of type T.
template <typename T, typename Single, typename Double>
[[nodiscard]] auto pick(Single* single, Double* twofold) {
  if constexpr (std::is_same_v<T, float>)
    return single;
  else
    return twofold;
}

}  // namespace shardlab::cpu
