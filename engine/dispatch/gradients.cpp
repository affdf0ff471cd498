#include "engine/dispatch/gradients.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>

#include "engine/core/check.h"
#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/intrinsic.h"
#include "engine/dispatch/redistribute.h"
#include "engine/dispatch/staging.h"

namespace shardlab {
namespace {

/// What is asked of a leaf or of a tensor inside the tape.
struct Wanted {
  int readers = 0;  ///< Entries among the reached ones that have not been replayed.
  bool reached = false;
  Tensor sum;
};

/// One walk backwards over the tape.
class Replay {
 public:
  Replay(Worker& worker, GradientOptions options)
      : worker_(worker),
        tape_(worker.tape()),
        record_(options.record),
        first_(std::max(options.from, worker.tape().begin())) {}

  /// Leaves whose gradient is wanted; all of them unless named.
  std::unordered_map<const TensorState*, Wanted> leaves;
  bool every_leaf = false;
  /// Tensors inside the tape whose gradient is wanted, by link.
  std::unordered_map<std::int64_t, Wanted> inside;
  /// Called with each leaf after its last reader.
  std::function<void(const Ref<TensorState>&, Tensor)> leaf_done;

  void run(std::span<const Tensor> outputs, std::span<const Tensor> seeds) {
    mark(outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      collect(outputs[i].state().link, outputs[i].ref().get(), seeds[i]);
    for (const Tensor& output : outputs)
      if (output.state().link.leaf) finish_leaf(output.ref());
    for (std::int64_t number = last_; number >= first_; --number)
      if (reached_[static_cast<std::size_t>(number - first_)]) replay(number);
  }

  static std::int64_t key(const TapeLink& link) { return link.entry * max_outputs + link.output; }

 private:
  void mark(std::span<const Tensor> outputs) {
    last_ = tape_.end() - 1;
    reached_.assign(static_cast<std::size_t>(tape_.end() - first_), false);
    for (const Tensor& output : outputs) reach(output.state().link, output.ref(), false);
    for (std::int64_t number = last_; number >= first_; --number) {
      if (!reached_[static_cast<std::size_t>(number - first_)]) continue;
      const Tape::Entry& entry = tape_.entry(number);
      expect(static_cast<bool>(entry.op), "tape entry {} was replayed before", number);
      for (int i = 0; i < entry.inputs; ++i) {
        const Tape::Input& input = tape_.input(entry, i);
        reach(input.link, input.tensor, true);
      }
    }
    leads_.assign(reached_.size(), false);
    for (std::int64_t number = first_; number <= last_; ++number) {
      if (!reached_[static_cast<std::size_t>(number - first_)]) continue;
      const Tape::Entry& entry = tape_.entry(number);
      bool leads = false;
      for (int i = 0; i < entry.inputs; ++i) leads = leads || wanted(tape_.input(entry, i));
      leads_[static_cast<std::size_t>(number - first_)] = leads;
    }
  }

  void reach(const TapeLink& link, const Ref<TensorState>& tensor, bool read) {
    if (link.leaf) {
      const auto found =
          every_leaf ? leaves.try_emplace(tensor.get()).first : leaves.find(tensor.get());
      if (found == leaves.end()) return;
      found->second.reached = true;
      if (read) ++found->second.readers;
    } else if (link.entry >= 0) {
      expect(link.entry >= tape_.begin(),
             "a gradient goes through tape entry {}, which was cleared", link.entry);
      if (link.entry >= first_) reached_[static_cast<std::size_t>(link.entry - first_)] = true;
      const auto found = inside.find(key(link));
      if (found != inside.end()) found->second.reached = true;
    }
  }

  [[nodiscard]] bool wanted(const Tape::Input& input) const {
    if (input.link.leaf) return leaves.count(input.tensor.get()) != 0;
    if (input.link.entry < 0) return false;
    if (inside.count(key(input.link)) != 0) return true;
    return input.link.entry >= first_ &&
           leads_[static_cast<std::size_t>(input.link.entry - first_)];
  }

  /// Where the gradient of an operand is summed; null if nobody wants it.
  Tensor* sum_of(const TapeLink& link, const TensorState* tensor) {
    if (link.leaf) {
      const auto found = leaves.find(tensor);
      return found == leaves.end() ? nullptr : &found->second.sum;
    }
    if (link.entry >= first_) return &tape_.output(tape_.entry(link.entry), link.output).incoming;
    const auto found = inside.find(key(link));
    return found == inside.end() ? nullptr : &found->second.sum;
  }

  void collect(TapeLink link, const TensorState* tensor, Tensor gradient) {
    const Tensor* there = sum_of(link, tensor);
    if (there == nullptr) return;
    if (*there) {
      // A copy, and looked up again: a recorded sum appends to the tape and may move what it holds.
      const Tensor before = *there;
      gradient = add(before, gradient);
    }
    *sum_of(link, tensor) = std::move(gradient);
  }

  void finish_leaf(const Ref<TensorState>& tensor) {
    const auto found = leaves.find(tensor.get());
    if (found == leaves.end() || found->second.readers > 0 || !leaf_done) return;
    if (!found->second.sum) {
      expect(withdrawn_, "a reached leaf has no gradient");
      found->second.reached = false;
      return;
    }
    leaf_done(tensor, std::exchange(found->second.sum, {}));
  }

  void replay(std::int64_t number) {
    // By value: a recorded gradient appends to the tape and may move its entries.
    const Tape::Entry entry = tape_.entry(number);
    std::optional<Scope> scope;
    if (entry.scope != nullptr) scope.emplace(worker_.trace(), *entry.scope);
    std::array<Tensor, max_outputs> incoming{};
    bool any = false;
    for (int o = 0; o < entry.outputs; ++o) {
      incoming[o] = std::exchange(tape_.output(entry, o).incoming, {});
      any = any || static_cast<bool>(incoming[o]);
      const auto found = inside.find(key({number, o, false}));
      if (found != inside.end()) found->second.sum = incoming[o];
    }
    if (any && leads_[static_cast<std::size_t>(number - first_)])
      call(entry, number, std::span(incoming).first(static_cast<std::size_t>(entry.outputs)));
    for (int i = 0; i < entry.inputs; ++i) {
      const Ref<TensorState> tensor = tape_.input(entry, i).tensor;
      if (!tape_.input(entry, i).link.leaf) continue;
      const auto found = leaves.find(tensor.get());
      if (found == leaves.end()) continue;
      if (--found->second.readers == 0) finish_leaf(tensor);
    }
    if (!record_) tape_.drop(number);
  }

  void call(const Tape::Entry& entry, std::int64_t number, std::span<const Tensor> incoming) {
    const auto n = static_cast<std::size_t>(entry.inputs);
    expect(n <= 32, "{}: {} operands on the tape", entry.op->name(), n);
    std::array<Tensor, max_outputs> outputs{};
    inputs_.assign(n, {});
    results_.assign(n, {});
    specs_.resize(n);
    GradientCall call;
    for (std::size_t i = 0; i < n; ++i) {
      const Tape::Input& input = tape_.input(entry, static_cast<int>(i));
      specs_[i] = input.spec;
      if (input.saved) {
        check_version(input.tensor, input.version, entry, number);
        inputs_[i] = Tensor(input.tensor);
      }
      if (wanted(input)) call.wanted |= 1U << i;
    }
    for (int o = 0; o < entry.outputs; ++o) {
      const Tape::Output& output = tape_.output(entry, o);
      if (!output.tensor) continue;
      check_version(output.tensor, output.version, entry, number);
      outputs[o] = Tensor(output.tensor);
    }
    call.inputs = inputs_;
    call.outputs = std::span(outputs).first(static_cast<std::size_t>(entry.outputs));
    call.specs = specs_;
    call.incoming = incoming;
    call.results = results_;
    call.worker = &worker_;
    const std::uint32_t asked = call.wanted;
    entry.op->gradient(call);
    withdrawn_ = withdrawn_ || call.wanted != asked;
    for (std::size_t i = 0; i < n; ++i) {
      if (!call.wants(static_cast<int>(i))) continue;
      expect(static_cast<bool>(results_[i]), "{}: no gradient for operand {}", entry.op->name(), i);
      expect(results_[i].shape() == specs_[i].shape, "{}: gradient {} of operand {} of shape {}",
             entry.op->name(), to_string(results_[i].shape()), i, to_string(specs_[i].shape));
      const Tape::Input& input = tape_.input(entry, static_cast<int>(i));
      collect(input.link, input.tensor.get(), std::move(results_[i]));
    }
    inputs_.clear();
    results_.clear();
  }

  static void check_version(const Ref<TensorState>& tensor, std::uint32_t version,
                            const Tape::Entry& entry, std::int64_t number) {
    expect(tensor->buffer->version() == version,
           "{} (tape entry {}): an operand was changed in place before its gradient was taken",
           entry.op->name(), number);
  }

  Worker& worker_;
  Tape& tape_;
  bool record_;
  std::int64_t first_;
  std::int64_t last_ = -1;
  /// Whether an op found that an operand does not matter to its outputs after all.
  bool withdrawn_ = false;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> results_;
  std::vector<Spec> specs_;
  std::vector<bool> reached_;
  std::vector<bool> leads_;
};

/// Moves gradients to where their leaves are stored.
class Homing {
 public:
  Tensor move(Tensor gradient, const Layout* stored) {
    if (gradient.layout() == stored) return gradient;
    const Buffer* before = gradient.state().buffer.get();
    gradient = move_later(std::move(gradient), stored);
    if (!gradient.state().filling) return alone(gradient);
    if (gradient.state().buffer.get() != before) lend(gradient);
    return gradient;
  }

 private:
  /// A part of what is no longer needed as a whole gets memory of its own.
  static Tensor alone(const Tensor& part) {
    const View& view = part.state().view;
    if (part.state().buffer->bytes() == view.shape.count() * width_of(view.dtype)) return part;
    const Tensor copy = make_like(part, part.layout());
    copy_part(part.worker(), view, copy.state().view, part.spec());
    return copy;
  }

  /// Such a reduction holds a whole gradient until it is waited for. Those under way hold at most
  /// as much as two of the largest, counted whole so that all ranks wait at the same places.
  void lend(const Tensor& gradient) {
    const std::int64_t bytes = gradient.shape().count() * width_of(gradient.dtype());
    largest_ = std::max(largest_, bytes);
    lent_ += bytes;
    under_way_.push_back({gradient, bytes});
    for (; lent_ > 2 * largest_; under_way_.pop_front()) {
      lent_ -= under_way_.front().bytes;
      (void)ready_view(under_way_.front().gradient);
    }
  }

  struct Lent {
    Tensor gradient;
    std::int64_t bytes = 0;
  };
  std::deque<Lent> under_way_;
  std::int64_t lent_ = 0;
  std::int64_t largest_ = 0;
};

std::string name_of_leaf(const TensorState& state, std::size_t position) {
  return state.parameter ? state.parameter->name : fmt::format("tensor {}", position);
}

}  // namespace

std::vector<Tensor> gradients_where_reached(std::span<const Tensor> outputs,
                                            std::span<const Tensor> wrt,
                                            std::span<const Tensor> seeds,
                                            GradientOptions options) {
  check(!outputs.empty() && outputs.size() == seeds.size(), "gradients: {} outputs, {} seeds",
        outputs.size(), seeds.size());
  Worker& worker = outputs[0].worker();
  for (std::size_t i = 0; i < outputs.size(); ++i)
    check(outputs[i].shape() == seeds[i].shape(), "gradients: output {} is {}, its seed {}", i,
          to_string(outputs[i].shape()), to_string(seeds[i].shape()));
  const Taping taping(worker, options.record);
  Replay replay(worker, options);
  for (const Tensor& tensor : wrt) {
    const TapeLink& link = tensor.state().link;
    if (link.leaf)
      replay.leaves.try_emplace(tensor.ref().get());
    else if (link.entry >= 0)
      replay.inside.try_emplace(Replay::key(link));
  }
  replay.run(outputs, seeds);
  std::vector<Tensor> results;
  for (const Tensor& tensor : wrt) {
    const TapeLink& link = tensor.state().link;
    if (link.leaf)
      results.push_back(replay.leaves.at(tensor.ref().get()).sum);
    else
      results.push_back(link.entry >= 0 ? replay.inside.at(Replay::key(link)).sum : Tensor());
  }
  return results;
}

std::vector<Tensor> gradients(std::span<const Tensor> outputs, std::span<const Tensor> wrt,
                              std::span<const Tensor> seeds, GradientOptions options) {
  std::vector<Tensor> results = gradients_where_reached(outputs, wrt, seeds, options);
  for (std::size_t i = 0; i < wrt.size(); ++i)
    check(static_cast<bool>(results[i]), "gradients: the outputs do not reach {}",
          name_of_leaf(wrt[i].state(), i));
  return results;
}

BackwardReport backward(const Tensor& loss, bool reduce) {
  Worker& worker = loss.worker();
  check(loss.shape().count() == 1, "backward: the loss is {}, one value is needed",
        to_string(loss.shape()));
  check(loss.tracked(), "backward: the loss depends on no parameter");
  const NoGrad no_grad(worker);
  const Tensor seed =
      full(worker,
           {loss.shape(), loss.dtype(),
            loss.layout() == nullptr ? nullptr : worker.layouts().replicated(loss.ndim())},
           1.0);
  Replay replay(worker, {});
  replay.every_leaf = true;
  Homing homing;
  replay.leaf_done = [&](const Ref<TensorState>& leaf, Tensor gradient) {
    if (leaf->gradient) gradient = add(Tensor(leaf->gradient), gradient);
    leaf->gradient = {};
    if (reduce && leaf->spec.layout != nullptr)
      gradient = homing.move(std::move(gradient), leaf->spec.layout);
    if (gradient.state().buffer.unique()) gradient.state().buffer->recategorize(Category::gradient);
    leaf->gradient = gradient.ref();
  };
  replay.run(std::span(&loss, 1), std::span(&seed, 1));
  BackwardReport report;
  for (const Tensor& parameter : worker.parameters()) {
    const auto found = replay.leaves.find(parameter.ref().get());
    if (found == replay.leaves.end() || !found->second.reached)
      report.unreached.push_back(parameter.state().parameter->name);
  }
  worker.tape().clear();
  return report;
}

}  // namespace shardlab
