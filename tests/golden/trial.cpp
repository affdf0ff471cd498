#include "tests/golden/trial.h"

#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/intrinsic.h"

namespace shardlab::golden {

std::string Arrangement::text() const {
  std::string text = fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s");
  for (const auto& [name, part] : parts)
    text += fmt::format(", {} dim {} in {}", name, part.dim, fmt::join(part.sizes, ","));
  if (parameters_cut) text += ", parameters kept cut";
  return text;
}

const Layout* Trial::layout_of(const std::string& name, const Shape& shape) const {
  LayoutTable& layouts = worker_.layouts();
  Layout layout(worker_.mesh(), shape.ndim());
  const auto found = arrangement_.parts.find(name);
  if (found != arrangement_.parts.end())
    layout.set_dim(found->second.dim, {{0}, layouts.intern(Split::of_sizes(found->second.sizes))});
  return layouts.intern(layout);
}

Tensor Trial::operand(const std::string& name) {
  const auto found = operands_.find(name);
  if (found != operands_.end()) return found->second;
  const Array& array = case_.operand(name);
  const Dtype dtype = array.kind == Array::Kind::float64 ? worker_.dtype() : Dtype::int64;
  Tensor tensor =
      from_values(worker_, {array.shape, dtype, layout_of(name, array.shape)}, array.values);
  if (case_.gradients.count(name) != 0) tensor = make_leaf(tensor);
  operands_.emplace(name, tensor);
  return tensor;
}

nn::Parameters Trial::parameters(std::vector<nn::ParameterRule> rules) const {
  if (arrangement_.parameters_cut) rules.push_back({"", {{"domain", 0}}, {}});
  return nn::Parameters(worker_, std::move(rules));
}

void Trial::assign(const std::string& name, const Tensor& parameter) {
  const Array& array = case_.operand(name);
  check(array.shape.count() == parameter.shape().count(), "{}: {} is {}, the layer's is {}",
        case_.id, name, to_string(array.shape), to_string(parameter.shape()));
  const Tensor values = from_values(worker_, parameter.spec(), array.values);
  std::vector<std::byte> raw(
      static_cast<std::size_t>(values.state().view.shape.count() * width_of(values.dtype())));
  read(values, raw.data());
  write(parameter, raw.data());
  operands_.emplace(name, parameter);
}

Tensor Trial::cotangent(const std::string& name, const Tensor& output) const {
  return from_values(worker_, cotangent_spec(worker_, output.spec()),
                     case_.cotangents.at(name).values);
}

void Trial::give(const std::string& name, const Tensor& output) {
  check(case_.outputs.count(name) != 0, "{}: no output '{}'", case_.id, name);
  const Shape& expected = case_.outputs.at(name).shape;
  check(output.shape() == expected, "{}: output {} is {}, expected {}", case_.id, name,
        to_string(output.shape()), to_string(expected));
  outputs_.emplace(name, output);
  give(name, values_of(output));
}

void Trial::give(const std::string& name, std::vector<double> values) {
  values_.emplace(name, std::move(values));
}

void Trial::give_gradient(const std::string& name, const Tensor& gradient) {
  gradients_.emplace(name, values_of(gradient));
}

void Trial::take_gradients() {
  std::vector<Tensor> outputs;
  std::vector<Tensor> seeds;
  for (const auto& [name, array] : case_.cotangents) {
    check(outputs_.count(name) != 0, "{}: output {} has a cotangent and is not given", case_.id,
          name);
    outputs.push_back(outputs_.at(name));
    seeds.push_back(cotangent(name, outputs.back()));
  }
  std::vector<Tensor> wanted;
  for (const auto& [name, array] : case_.gradients) wanted.push_back(operand(name));
  const std::vector<Tensor> found = gradients(outputs, wanted, seeds);
  std::size_t at = 0;
  for (const auto& [name, array] : case_.gradients) give_gradient(name, found[at++]);
}

std::vector<std::string> Trial::differences(const Bounds& bounds) {
  if (!case_.gradients.empty() && gradients_.empty()) take_gradients();
  std::vector<std::string> lines;
  const auto compare = [&lines](const char* what, const auto& given, const Arrays& expected,
                                double bound) {
    for (const auto& [name, values] : given)
      if (expected.count(name) == 0) lines.push_back(fmt::format("{} {}: unknown", what, name));
    for (const auto& [name, array] : expected) {
      const auto found = given.find(name);
      if (found == given.end()) {
        lines.push_back(fmt::format("{} {}: not given", what, name));
        continue;
      }
      const double error = relative_error(found->second, array.values);
      if (!(error <= bound))
        lines.push_back(
            fmt::format("{} {}: error {:.2e}, at most {:.0e}", what, name, error, bound));
    }
  };
  compare("output", values_, case_.outputs, bounds.forward);
  compare("gradient", gradients_, case_.gradients, bounds.gradient);
  return lines;
}

}  // namespace shardlab::golden
