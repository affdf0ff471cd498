#include "engine/launch/launch.h"

#include <sched.h>

#include <exception>
#include <mutex>
#include <thread>

#include "engine/core/check.h"

namespace shardlab {
namespace {

/// The error that a launch ends with: the first one of a rank that failed by itself.
class FirstError {
 public:
  void keep(int rank, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (error_) return;
    error_ = std::move(error);
    rank_ = rank;
  }

  void throw_if_any() const {
    if (!error_) return;
    try {
      std::rethrow_exception(error_);
    } catch (const Error& error) {
      throw Error(error.fault(), fmt::format("rank {}: {}", rank_, error.what()), error.location());
    } catch (const std::bad_alloc&) {
      throw Error(Fault::external, fmt::format("rank {}: out of memory", rank_));
    } catch (const std::exception& error) {
      throw Error(Fault::internal, fmt::format("rank {}: {}", rank_, error.what()));
    }
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
  int rank_ = 0;
};

/// Gives the calling thread a core of its own. The kernel moves a thread away from a shared core
/// only when another is idle, so that beside any other busy program two ranks may share one core
/// for a whole run.
void pin_to_core(int number) {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &usable) || number-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    (void)sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

}  // namespace

void launch(const Execution& execution, const LaunchOptions& options,
            const std::function<void(Worker&, int rank)>& program) {
  const Connection connection = execution.connect(options.mesh);
  const int ranks = options.ranks < 0 ? options.mesh.size() : options.ranks;
  FirstError first;
  const auto run = [&](int rank) {
    Worker worker({execution.backend(), connection.network(rank),
                   std::make_shared<LayoutTable>(options.mesh), rank, options.precision,
                   options.seed});
    try {
      program(worker, rank);
    } catch (const std::exception& error) {
      // Kept before the others are told, so that their errors come after it; told before the worker
      // goes, whose started calls would wait for them.
      first.keep(rank, std::current_exception());
      connection.abort(fmt::format("rank {} failed: {}", rank, error.what()));
      return;
    }
    connection.leave(rank);
  };
  const auto guarded = [&](int rank) {
    try {
      run(rank);
    } catch (const std::exception& error) {
      first.keep(rank, std::current_exception());
      connection.abort(fmt::format("rank {} did not start: {}", rank, error.what()));
    }
  };
  if (execution.one_after_another || ranks == 1) {
    for (int rank = options.first_rank; rank < options.first_rank + ranks; ++rank) guarded(rank);
  } else {
    const bool pinned = ranks <= usable_cores();
    std::vector<std::jthread> threads;
    for (int rank = options.first_rank; rank < options.first_rank + ranks; ++rank)
      threads.emplace_back([&guarded, &options, pinned, rank] {
        if (pinned) pin_to_core(rank - options.first_rank);
        guarded(rank);
      });
  }
  first.throw_if_any();
}

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return CPU_COUNT(&set);
}

}  // namespace shardlab
