#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/tensor.h"

namespace shardlab {

/// Values of a scenario's parameters, as text; every one becomes a flag of the command line.
class Params {
 public:
  void set(const std::string& name, std::string value) { values_[name] = std::move(value); }
  [[nodiscard]] bool has(const std::string& name) const { return values_.count(name) != 0; }

  /// Errors   Error{invalid} naming the parameter if the value is not of the kind.
  [[nodiscard]] std::int64_t integer(const std::string& name) const;
  [[nodiscard]] double number(const std::string& name) const;
  [[nodiscard]] std::vector<std::int64_t> sizes(const std::string& name) const;
  [[nodiscard]] const std::string& text(const std::string& name) const;
  [[nodiscard]] const std::map<std::string, std::string>& all() const { return values_; }

  /// Set by the command line for every scenario.
  Precision precision;
  bool train = false;
  std::uint64_t seed = 1;

 private:
  std::map<std::string, std::string> values_;
};

/// A named value that a step hands out.
struct Named {
  enum class Kind : std::uint8_t { output, loss, gradient } kind = Kind::output;
  std::string name;
  Tensor value;
};

/// A scenario ready to run on one rank; all set-up is done.
class Program {
 public:
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program() = default;

  /// Runs one step and hands out its loss and outputs, and the gradients if asked.
  [[nodiscard]] virtual std::vector<Named> step(bool with_gradients) = 0;
};

/// A parameter with its help and its value in each preset.
struct ParamSpec {
  std::string name;
  std::string help;
  std::string paper;
  std::string small;
  std::string tiny;
  std::string grows_with = {};  ///< Mesh axis of weak scaling; of `AxBxC` the first size grows.
  std::string unwritten = {};   ///< Value that no series names: runs from before it had that.
};

/// A program text: a function of a Worker and Params.
struct Scenario {
  std::string name;
  std::string summary;
  std::vector<ParamSpec> params;
  std::function<std::unique_ptr<Program>(Worker&, const Params&)> start;

  /// Flop of one forward pass by a closed form, for tables; training counts three times that.
  std::function<double(const Params&)> forward_flop;

  /// The parameters of a preset: `paper`, `small` or `tiny`.
  ///
  /// Errors   Error{invalid} naming the known presets.
  [[nodiscard]] Params preset(std::string_view name) const;
};

/// The scenarios of a program, by name.
class Scenarios {
 public:
  void add(Scenario scenario);

  /// Errors   Error{invalid} naming the nearest known one.
  [[nodiscard]] const Scenario& find(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, Scenario>& all() const { return scenarios_; }

 private:
  std::map<std::string, Scenario> scenarios_;
};

/// The known word with the fewest edits from `word`.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace shardlab
