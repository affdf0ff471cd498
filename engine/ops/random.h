#pragma once

#include "engine/core/op.h"

namespace shardlab {

/// Values that depend on seed, number of the global call and global index only, and are therefore
/// the same on any mesh; they are exact in float32.
class Random final : public Op {
 public:
  enum class Kind : std::uint8_t { normal, uniform, integer };
  struct Options {
    Kind kind = Kind::normal;
    double scale = 1;  ///< Deviation, or the bound that values stay below (from 0).
    std::uint64_t seed = 1;
    std::uint64_t call = 0;
  };
  Random(Options options, Spec spec) : options_(options), spec_(std::move(spec)) {}
  [[nodiscard]] const char* name() const override { return "random"; }
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] const Layout* fixed_layout() const override { return spec_.layout; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  Options options_;
  Spec spec_;
};

/// 64 well-mixed bits of a counter.
///
/// Source   Steele, Lea and Flood 2014, SplitMix, doi:10.1145/2660193.2660195.
[[nodiscard]] constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t call,
                                                  std::uint64_t index) {
  const auto mixed = [](std::uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
  };
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ULL;
  return mixed(mixed(mixed(seed + golden) + golden * (call + 1)) + golden * (index + 1));
}

/// Normal values with this deviation.
[[nodiscard]] Tensor random_normal(Worker& worker, const Spec& spec, double deviation);

/// Uniform values from 0 to `bound`; whole numbers below it for int64.
[[nodiscard]] Tensor random_uniform(Worker& worker, const Spec& spec, double bound);

}  // namespace shardlab
