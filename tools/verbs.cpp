#include "tools/verbs.h"

#include <fmt/format.h>

#include <charconv>

#include "engine/core/check.h"
#include "tools/stopping.h"

namespace shardlab {
namespace {

std::vector<Mesh> meshes_of(const Typed& typed) {
  std::vector<Mesh> meshes;
  std::string_view rest = typed.ranks;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    int ranks = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), ranks);
    check(error == std::errc() && end == part.data() + part.size(),
          "--ranks: expected numbers such as 1,2,4, found '{}'", typed.ranks);
    check(ranks >= 1, "--ranks: {} ranks; at least 1 is needed", ranks);
    meshes.push_back(Mesh({{"domain", ranks}}));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  for (const std::string& text : typed.meshes) meshes.push_back(Mesh::parse(text));
  if (meshes.empty()) meshes.push_back(Mesh({{"domain", 1}}));
  return meshes;
}

}  // namespace

CLI::App& Verbs::add(const char* name, const char* help, std::function<Exit()> run) const {
  CLI::App& verb = *app.add_subcommand(name, help);
  verb.callback([chosen = &chosen, run = std::move(run)] { *chosen = run; });
  return verb;
}

void Verbs::add_database(CLI::App& verb) const {
  verb.add_option("--db", request.database, "the results file")->capture_default_str();
  verb.add_flag("--json", request.json, "print JSON for programs");
}

void Verbs::add_meshes(CLI::App& verb) const {
  verb.add_option("--ranks", typed.ranks, "ranks on one axis `domain`; commas sweep: 1,2,4");
  verb.add_option("--mesh", typed.meshes, "data=2,domain=4; may be repeated")
      ->allow_extra_args(false);
}

void Verbs::add_problem(CLI::App& verb, const char* preset) const {
  verb.add_option("scenario", request.names, "one or more scenarios; `shardlab list` names them")
      ->required();
  verb.add_option("--preset", request.preset, "paper, small or tiny")->default_str(preset);
  verb.add_option("--dtype", typed.dtypes, "float32, float64, tf32, bfloat16, float16");
  verb.add_flag("--train", request.train, "a training step instead of inference");
  verb.add_option("--scaling", typed.scaling, "strong, or weak: sizes are those of one rank")
      ->capture_default_str();
  verb.add_option("--seed", request.seed, "of parameters and inputs")->capture_default_str();
  std::map<std::string, std::string> params;
  for (const auto& [name, scenario] : scenarios.all())
    for (const ParamSpec& spec : scenario.params) {
      std::string& text = params[spec.name];
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name, spec.help);
    }
  for (const auto& [name, help] : params)
    verb.add_option_function<std::string>(
            "--" + name,
            [values = &request.values, name = name](const std::string& v) { (*values)[name] = v; },
            help)
        ->group("Parameters of scenarios (commas sweep)");
}

void read_typed(const Typed& typed, Request& request) {
  request.meshes = meshes_of(typed);
  if (!typed.dtypes.empty()) request.dtypes = CLI::detail::split(typed.dtypes, ',');
  request.scaling = parse_scaling(typed.scaling);
  request.timeline = !typed.no_timeline;
  if (!typed.precision.empty()) request.precision = share_typed("--precision", typed.precision);
  if (!typed.budget.empty()) request.budget_seconds = seconds_typed("--budget", typed.budget);
}

}  // namespace shardlab
