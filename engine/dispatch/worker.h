#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/core/answers.h"
#include "engine/core/communicator.h"
#include "engine/core/trace.h"
#include "engine/dispatch/plan.h"
#include "engine/dispatch/tape.h"

namespace shardlab {

/// One rank's view of the world: its backend, communicators, mesh, tape and trace.
///
/// Scenarios use the mesh, creation functions, scopes and precision; coordinates and communicators
/// are for `dispatch` and `nn`, which log every answer that depends on the rank.
class Worker {
 public:
  struct Parts {
    std::unique_ptr<Backend> backend;
    std::unique_ptr<Network> network;
    std::shared_ptr<LayoutTable> layouts;
    int rank = 0;
    Precision precision;
    std::uint64_t seed = 1;
  };

  explicit Worker(Parts parts);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  [[nodiscard]] const Mesh& mesh() const { return layouts_->mesh(); }
  [[nodiscard]] Precision precision() const { return precision_; }
  [[nodiscard]] Dtype dtype() const { return precision_.dtype; }
  [[nodiscard]] Backend& backend() { return *backend_; }
  [[nodiscard]] LayoutTable& layouts() { return *layouts_; }
  [[nodiscard]] std::shared_ptr<LayoutTable> shared_layouts() const { return layouts_; }
  [[nodiscard]] Trace& trace() { return trace_; }
  [[nodiscard]] Tape& tape() { return tape_; }
  [[nodiscard]] PlanCache& plans() { return plans_; }
  [[nodiscard]] Answers& answers() { return answers_; }
  [[nodiscard]] const Coordinates& coordinates() const { return at_; }

  /// The communicator of this rank's group along `axes`, opened on first use.
  [[nodiscard]] Communicator& communicator(const AxisList& axes);
  [[nodiscard]] Lane comm_lane(const AxisList& axes);

  /// Ends the waits of all other ranks.
  void abort(const std::string& text) { network_->abort(text); }

  /// Local shape of a layout; logs the answer where ranks differ.
  [[nodiscard]] Shape local_shape(const Layout* layout, const Shape& shape);

  /// Whether ops are put on the tape.
  [[nodiscard]] bool taping() const { return taping_; }

  /// What new memory is for.
  [[nodiscard]] Category category() const { return category_; }

  /// Number of the next global random call; replayed by recomputation.
  [[nodiscard]] std::uint64_t next_random() { return random_calls_++; }
  [[nodiscard]] std::uint64_t random_calls() const { return random_calls_; }
  void set_random_calls(std::uint64_t calls) { random_calls_ = calls; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

  /// Warnings for the person who runs this, such as ranks left empty; each once.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  void add_note(const std::string& note);

  /// Trainable leaves in order of creation.
  [[nodiscard]] const std::vector<Tensor>& parameters() const { return parameters_; }
  void add_parameter(Tensor parameter) { parameters_.push_back(std::move(parameter)); }

 private:
  friend class NoGrad;
  friend class Taping;
  friend class AllocateAs;

  struct Opened {
    AxisList axes;
    std::unique_ptr<Communicator> communicator;
  };
  Opened& opened(const AxisList& axes);

  // Declared first, destroyed last: every buffer goes back to the backend.
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Network> network_;
  std::shared_ptr<LayoutTable> layouts_;
  Coordinates at_;
  Precision precision_;
  std::uint64_t seed_;
  Trace trace_;
  Answers answers_;
  PlanCache plans_;
  std::vector<Opened> communicators_;
  Tape tape_;
  std::vector<Tensor> parameters_;
  std::vector<std::string> notes_;
  bool taping_ = true;
  Category category_ = Category::activation;
  std::uint64_t random_calls_ = 0;
};

/// Sets whether ops are put on the tape while it lives.
class Taping {
 public:
  Taping(Worker& worker, bool on) : worker_(worker), before_(worker.taping_) {
    worker.taping_ = on;
  }
  ~Taping() { worker_.taping_ = before_; }
  Taping(const Taping&) = delete;
  Taping& operator=(const Taping&) = delete;

 private:
  Worker& worker_;
  bool before_;
};

/// Keeps ops off the tape while it lives.
class NoGrad : public Taping {
 public:
  explicit NoGrad(Worker& worker) : Taping(worker, false) {}
};

/// Sets what new memory is for while it lives.
class AllocateAs {
 public:
  AllocateAs(Worker& worker, Category category) : worker_(worker), before_(worker.category_) {
    worker.category_ = category;
  }
  ~AllocateAs() { worker_.category_ = before_; }
  AllocateAs(const AllocateAs&) = delete;
  AllocateAs& operator=(const AllocateAs&) = delete;

 private:
  Worker& worker_;
  Category before_;
};

}  // namespace shardlab
