#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardlab::results {

/// How a run came to its numbers.
enum class Execution { cpu, cuda, predict, published };

[[nodiscard]] const char* name_of(Execution execution);

/// Errors   invalid: no such execution.
[[nodiscard]] Execution execution_from(std::string_view name);

/// What was asked: two runs with equal keys answer the same question.
struct SeriesKey {
  std::string scenario = {};
  std::string parameters = "{}";  ///< JSON object, as typed; see is_weak.
  std::string dtype = "float32";
  bool train = false;
  std::string mesh = "domain=1";  ///< `data=2,domain=4`; empty in the key of a curve.
  Execution execution = Execution::cpu;
  std::string machine = {};  ///< Of predict and published, else empty.
  std::string profile = "shardlab";

  bool operator==(const SeriesKey&) const = default;
};

/// What it ran on; the commit is no part of it.
struct EnvironmentKey {
  std::string processor = {};  ///< CPU or GPU model, and how many.
  std::string isa = {};        ///< Instruction level picked at run time.
  std::string build_type = {};
  std::string compiler = {};
  std::map<std::string, std::string> libraries = {};  ///< Name to version.
  std::string topology = {};

  bool operator==(const EnvironmentKey&) const = default;
};

/// The key with its parameters in canonical form.
///
/// Errors   invalid: parameters are no JSON object, no scenario, a malformed mesh, a machine where
///          none belongs or none where one does.
[[nodiscard]] SeriesKey canonical(SeriesKey key);

/// The key of the scaling curve that a series is a point of: the same without its mesh.
[[nodiscard]] SeriesKey without_mesh(SeriesKey key);

/// True where parameters say `"scaling": "weak"`: sizes are then per rank, so that the runs of a
/// weak curve differ by their mesh only.
[[nodiscard]] bool is_weak(const SeriesKey& key);

/// The number of ranks of a mesh such as `data=2,domain=4`.
///
/// Errors   invalid: malformed, an axis twice, or not at least one rank an axis.
[[nodiscard]] std::int64_t ranks_of(std::string_view mesh);

using Fields = std::vector<std::pair<std::string, std::string>>;

/// The fields of a key by name, in a fixed order.
[[nodiscard]] Fields fields_of(const SeriesKey& key);
[[nodiscard]] Fields fields_of(const EnvironmentKey& key);

/// The names of the fields in which two keys differ.
[[nodiscard]] std::vector<std::string> differences(const Fields& a, const Fields& b);

/// One line that is equal exactly for equal keys.
[[nodiscard]] std::string text_of(const SeriesKey& key);

/// JSON of an environment, equal exactly for equal keys, and back.
[[nodiscard]] std::string text_of(const EnvironmentKey& key);
[[nodiscard]] EnvironmentKey environment_from(std::string_view json);

/// 32 hexadecimal digits, a short name for text_of.
[[nodiscard]] std::string hash_of(const SeriesKey& key);
[[nodiscard]] std::string hash_of(const EnvironmentKey& key);

}  // namespace shardlab::results
