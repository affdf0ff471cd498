#include "tools/check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/check.h"
#include "engine/dispatch/create.h"

namespace shardlab {
namespace {

double bound_of(Named::Kind kind, Dtype dtype) {
  if (dtype == Dtype::float64) return 1e-10;
  return kind == Named::Kind::gradient ? 1e-4 : 1e-5;
}

double error_of(const std::vector<double>& values, const std::vector<double>& reference) {
  double difference = 0;
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // Equal infinities are no difference; anything else that is not a number is an infinite one.
    const double d = values[i] == reference[i] ? 0 : std::abs(values[i] - reference[i]);
    difference = std::max(difference, std::isnan(d) ? std::numeric_limits<double>::infinity() : d);
    if (std::isfinite(reference[i])) largest = std::max(largest, std::abs(reference[i]));
  }
  return largest > 0 ? difference / largest : difference;
}

}  // namespace

std::vector<NamedValues> one_rank_values(const Execution& execution, const Scenario& scenario,
                                         Params params, Dtype dtype) {
  params.precision = {dtype, MathMode::exact};
  std::vector<NamedValues> reference;
  LaunchOptions options;
  options.precision = params.precision;
  options.seed = params.seed;
  launch(execution, options, [&](Worker& worker, int) {
    const std::unique_ptr<Program> program = scenario.start(worker, params);
    for (const Named& named : program->step(true))
      reference.push_back({named.kind, named.name, values_of(named.value)});
  });
  return reference;
}

std::vector<results::Check> compare_values(const std::vector<NamedValues>& values,
                                           const std::vector<NamedValues>& reference,
                                           const std::vector<NamedValues>& one_rank, Dtype dtype) {
  expect(values.size() == reference.size() && values.size() == one_rank.size(),
         "check: {} tensors, {} in the reference", values.size(), reference.size());
  std::vector<results::Check> checks;
  for (std::size_t i = 0; i < values.size(); ++i) {
    expect(values[i].name == reference[i].name &&
               values[i].values.size() == reference[i].values.size() &&
               values[i].values.size() == one_rank[i].values.size(),
           "check: tensor {} is {}, the reference has {}", i, values[i].name, reference[i].name);
    const double bound = bound_of(values[i].kind, dtype);
    const bool gradient = values[i].kind == Named::Kind::gradient;
    const bool beside_one_rank = gradient && dtype != Dtype::float64 &&
                                 error_of(one_rank[i].values, reference[i].values) > bound;
    const NamedValues& right = beside_one_rank ? one_rank[i] : reference[i];
    checks.push_back({fmt::format("{}{}{}", gradient ? "gradient " : "", values[i].name,
                                  beside_one_rank ? " beside one rank" : ""),
                      error_of(values[i].values, right.values), bound});
  }
  return checks;
}

}  // namespace shardlab
