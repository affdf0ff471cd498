#include "engine/nn/parameters.h"

#include "engine/dispatch/intrinsic.h"
#include "engine/ops/random.h"

namespace shardlab::nn {

Parameters Parameters::within(const std::string& name) const {
  Parameters inner = *this;
  inner.prefix_ += name + ".";
  return inner;
}

const Layout* Parameters::layout_of(const std::string& name, const Shape& shape,
                                    const std::vector<Cut> ParameterRule::*which) const {
  for (const ParameterRule& rule : rules_)
    if (name.ends_with(rule.suffix))
      return spread(worker_, shape, worker_.dtype(), rule.*which).layout;
  return worker_.layouts().replicated(shape.ndim());
}

Tensor Parameters::normal(const std::string& name, const Shape& shape, double deviation) const {
  const AllocateAs category(worker_, Category::parameter);
  const std::string whole = prefix_ + name;
  const Spec spec{shape, worker_.dtype(), layout_of(whole, shape, &ParameterRule::stored)};
  return make_parameter(whole, random_normal(worker_, spec, deviation),
                        layout_of(whole, shape, &ParameterRule::used));
}

Tensor Parameters::constant(const std::string& name, const Shape& shape, double value) const {
  const AllocateAs category(worker_, Category::parameter);
  const std::string whole = prefix_ + name;
  const Spec spec{shape, worker_.dtype(), layout_of(whole, shape, &ParameterRule::stored)};
  return make_parameter(whole, full(worker_, spec, value),
                        layout_of(whole, shape, &ParameterRule::used));
}

}  // namespace shardlab::nn
