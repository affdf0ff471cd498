#pragma once

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

/// Makes the parameters of a model: names, first values, and, from rules beside the model text,
/// layouts.
class Parameters {
 public:
  Parameters(Worker& worker, std::vector<ParameterRule> rules)
      : worker_(worker), rules_(std::move(rules)) {}

  [[nodiscard]] Worker& worker() const { return worker_; }

  /// A part of the model: its name is put before those made through it.
  [[nodiscard]] Parameters within(const std::string& name) const;

  /// A parameter of normal values with this deviation.
  [[nodiscard]] Tensor normal(const std::string& name, const Shape& shape, double deviation) const;

  /// A parameter of one value.
  [[nodiscard]] Tensor constant(const std::string& name, const Shape& shape, double value) const;

 private:
  [[nodiscard]] const Layout* layout_of(const std::string& name, const Shape& shape,
                                        const std::vector<Cut> ParameterRule::*which) const;

  Worker& worker_;
  std::vector<ParameterRule> rules_;
  std::string prefix_;
};

}  // namespace shardlab::nn
