#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/check.h"
#include "engine/dispatch/create.h"
#include "engine/nn/parameters.h"
#include "tests/support/golden.h"

namespace shardlab::golden {

/// One dim of an array, cut over the ranks in these sizes.
struct Part {
  int dim = 0;
  std::vector<std::int64_t> sizes;
};

/// Where the arrays of a case lie in one execution; those not named are whole on every rank.
struct Arrangement {
  int ranks = 1;
  std::map<std::string, Part> parts;
  bool parameters_cut = false;  ///< Those of layers are kept cut along dim 0 and read whole.

  /// As printed: `3 ranks, k dim 1 in 2,0,3`.
  [[nodiscard]] std::string text() const;
};

/// Largest errors allowed.
struct Bounds {
  double forward = 0;
  double gradient = 0;
};

/// One execution of a case on one rank: hands out operands, takes results and compares them.
class Trial {
 public:
  Trial(Worker& worker, const Case& golden, const Arrangement& arrangement)
      : worker_(worker), case_(golden), arrangement_(arrangement) {}

  [[nodiscard]] Worker& worker() const { return worker_; }
  [[nodiscard]] const Case& golden() const { return case_; }
  [[nodiscard]] const Arrangement& arrangement() const { return arrangement_; }

  template <typename T>
  [[nodiscard]] T attribute(const char* name) const {
    check(case_.attributes.contains(name), "{}: no attribute '{}'", case_.id, name);
    return case_.attributes[name].get<T>();
  }
  template <typename T>
  [[nodiscard]] T attribute(const char* name, T otherwise) const {
    return case_.attributes.value(name, std::move(otherwise));
  }

  [[nodiscard]] bool has(const std::string& name) const { return case_.has_operand(name); }

  /// The tensor of an input or parameter; a leaf where the case has its gradient.
  [[nodiscard]] Tensor operand(const std::string& name);

  /// Parameters of a layer on this rank; `rules` hold before those of the arrangement.
  [[nodiscard]] nn::Parameters parameters(std::vector<nn::ParameterRule> rules) const;

  /// Lets a parameter of a layer stand for an operand, and gives it the operand's values.
  void assign(const std::string& name, const Tensor& parameter);

  /// The cotangent of an output, lying like `output`.
  [[nodiscard]] Tensor cotangent(const std::string& name, const Tensor& output) const;

  /// Takes an output, by tensor or by values.
  void give(const std::string& name, const Tensor& output);
  void give(const std::string& name, std::vector<double> values);

  /// Takes a gradient; those not given are worked out from the cotangents of the outputs given.
  void give_gradient(const std::string& name, const Tensor& gradient);

  /// What differs from the case, one line each; called once, on all ranks.
  [[nodiscard]] std::vector<std::string> differences(const Bounds& bounds);

 private:
  [[nodiscard]] const Layout* layout_of(const std::string& name, const Shape& shape) const;
  void take_gradients();

  Worker& worker_;
  const Case& case_;
  const Arrangement& arrangement_;
  std::map<std::string, Tensor> operands_;
  std::map<std::string, Tensor> outputs_;
  std::map<std::string, std::vector<double>> values_;
  std::map<std::string, std::vector<double>> gradients_;
};

}  // namespace shardlab::golden
