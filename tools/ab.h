#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "results/side.h"

namespace shardlab {

struct AbOptions {
  std::array<std::string, 2> commands;  ///< As a shell reads them.
  int pairs = 20;
  std::uint64_t seed = 1;  ///< Of the order within each pair.
};

/// Two commands run in turns: pairs in random order, after one pair that does not count.
///
/// Where both are a plain `shardlab run ...`, each stores its runs in a scratch database; else the
/// wall time of each is stored there. The folder goes with this object.
///
/// Errors   invalid: fewer than 2 pairs, an empty command, or one that names a database itself.
class Ab {
 public:
  explicit Ab(const AbOptions& options);
  ~Ab();
  Ab(const Ab&) = delete;
  Ab& operator=(const Ab&) = delete;

  /// Runs all pairs.
  ///
  /// Errors   external: a command that does not end with 0, with what it said last.
  void run();

  /// What was measured of command 0 or 1.
  [[nodiscard]] results::Side side(int which) const;

 private:
  void run(int which, bool counts);
  double seconds_of(int which, const std::string& command);

  AbOptions options_;
  std::filesystem::path folder_;
  bool stores_ = false;
};

}  // namespace shardlab
