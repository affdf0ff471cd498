#include "engine/comm/thread/hub.h"

#include <algorithm>

#include "engine/comm/thread/communicator.h"
#include "engine/core/check.h"

namespace shardlab {
namespace {

class ThreadNetwork final : public Network {
 public:
  ThreadNetwork(ThreadHub& hub, int rank) : hub_(hub), rank_(rank) {}

  [[nodiscard]] const char* name() const override { return "thread"; }

  [[nodiscard]] std::unique_ptr<Communicator> open(const Mesh& mesh, const AxisList& axes,
                                                   const Coordinates& at) override {
    expect(mesh.size() == hub_.mesh().size() && mesh.rank(at) == rank_,
           "rank {} of {} opens a group as rank {} of mesh {}", rank_, hub_.mesh().size(),
           mesh.rank(at), mesh.text());
    std::vector<int> ranks(mesh.size(axes));
    for (int position = 0; position < mesh.size(axes); ++position)
      ranks[position] = mesh.rank(mesh.member(axes, at, position));
    return hub_.open(rank_, ranks, names_of(mesh, axes));
  }

  void abort(const std::string& text) override {
    hub_.abort(fmt::format("rank {}: {}", rank_, text));
  }

 private:
  ThreadHub& hub_;
  int rank_;
};

}  // namespace

ThreadHub::ThreadHub(Mesh mesh, std::chrono::milliseconds deadline)
    : mesh_(std::move(mesh)), crew_(mesh_.size(), deadline) {}

std::unique_ptr<Network> ThreadHub::network(int rank) {
  check(rank >= 0 && rank < mesh_.size(), "rank {} of {}", rank, mesh_.size());
  return std::make_unique<ThreadNetwork>(*this, rank);
}

std::unique_ptr<Communicator> ThreadHub::open(int rank, const std::vector<int>& ranks,
                                              const std::string& axes) {
  const auto position = std::find(ranks.begin(), ranks.end(), rank) - ranks.begin();
  const std::lock_guard lock(mutex_);
  const int nth = opened_[{rank, ranks}]++;
  std::unique_ptr<thread::Group>& group = groups_[{nth, ranks}];
  if (!group) group = std::make_unique<thread::Group>(ranks, axes);
  return std::make_unique<ThreadCommunicator>(crew_, *group, static_cast<int>(position));
}

}  // namespace shardlab
