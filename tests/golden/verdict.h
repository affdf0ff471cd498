#pragma once

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "tests/golden/trial.h"

namespace shardlab::golden {

/// How the cases of one op become calls of the engine, and how many of them must run and be
/// skipped.
struct Family {
  const char* op;
  int run;
  int skipped;
  void (*apply)(Trial& trial);
  std::vector<Arrangement> (*arrangements)(const Case& golden);

  friend void PrintTo(const Family& family, std::ostream* stream) { *stream << family.op; }
};

/// Every input cut along every dim, alone and together with the others, over three ranks in uneven
/// parts of which some are empty.
[[nodiscard]] std::vector<Arrangement> every_cut(const Case& golden);

/// Two uneven ways to cut an extent over three ranks; the first has an empty part.
[[nodiscard]] std::vector<std::int64_t> with_hole(std::int64_t extent);
[[nodiscard]] std::vector<std::int64_t> ragged(std::int64_t extent);

/// Names of the attributes of a case that an engine may not have yet and that are in force.
[[nodiscard]] std::vector<std::string> special_attributes(const Case& golden);

/// What is known not to be there yet: `op` or `op attribute`, one a line.
class Absent {
 public:
  /// Errors   Error{external} if the file cannot be read; Error{invalid} for a line given twice.
  explicit Absent(const std::filesystem::path& path);

  [[nodiscard]] bool has(const std::string& line) const { return lines_.count(line) != 0; }
  [[nodiscard]] const std::set<std::string>& lines() const { return lines_; }

 private:
  std::set<std::string> lines_;
};

/// What became of a case.
struct Verdict {
  enum class Kind { run, skipped, failed } kind = Kind::run;
  std::vector<std::string> reasons;  ///< Why skipped or failed.
};

/// Runs a case on one rank in float64 and float32, and in float64 in every arrangement of its
/// family. Refusals count as skipped where the case has an absent attribute, which the text must
/// name, or may be refused; they must be the same in all executions.
[[nodiscard]] Verdict judge(const Family& family, const Case& golden, const Absent& absent);

}  // namespace shardlab::golden
