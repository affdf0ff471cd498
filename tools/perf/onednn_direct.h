#pragma once

#include <cstdint>
#include <memory>

namespace shardlab::perf {

/// A float32 matrix product by oneDNN as its own documentation advises: weights in the layout that
/// the library picks, reordered on every call.
class DirectProduct {
 public:
  DirectProduct(std::int64_t m, std::int64_t n, std::int64_t k);
  ~DirectProduct();

  /// c [m, n] = a [m, k] b [k, n]; `packed` reorders b first, else b is read as it lies.
  void operator()(const float* a, const float* b, float* c, bool packed);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shardlab::perf
