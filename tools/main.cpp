#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "engine/core/check.h"
#include "scenarios/all.h"
#include "tools/verbs.h"

namespace shardlab {
namespace {

std::string all_words(int argc, char** argv) {
  std::string text = "shardlab";
  for (int i = 1; i < argc; ++i) text += std::string(" ") + argv[i];
  return text;
}

/// What CLI11 says, and the nearest option where one is unknown.
std::string explain(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  std::string text = error.what();
  const CLI::App* verb = &app;
  std::vector<std::string> verbs;
  for (const CLI::App* each : app.get_subcommands(nullptr)) verbs.push_back(each->get_name());
  if (argc > 1) {
    const CLI::App* found = nullptr;
    for (const CLI::App* each : app.get_subcommands(nullptr))
      if (each->get_name() == argv[1]) found = each;
    if (found == nullptr && argv[1][0] != '-')
      return fmt::format("unknown verb '{}': did you mean '{}'?", argv[1], nearest(argv[1], verbs));
    if (found != nullptr) verb = found;
  }
  std::vector<std::string> known;
  for (const CLI::Option* option : verb->get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (int i = 2; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (word.starts_with("--") && std::find(known.begin(), known.end(), word) == known.end())
      return fmt::format("unknown option {}: did you mean {}?", word, nearest(word, known));
  }
  return text;
}

/// Unlike fmt::print it does not throw where nobody can hear it.
void say(const std::string& text) {
  (void)std::fputs(("shardlab: " + text + "\n").c_str(), stderr);
}

/// Whether all that was printed has been written.
bool is_written() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  say(fmt::format("what is printed cannot be written: {}", std::strerror(errno)));
  return false;
}

int run(int argc, char** argv) {
  Scenarios scenarios;
  add_all_scenarios(scenarios);
  Request request;
  Typed typed;
  std::function<Exit()> chosen;
  request.command_line = all_words(argc, argv);
  CLI::App app{"shardlab: benchmarks and simulates sharded tensors"};
  app.require_subcommand(1);
  const Verbs verbs{app, scenarios, request, typed, chosen};
  add_measuring_verbs(verbs);
  add_predicting_verbs(verbs);
  add_results_verbs(verbs);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    say(explain(app, error, argc, argv));
    return static_cast<int>(Exit::usage);
  }
  Exit exit = Exit::fine;
  try {
    read_typed(typed, request);
    exit = chosen();
  } catch (const Error& error) {
    say(error.what() +
        (error.fault() == Fault::internal ? " (" + error.where() + ")" : std::string()));
    exit = exit_of(error.fault());
  }
  return static_cast<int>(exit);
}

}  // namespace
}  // namespace shardlab

int main(int argc, char** argv) {
  int exit = static_cast<int>(shardlab::Exit::broken);
  try {
    exit = shardlab::run(argc, argv);
  } catch (const std::exception& error) {
    shardlab::say(error.what());
  }
  return shardlab::is_written() ? exit : static_cast<int>(shardlab::Exit::broken);
}
