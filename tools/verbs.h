#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "tools/request.h"

namespace shardlab {

/// Options of several verbs as typed, before they are read.
struct Typed {
  std::string ranks;
  std::vector<std::string> meshes;
  std::string dtypes;
  std::string scaling = "strong";
  std::string precision;
  std::string budget;
  bool no_timeline = false;
};

/// The verbs of a command line and what was typed behind them.
struct Verbs {
  CLI::App& app;
  const Scenarios& scenarios;
  Request& request;
  Typed& typed;
  std::function<Exit()>& chosen;  ///< Runs the verb that was typed; set by parsing.

  /// A verb with options of its own, which live as long as its command.
  ///
  /// Example  auto [verb, options] = verbs.add<ProbeVerbOptions>("probe", "measures ...",
  /// probe_verb);
  template <typename Options>
  struct Added {
    CLI::App& verb;
    Options& options;
  };
  template <typename Options>
  Added<Options> add(const char* name, const char* help,
                     std::function<Exit(const Options&)> run) const {
    const auto options = std::make_shared<Options>();
    return {add(name, help, [options, run] { return run(*options); }), *options};
  }

  /// A verb that reads the request.
  CLI::App& add(const char* name, const char* help, std::function<Exit()> run) const;

  /// `--db` and `--json`.
  void add_database(CLI::App& verb) const;

  /// Scenarios, their parameters, preset, dtype, mode.
  void add_problem(CLI::App& verb, const char* preset) const;

  /// `--ranks` and `--mesh`.
  void add_meshes(CLI::App& verb) const;
};

/// The verbs that run scenarios and show what is known of them.
void add_measuring_verbs(const Verbs& verbs);

/// The verbs of machines that need not be there.
void add_predicting_verbs(const Verbs& verbs);

/// The verbs that compare, report, import and keep what is stored.
void add_results_verbs(const Verbs& verbs);

/// Reads what was typed into the request.
///
/// Errors   Error{invalid} naming the option.
void read_typed(const Typed& typed, Request& request);

}  // namespace shardlab
