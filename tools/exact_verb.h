#pragma once

#include <string>

#include "tools/request.h"

namespace shardlab {

struct ExactVerbOptions {
  std::string folder = "tests/exact";
  bool accept = false;
  bool json = false;
};

/// Holds the exact quantities of all scenarios against committed ones.
Exit exact_verb(const Scenarios& scenarios, const ExactVerbOptions& options);

}  // namespace shardlab
