#include "engine/nn/ring_attention.h"

#include <utility>

#include "engine/core/check.h"
#include "engine/dispatch/communicate.h"
#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/intrinsic.h"
#include "engine/dispatch/redistribute.h"
#include "engine/dispatch/staging.h"
#include "engine/ops/attention_merge.h"

namespace shardlab::nn {
namespace {

/// Keys and values, or their gradients, of one block.
struct Pair {
  Tensor k;
  Tensor v;
};

/// The ring of ranks over which the tokens of `k` are cut.
class Ring {
 public:
  explicit Ring(const Tensor& k)
      : worker_(k.worker()),
        cut_(k.layout()->dim(1)),
        k_(k.spec()),
        size_(worker_.mesh().size(cut_.axes)),
        position_(worker_.mesh().position(cut_.axes, worker_.coordinates())) {
    const Split* split = cut_.split;
    const AxisList axes = cut_.axes;
    const Mesh* mesh = &worker_.mesh();
    std::uint64_t key = hash_join(split->hash(), 0x51A6);
    for (const int axis : axes) key = hash_join(key, static_cast<std::uint64_t>(axis));
    // A turn holds the block that it works on, the one that comes and the one that it had before;
    // the first two and the last have no block before, no sum to pass, or none that comes.
    const int size = size_;
    number_ = worker_.answers().log_turns(
        key, worker_.coordinates(), size, [=](const Coordinates& at, int turn) {
          const int edge = turn < 2 ? turn + 1 : turn + 1 == size ? 3 : 0;
          std::uint64_t answer = hash_join(hash_start, static_cast<std::uint64_t>(edge));
          if (split->uniform()) return answer;
          const int position = mesh->position(axes, at);
          for (const int block : {turn - 1, turn, turn + 1})
            answer = hash_join(answer, static_cast<std::uint64_t>(
                                           split->size(((position - block) % size + size) % size)));
          return answer;
        });
  }

  /// Begins the turn of this number, or ends the ring.
  void turn(int number) { worker_.trace().turn(number_, number); }
  void end() { worker_.trace().turn(number_, -1); }

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] Worker& worker() const { return worker_; }

  /// Starts sending `outgoing` to the next rank; the pair that comes in is the block that this rank
  /// has at `step`.
  Communication pass(const Pair& outgoing, int step, Pair& incoming) {
    const std::int64_t tokens = cut_.split->size(((position_ - step) % size_ + size_) % size_);
    incoming = {room(outgoing.k, tokens), room(outgoing.v, tokens)};
    const int next = (position_ + 1) % size_;
    const int previous = (position_ + size_ - 1) % size_;
    const auto both = [](int peer, const Pair& pair) {
      return std::array<Message, 2>{
          {{peer, block_of(pair.k.state().view)}, {peer, block_of(pair.v.state().view)}}};
    };
    const std::array<Message, 2> sends = both(next, outgoing);
    const std::array<Message, 2> receives = both(previous, incoming);
    const std::int64_t payload = sends[0].block.bytes() + sends[1].block.bytes();
    return start_communication(
        worker_, {"exchange", cut_.axes, k_, payload, 1},
        [&](Communicator& communicator) { return communicator.exchange(sends, receives); });
  }

 private:
  Tensor room(const Tensor& like, std::int64_t tokens) {
    Shape shape = like.shape();
    shape[1] = tokens;
    return allocate(worker_, {shape, like.dtype(), nullptr}, Category::communication);
  }

  Worker& worker_;
  DimLayout cut_;
  Spec k_;
  int size_;
  int position_;
  int number_ = 0;
};

Attended forward(const Tensor& q, const Tensor& k, const Tensor& v, double scale) {
  Ring ring(k);
  const Tensor mine = local(q);
  Pair here{dense(local(k)), dense(local(v))};
  Attended joined;
  for (int step = 0; step < ring.size(); ++step) {
    ring.turn(step);
    Pair coming;
    Communication passing;
    const bool last = step + 1 == ring.size();
    if (!last) passing = ring.pass(here, step + 1, coming);
    const Attended part = attention(mine, here.k, here.v, scale);
    joined = step == 0 ? part : attention_merge(joined, part);
    if (last) break;
    finish_communication(ring.worker(), passing);
    here = std::move(coming);
  }
  ring.end();
  return joined;
}

/// The ring on the tape: its gradient goes round again.
class RingAttention final : public Op {
 public:
  explicit RingAttention(double scale) : scale_(scale) {}
  [[nodiscard]] const char* name() const override { return "ring_attention"; }
  [[nodiscard]] int outputs() const override { return 2; }
  [[nodiscard]] Saves saves() const override { return {7, 3}; }

  void gradient(GradientCall& call) const override {
    if (call.worker->taping())
      fail(Fault::unsupported, "ring_attention: its gradient has none of its own");
    const Tensor& q = call.inputs[0];
    const Tensor& k = call.inputs[1];
    const Tensor& v = call.inputs[2];
    const Tensor& output = call.outputs[0];
    Tensor g = call.incoming[0];
    if (!g) g = full(*call.worker, output.spec(), 0);
    g = local(move(g, output.layout()));
    Tensor g_log_sum_exp = call.incoming[1];
    if (g_log_sum_exp) g_log_sum_exp = local(move(g_log_sum_exp, call.outputs[1].layout()));

    Ring ring(k);
    const Tensor mine = local(q);
    const Tensor o = local(output);
    const Tensor log_sum_exp = local(call.outputs[1]);
    const Ref<const Op> op = make_ref<AttentionGradient>(scale_, static_cast<bool>(g_log_sum_exp));
    Pair here{dense(local(k)), dense(local(v))};
    Tensor dq;
    Pair sum;
    Pair coming_sum;
    Communication passing_sum;
    for (int step = 0; step < ring.size(); ++step) {
      ring.turn(step);
      Pair coming;
      Communication passing;
      const bool last = step + 1 == ring.size();
      if (!last) passing = ring.pass(here, step + 1, coming);
      std::vector<Tensor> inputs{mine, here.k, here.v, o, log_sum_exp, g};
      if (g_log_sum_exp) inputs.push_back(g_log_sum_exp);
      std::array<Tensor, 3> share;
      dispatch(op, inputs, share);
      dq = step == 0 ? share[0] : add(dq, share[0]);
      if (step == 0) {
        sum = {share[1], share[2]};
      } else {
        finish_communication(ring.worker(), passing_sum);
        sum = {add(coming_sum.k, share[1]), add(coming_sum.v, share[2])};
      }
      // What this rank found for the block follows it; the owner gets it back last.
      passing_sum = ring.pass(sum, step + 1, coming_sum);
      if (last) break;
      finish_communication(ring.worker(), passing);
      here = std::move(coming);
    }
    ring.end();
    finish_communication(ring.worker(), passing_sum);
    call.results[0] = whole(dq, q.layout(), q.shape());
    call.results[1] = whole(coming_sum.k, k.layout(), k.shape());
    call.results[2] = whole(coming_sum.v, v.layout(), v.shape());
  }

 private:
  double scale_;
};

/// Where the others must lie when `k` lies as it does.
const Layout* beside(const Tensor& k, const DimLayout& tokens, int ndim) {
  Layout layout(k.worker().mesh(), ndim);
  layout.set_dim(0, k.layout()->dim(0));
  layout.set_dim(1, tokens);
  layout.set_dim(2, k.layout()->dim(2));
  return k.worker().layouts().intern(layout);
}

}  // namespace

Attended ring_attention(const Tensor& q, const Tensor& k, const Tensor& v, double scale) {
  check(q.layout() != nullptr && k.layout() != nullptr && v.layout() != nullptr,
        "ring_attention: q, k and v must be whole tensors, found one of this rank alone");
  check(k.layout()->dim(1).split != nullptr, "ring_attention: the tokens of k are not cut");
  check(q.extent(0) == k.extent(0) && k.extent(0) == v.extent(0) && k.extent(1) == v.extent(1) &&
            q.extent(2) == k.extent(2) && k.extent(2) == v.extent(2) && q.extent(3) == k.extent(3),
        "ring_attention: q {}, k {} and v {} do not fit", to_string(q.shape()),
        to_string(k.shape()), to_string(v.shape()));
  Worker& worker = k.worker();
  const DimLayout& cut = k.layout()->dim(1);
  DimLayout queries = q.layout()->dim(1);
  if (!(queries.axes == cut.axes))
    queries = {cut.axes, worker.layouts().intern(even_split(worker.mesh(), cut.axes, q.extent(1)))};
  const Layout* beside_k = beside(k, cut, 4);
  const Tensor k_moved = redistribute(k, beside_k);
  const Tensor v_moved = redistribute(v, beside_k);
  const Tensor q_moved = redistribute(q, beside(k, queries, 4));
  std::array<Tensor, 2> outputs;
  {
    const NoGrad no_grad(worker);
    const Attended joined = forward(q_moved, k_moved, v_moved, scale);
    Shape shape = q.shape();
    shape[3] = v.extent(3);
    outputs[0] = whole(joined.output, q_moved.layout(), shape);
    outputs[1] =
        whole(joined.log_sum_exp, beside(k, queries, 3), {q.extent(0), q.extent(1), q.extent(2)});
  }
  const std::array<Tensor, 3> inputs{q_moved, k_moved, v_moved};
  if (worker.tape().capture != nullptr) note_reads(worker.tape(), inputs);
  if (worker.taping() && (q_moved.tracked() || k_moved.tracked() || v_moved.tracked()))
    worker.tape().append(make_ref<RingAttention>(scale), inputs, outputs);
  return {outputs[0], outputs[1]};
}

}  // namespace shardlab::nn
