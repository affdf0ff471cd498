#pragma once

#include <string>

#include "tools/predict_verb.h"

namespace shardlab {

/// What is typed behind `plan` besides the problem.
struct PlanRequest {
  std::string machine;
  std::string profile = "shardlab";
  std::string memory;   ///< Of a device, such as 80GiB; empty: what the machine has.
  std::string offload;  ///< What may lie in host memory, commas separate; empty: anything.
  std::string objective = "time";
  int max_ranks = 64;
  bool strategies = false;
};

/// Reads `80GiB`, `80GB`, `512MiB`.
///
/// Units    Bytes.
/// Errors   Error{invalid} saying what was expected.
[[nodiscard]] double parse_bytes(const std::string& text);

/// Predicts a problem on every mesh of data and domain axes up to a number of ranks and prints the
/// best plans that fit, and why the others do not; or the alternatives to domain parallelism.
Exit plan_verb(const Scenarios& scenarios, const Request& request, const PlanRequest& options);

}  // namespace shardlab
