#include "tools/request.h"

#include "engine/core/check.h"

namespace shardlab {
namespace {

std::vector<std::string> at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t comma = text.find(',', begin);
    parts.push_back(text.substr(begin, comma - begin));
    if (comma == std::string::npos) return parts;
    begin = comma + 1;
  }
}

std::vector<Params> combinations(const Scenario& scenario, const Request& request) {
  Params base = scenario.preset(request.preset);
  base.train = request.train;
  base.seed = static_cast<std::uint64_t>(request.seed);
  std::vector<Params> all{base};
  const auto multiply = [&all](const std::vector<std::string>& values, const auto& set) {
    std::vector<Params> grown;
    for (const Params& params : all)
      for (const std::string& value : values) {
        grown.push_back(params);
        set(grown.back(), value);
      }
    all = std::move(grown);
  };
  for (const auto& [name, text] : request.values) {
    if (!base.has(name)) {
      std::vector<std::string> known;
      for (const ParamSpec& spec : scenario.params) known.push_back(spec.name);
      fail(Fault::invalid, "{} has no parameter --{}: did you mean --{}?", scenario.name, name,
           nearest(name, known));
    }
    multiply(at_commas(text),
             [&name = name](Params& params, const std::string& value) { params.set(name, value); });
  }
  multiply(request.dtypes, [](Params& params, const std::string& value) {
    params.precision = parse_precision(value);
  });
  return all;
}

}  // namespace

Exit graver(Exit a, Exit b) {
  for (const Exit each : {Exit::broken, Exit::usage, Exit::failed, Exit::not_comparable})
    if (a == each || b == each) return each;
  return Exit::fine;
}

Exit exit_of(Fault fault) {
  switch (fault) {
    case Fault::invalid:
      return Exit::usage;
    case Fault::unsupported:
      return Exit::not_comparable;
    default:
      return Exit::broken;
  }
}

std::string Case::title() const {
  std::string text = fmt::format("{} on {}, {}{}", scenario->name, mesh.text(),
                                 name_of(params.precision), params.train ? ", training" : "");
  for (const auto& [name, value] : params.all())
    if (value != stored.text(name)) text += fmt::format(", {} {}", name, value);
  return text;
}

std::vector<Case> sweep(const Scenarios& scenarios, const Request& request) {
  std::vector<Case> cases;
  for (const std::string& name : request.names) {
    const Scenario& scenario = scenarios.find(name);
    for (const Params& params : combinations(scenario, request))
      for (const Mesh& mesh : request.meshes) {
        Case& each = cases.emplace_back(Case{&scenario, mesh, params, params});
        if (request.scaling == Scaling::strong) continue;
        each.params = grown(scenario, params, mesh);
        each.stored.set("scaling", "weak");
      }
  }
  return cases;
}

}  // namespace shardlab
