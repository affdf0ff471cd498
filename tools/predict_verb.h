#pragma once

#include <string>

#include "tools/predict.h"
#include "tools/request.h"

namespace shardlab {

/// What is typed behind `predict` besides the problem.
struct PredictRequest {
  std::string machine;  ///< NAME or NAME:HOSTS, a path, or `this-cpu`.
  std::string profile = "shardlab";
  std::string what_if;
  double jitter = 0;
};

/// A machine as typed: `dgx-h100:8` has 8 hosts; 0 hosts is as many as are needed.
struct NamedMachine {
  sim::Machine machine;
  int hosts = 0;
};

/// Errors   As `sim::find_machine`; Error{unsupported} for `this-cpu` without a stored probe.
[[nodiscard]] NamedMachine machine_named(const std::string& text, const std::string& database);

Exit predict_verb(const Scenarios& scenarios, const Request& request,
                  const PredictRequest& options);

}  // namespace shardlab
