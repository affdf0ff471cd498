#include "tools/scaling.h"

#include <algorithm>

#include "engine/core/check.h"

namespace shardlab {
namespace {

std::string multiplied(const Params& params, const std::string& name, int ranks) {
  const std::string& text = params.text(name);
  const std::size_t cross = std::min(text.find('x'), text.size());
  const std::int64_t size = cross < text.size() ? params.sizes(name).front() : params.integer(name);
  std::int64_t whole = 0;
  check(!__builtin_mul_overflow(size, std::int64_t{ranks}, &whole),
        "--{}: {} on each of {} ranks is more than 64 bits hold", name, size, ranks);
  return std::to_string(whole) + text.substr(cross);
}

}  // namespace

Scaling parse_scaling(std::string_view text) {
  if (text == "strong") return Scaling::strong;
  if (text == "weak") return Scaling::weak;
  fail(Fault::invalid, "unknown scaling '{}': did you mean '{}'? Known are strong, weak", text,
       nearest(text, {"strong", "weak"}));
}

Params grown(const Scenario& scenario, const Params& one_rank, const Mesh& mesh) {
  std::vector<std::string> axes;
  for (const ParamSpec& spec : scenario.params)
    if (!spec.grows_with.empty()) axes.push_back(spec.grows_with);
  if (axes.empty())
    fail(Fault::unsupported, "{} has no size that grows in weak scaling", scenario.name);
  Params whole = one_rank;
  for (int axis = 0; axis < mesh.ndim(); ++axis) {
    const auto& [name, ranks] = mesh.axis(axis);
    if (ranks == 1) continue;
    check(std::find(axes.begin(), axes.end(), name) != axes.end(),
          "{}: in weak scaling nothing grows with axis '{}' of mesh {}: did you mean '{}'?",
          scenario.name, name, mesh.text(), nearest(name, axes));
    for (const ParamSpec& spec : scenario.params)
      if (spec.grows_with == name) whole.set(spec.name, multiplied(whole, spec.name, ranks));
  }
  return whole;
}

}  // namespace shardlab
