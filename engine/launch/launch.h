#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/dispatch/worker.h"

namespace shardlab {

/// How ranks of one launch reach each other.
struct Connection {
  std::function<std::unique_ptr<Network>(int rank)> network;
  std::function<void(int rank)> leave;            ///< A rank has ended its program.
  std::function<void(const std::string&)> abort;  ///< A rank has failed.
};

/// A pair of backend and communicators that runs scenarios: `cpu`, `predict`, later `cuda`.
struct Execution {
  std::string name;
  bool one_after_another = false;  ///< Ranks never wait, so one thread traces them in turn.
  std::function<std::unique_ptr<Backend>()> backend;
  std::function<Connection(const Mesh&)> connect;
};

struct LaunchOptions {
  Mesh mesh{{{"domain", 1}}};
  Precision precision;
  std::uint64_t seed = 1;
  int first_rank = 0;  ///< Ranks run; all of the mesh unless `ranks` says fewer.
  int ranks = -1;
};

/// Runs a program on one Worker a rank and waits for all of them.
///
/// `program` is called on several threads at once, each bound to a core of its own while there are
/// as many. When a rank throws, all others are ended and its
/// error is thrown again with the rank in front.
void launch(const Execution& execution, const LaunchOptions& options,
            const std::function<void(Worker&, int rank)>& program);

/// Cores that threads of this process may run on.
[[nodiscard]] int usable_cores();

}  // namespace shardlab
