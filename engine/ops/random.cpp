#include "engine/ops/random.h"

#include "engine/dispatch/dispatch.h"

namespace shardlab {

void Random::infer(InputSpecs, std::span<Spec> outputs) const { outputs[0] = spec_; }

Cost Random::cost(Views, Views outputs) const {
  return {20 * outputs[0]->shape.count(), bytes_of(outputs)};
}

Tensor random_normal(Worker& worker, const Spec& spec, double deviation) {
  return create(worker, make_ref<Random>(Random::Options{Random::Kind::normal, deviation,
                                                         worker.seed(), worker.next_random()},
                                         spec));
}

Tensor random_uniform(Worker& worker, const Spec& spec, double bound) {
  const auto kind = spec.dtype == Dtype::int64 ? Random::Kind::integer : Random::Kind::uniform;
  return create(
      worker,
      make_ref<Random>(Random::Options{kind, bound, worker.seed(), worker.next_random()}, spec));
}

}  // namespace shardlab
