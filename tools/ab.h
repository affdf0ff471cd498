#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "results/random.h"
#include "results/side.h"
#include "tools/held_signals.h"

namespace shardlab {

struct AbOptions {
  std::array<std::string, 2> commands;  ///< As a shell reads them.
  std::uint64_t seed = 1;               ///< Of the order within each pair.
};

/// Two commands run in pairs, after one pair that does not count.
///
/// Where both are a plain `shardlab run ...`, each stores its runs in a scratch database. The two
/// of a pair are started together and take turns, of 10 ms or one longer iteration each, in random
/// order: a machine changes less between two turns than between two starts. Where one is of a
/// build that takes no turns, or is another command whose wall time is stored there, one runs after
/// the other. The folder goes with this object, and signals that end this program arrive then.
///
/// Errors   invalid: an empty command, or one that names a database itself.
///          external: no scratch folder.
class Ab {
 public:
  explicit Ab(const AbOptions& options);

  /// Runs one more pair, before the first one another that does not count.
  ///
  /// Errors   external: a command that fails, with what it said last; a signal that ends this
  ///          program.
  void run_pair();

  /// Whether the commands took turns in the last pair.
  [[nodiscard]] bool took_turns() const { return turns_; }

  /// What was measured of command 0 or 1.
  [[nodiscard]] results::Side side(int which) const;

  /// Copies what was measured of command 0 or 1 into a file that is not there yet.
  void keep(int which, const std::string& file) const;

 private:
  void pair(bool counts);
  void pair_of_runs(const std::string& name, bool counts);
  void pair_of_commands(const std::string& name, bool counts);
  [[nodiscard]] std::string database(int which, bool counts) const;
  [[nodiscard]] std::filesystem::path errors(int which) const;

  HeldSignals signals_;  // Goes last.
  std::array<std::string, 2> commands_;
  results::Random random_;
  std::string name_;  // Of all pairs of this object.
  std::shared_ptr<const std::filesystem::path> folder_;
  bool stores_ = false;
  bool turns_ = false;
  int pairs_ = 0;
};

}  // namespace shardlab
