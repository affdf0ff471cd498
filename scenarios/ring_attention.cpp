#include "engine/engine.h"

namespace shardlab {
namespace {

class RingAttention final : public Program {
 public:
  RingAttention(Worker& worker, const Params& params) : worker_(worker), train_(params.train) {
    const std::int64_t batch = params.integer("batch");
    const std::int64_t heads = params.integer("heads");
    const std::int64_t width = params.integer("head-dim");
    const std::int64_t sequence = params.integer("sequence");
    check(batch >= 1 && heads >= 1 && width >= 1 && sequence >= 1,
          "ring_attention: batch {}, heads {}, head-dim {} and sequence {} must be positive", batch,
          heads, width, sequence);
    const std::vector<Cut> cuts{{"data", 0}, {"domain", 1}};
    const Spec spec = spread(worker, {batch, sequence, heads, width}, worker.dtype(), cuts);
    for (Tensor* tensor : {&q_, &k_, &v_}) {
      *tensor = random_normal(worker, spec, 1.0);
      if (train_) make_leaf(*tensor);
    }
  }

  [[nodiscard]] std::vector<Named> step(bool with_gradients) override {
    std::vector<Named> results;
    const Attended attended = [&] {
      const Scope scope(worker_.trace(), "forward");
      return nn::attention(q_, k_, v_, {});
    }();
    results.push_back({Named::Kind::output, "output", attended.output});
    results.push_back({Named::Kind::output, "log_sum_exp", attended.log_sum_exp});
    if (!train_) return results;
    const Tensor loss = sum(attended.output);
    results.push_back({Named::Kind::loss, "loss", loss});
    const Scope scope(worker_.trace(), "backward");
    (void)backward(loss);
    const char* const names[] = {"q", "k", "v"};
    const Tensor* const leaves[] = {&q_, &k_, &v_};
    for (int i = 0; i < 3; ++i) {
      if (with_gradients)
        results.push_back({Named::Kind::gradient, names[i], leaves[i]->gradient()});
      leaves[i]->state().gradient = {};
    }
    return results;
  }

 private:
  Worker& worker_;
  bool train_;
  Tensor q_;
  Tensor k_;
  Tensor v_;
};

}  // namespace

void add_ring_attention(Scenarios& scenarios) {
  scenarios.add(
      {"ring_attention",
       "one attention; axis domain cuts the tokens around a ring of ranks, data the batch",
       // No checkpoint: q, k and v are kept as leaves and the output is handed out, so that
       // computing it again would free nothing. No storage: there are no parameters.
       {{"batch", "sequences in all", "1", "1", "2", "data"},
        {"heads", "attention heads", "8", "8", "2"},
        {"head-dim", "width of a head", "256", "64", "4"},
        {"sequence", "tokens of a sequence", "131072", "4096", "12", "domain"}},
       [](Worker& worker, const Params& params) -> std::unique_ptr<Program> {
         return std::make_unique<RingAttention>(worker, params);
       },
       [](const Params& params) {
         const double sequence = params.number("sequence");
         return 4 * params.number("batch") * params.number("heads") * sequence * sequence *
                params.number("head-dim");
       }});
}

}  // namespace shardlab
