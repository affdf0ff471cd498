#include "tests/golden/verdict.h"

#include <algorithm>
#include <fstream>
#include <mutex>

#include "engine/launch/launch.h"
#include "tools/executions.h"

namespace shardlab::golden {
namespace {

Bounds bounds_of(const Case& golden, Dtype dtype) {
  if (dtype == Dtype::float64) return {1e-10, 1e-10};
  return {std::max(1e-5, 3 * golden.forward_error32), std::max(1e-4, 3 * golden.gradient_error32)};
}

/// What one execution came to.
struct Outcome {
  std::string refusal;  ///< Text of an Error{unsupported}; empty if it ran.
  std::vector<std::string> differences;
};

Outcome execute(const Family& family, const Case& golden, const Arrangement& arrangement,
                Dtype dtype) {
  const std::string where =
      fmt::format("{}, {}, {}: ", golden.id, name_of(dtype), arrangement.text());
  Outcome outcome;
  std::mutex mutex;
  LaunchOptions options;
  options.mesh = Mesh({{"domain", arrangement.ranks}});
  options.precision.dtype = dtype;
  try {
    launch(cpu_execution(), options, [&](Worker& worker, int rank) {
      Trial trial(worker, golden, arrangement);
      family.apply(trial);
      for (const std::string& line : trial.differences(bounds_of(golden, dtype))) {
        const std::lock_guard lock(mutex);
        outcome.differences.push_back(fmt::format("{}rank {}: {}", where, rank, line));
      }
    });
  } catch (const Error& error) {
    if (error.fault() == Fault::unsupported)
      outcome.refusal = where + error.what();
    else
      outcome.differences.push_back(
          fmt::format("{}{} error: {}", where, name_of(error.fault()), error.what()));
  }
  return outcome;
}

/// Empty if refusing is right, else why it is wrong.
std::string fault_of_refusal(const Case& golden, const Absent& absent, const std::string& text) {
  if (golden.may_refuse) return {};
  std::vector<std::string> listed;
  for (const std::string& attribute : special_attributes(golden))
    if (absent.has(golden.op + " " + attribute)) listed.push_back(attribute);
  if (listed.empty()) return "refused, and nothing absent is asked: " + text;
  for (const std::string& attribute : listed)
    if (text.find("attribute " + attribute) != std::string::npos) return {};
  return fmt::format("refused without naming {}: {}", fmt::join(listed, " or "), text);
}

}  // namespace

std::vector<std::int64_t> with_hole(std::int64_t extent) {
  return {extent / 3, 0, extent - extent / 3};
}

std::vector<std::int64_t> ragged(std::int64_t extent) {
  return {extent / 2, extent - extent / 2 - extent / 4, extent / 4};
}

std::vector<Arrangement> every_cut(const Case& golden) {
  std::vector<Arrangement> all;
  int most = 0;
  for (const auto& [name, array] : golden.inputs) {
    most = std::max(most, array.shape.ndim());
    for (int d = 0; d < array.shape.ndim(); ++d)
      all.push_back({3, {{name, {d, with_hole(array.shape[d])}}}, false});
  }
  for (int d = 0; d < most; ++d) {
    Arrangement together{3, {}, false};
    for (const auto& [name, array] : golden.inputs)
      if (d < array.shape.ndim()) together.parts[name] = {d, ragged(array.shape[d])};
    all.push_back(together);
  }
  return all;
}

std::vector<std::string> special_attributes(const Case& golden) {
  std::vector<std::string> names;
  const nlohmann::json& attributes = golden.attributes;
  if (attributes.value("causal", false)) names.emplace_back("causal");
  for (const char* name : {"diagonal", "window_left", "window_right", "window"})
    if (attributes.contains(name)) names.emplace_back(name);
  for (const char* name : {"key_mask", "query_position", "key_position"})
    if (golden.has_operand(name)) names.emplace_back(name);
  const bool grouped = attributes.contains("kv_heads")
                           ? attributes["kv_heads"] != attributes["heads"]
                           : golden.has_operand("q") && golden.has_operand("k") &&
                                 golden.operand("q").shape[2] != golden.operand("k").shape[2];
  if (grouped) names.emplace_back("kv_heads");
  return names;
}

Absent::Absent(const std::filesystem::path& path) {
  std::ifstream stream(path);
  if (!stream) fail(Fault::external, "{}: cannot be read", path.string());
  for (std::string line; std::getline(stream, line);)
    check(lines_.insert(line).second, "{}: '{}' is given twice", path.string(), line);
}

Verdict judge(const Family& family, const Case& golden, const Absent& absent) {
  std::vector<Outcome> outcomes{execute(family, golden, {}, Dtype::float64),
                                execute(family, golden, {}, Dtype::float32)};
  for (const Arrangement& arrangement : family.arrangements(golden))
    outcomes.push_back(execute(family, golden, arrangement, Dtype::float64));

  Verdict failed{Verdict::Kind::failed, {}};
  std::size_t refused = 0;
  for (const Outcome& outcome : outcomes) {
    failed.reasons.insert(failed.reasons.end(), outcome.differences.begin(),
                          outcome.differences.end());
    if (outcome.refusal.empty()) continue;
    ++refused;
    const std::string fault = fault_of_refusal(golden, absent, outcome.refusal);
    if (!fault.empty()) failed.reasons.push_back(fault);
  }
  if (refused != 0 && refused != outcomes.size())
    failed.reasons.push_back(
        fmt::format("{}: refused in {} of {} executions", golden.id, refused, outcomes.size()));
  if (!failed.reasons.empty()) return failed;
  if (refused == 0) return {};
  return {Verdict::Kind::skipped, {outcomes[0].refusal}};
}

}  // namespace shardlab::golden
