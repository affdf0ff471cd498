#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/dispatch/create.h"

namespace shardlab::nn {

/// Where parameters whose name ends with `suffix` are kept and read; the first rule that fits wins.
struct ParameterRule {
  std::string suffix;
  std::vector<Cut> stored;
  std::vector<Cut> used;
};

/// What ranks keep of a parameter beyond what its rule cuts.
enum class Storage {
  /// As the rule says.
  whole,
  /// A part of their own: axes that leave `stored` whole cut its outermost dim of more than one
  /// element, within the parts there are, so that all parts are one run of memory. Ranks beyond the
  /// extent keep nothing; a parameter of fewer elements than these ranks stays as it is.
  sharded,
};

/// Makes the parameters of a model: names, first values, and, from rules beside the model text,
/// layouts.
class Parameters {
 public:
  Parameters(Worker& worker, std::vector<ParameterRule> rules, Storage storage = Storage::whole)
      : worker_(worker), rules_(std::move(rules)), storage_(storage) {}

  [[nodiscard]] Worker& worker() const { return worker_; }

  /// A part of the model: its name is put before those made through it.
  [[nodiscard]] Parameters within(const std::string& name) const;

  /// A parameter of normal values with this deviation.
  [[nodiscard]] Tensor normal(const std::string& name, const Shape& shape, double deviation) const;

  /// A parameter of one value.
  [[nodiscard]] Tensor constant(const std::string& name, const Shape& shape, double value) const;

 private:
  [[nodiscard]] Tensor placed(const std::string& name, const Shape& shape,
                              const std::function<Tensor(const Spec&)>& values) const;

  Worker& worker_;
  std::vector<ParameterRule> rules_;
  Storage storage_;
  std::string prefix_;
};

}  // namespace shardlab::nn
