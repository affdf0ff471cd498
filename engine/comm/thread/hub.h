#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/comm/thread/crew.h"
#include "engine/comm/thread/group.h"
#include "engine/core/communicator.h"
#include "engine/core/mesh.h"

namespace shardlab {

/// What the rank threads of one launch share; outlives their networks and communicators.
class ThreadHub {
 public:
  /// A wait ends with an error after `deadline` without progress, though every rank is alive.
  explicit ThreadHub(Mesh mesh, std::chrono::milliseconds deadline = std::chrono::seconds(60));

  /// The network of one rank, to be used by that rank's thread.
  ///
  /// Errors   Error{invalid} if there is no such rank.
  [[nodiscard]] std::unique_ptr<Network> network(int rank);

  /// Ends all waits of all ranks with this text; the first text is kept.
  void abort(const std::string& text) { crew_.abort(text); }

  /// Says that a rank ended its program: whoever waits for it gets an error that names it.
  void leave(int rank) { crew_.leave(rank); }

  /// The communicator of a rank whose group has these ranks in this order. The n-th one that a rank
  /// opens for a group meets the n-th ones of the others.
  [[nodiscard]] std::unique_ptr<Communicator> open(int rank, const std::vector<int>& ranks,
                                                   const std::string& axes);

  [[nodiscard]] const Mesh& mesh() const { return mesh_; }

 private:
  Mesh mesh_;
  thread::Crew crew_;
  std::mutex mutex_;
  std::map<std::pair<int, std::vector<int>>, int> opened_;
  std::map<std::pair<int, std::vector<int>>, std::unique_ptr<thread::Group>> groups_;
};

}  // namespace shardlab
