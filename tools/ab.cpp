#include "tools/ab.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <random>
#include <sstream>
#include <vector>

#include "engine/core/check.h"
#include "results/store.h"
#include "results/temporary_folder.h"
#include "results/turns.h"
#include "tools/ab_command.h"
#include "tools/environment.h"

namespace shardlab {
namespace {

constexpr std::array<const char*, 2> names = {"A", "B"};

std::vector<std::string> words_of(const std::string& command) {
  std::istringstream stream(command);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// Whether a command is `shardlab run ...` and nothing else, so that a word can be added to it.
bool is_plain_run(const std::string& command) {
  if (command.find_first_of("|&;<>#\n") != std::string::npos) return false;
  std::vector<std::string> words = words_of(command);
  for (std::string& word : words) std::erase_if(word, [](char c) { return c == '\'' || c == '"'; });
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (std::filesystem::path(words[i]).filename() == "shardlab" && words[i + 1] == "run")
      return true;
  return false;
}

void store_wall_time(const std::string& database, const std::string& command,
                     const std::string& pair, double seconds) {
  results::Store store(database);
  results::RunHeader header;
  header.series.scenario = "command";
  header.environment = this_environment();
  header.command = command;
  header.state = results::with_turns("{}", {pair});
  const results::RunId run = store.start_run(header);
  const results::Metric metric{"wall_seconds", "s"};
  store.append(run, {.metrics = {{metric, {{.value = seconds}}}}});
  store.finish_run(run, results::RunStatus::complete);
}

std::string random_name() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

/// Names the pair in the states of runs whose build knows of none.
void mark_runs(const std::string& database, const std::string& pair) {
  results::Store store(database);
  const results::Reader reader = results::open_for_reading(database);
  for (const results::RunInfo& run : results::list_runs(reader)) {
    const std::string state = results::state_of(reader, run.id);
    if (!results::turns_of(state)) store.set_state(run.id, results::with_turns(state, {pair}));
  }
}

}  // namespace

Ab::Ab(const AbOptions& options)
    : commands_(options.commands), random_(options.seed), name_(random_name()) {
  for (const std::string& command : commands_) {
    check(!words_of(command).empty(), "--ab: an empty command");
    check(!is_plain_run(command) || command.find("--db") == std::string::npos,
          "--ab '{}': leave out --db, runs go to a scratch database", command);
  }
  stores_ = is_plain_run(commands_[0]) && is_plain_run(commands_[1]);
  folder_ = results::temporary_folder();
}

void Ab::run_pair() {
  if (pairs_ == 0) pair(false);
  ++pairs_;
  pair(true);
}

void Ab::pair(bool counts) {
  const std::string name = fmt::format("{}-{}", name_, pairs_);
  if (stores_)
    pair_of_runs(name, counts);
  else
    pair_of_commands(name, counts);
}

void Ab::pair_of_runs(const std::string& name, bool counts) {
  // The warm-up pair finds out whether both take turns.
  const bool together = !counts || turns_;
  const auto start = [&](int which) {
    return std::make_unique<AbCommand>(
        fmt::format("{} --db '{}'", commands_[which], database(which, counts)), errors(which),
        together ? name : "", signals_);
  };
  const int early = static_cast<int>(random_.below(2));
  std::array<std::unique_ptr<AbCommand>, 2> both;
  std::array<bool, 2> asks{};
  for (const int which : {early, 1 - early}) {
    both[which] = start(which);
    if (!together) both[which]->finish(names[which], database(which, counts));
  }
  if (together) {
    for (const int which : {0, 1}) asks[which] = both[which]->asks();
    turns_ = asks[0] && asks[1];
    while (asks[0] || asks[1]) {
      const int first = static_cast<int>(random_.below(2));
      for (const int which : {first, 1 - first}) {
        if (!asks[which]) continue;
        both[which]->give_turn();
        asks[which] = both[which]->asks();
      }
    }
    for (const int which : {0, 1}) both[which]->finish(names[which], database(which, counts));
  }
  if (counts && !turns_)
    for (const int which : {0, 1}) mark_runs(database(which, counts), name);
}

void Ab::pair_of_commands(const std::string& name, bool counts) {
  const int early = static_cast<int>(random_.below(2));
  for (const int which : {early, 1 - early}) {
    const auto begin = std::chrono::steady_clock::now();
    AbCommand(commands_[which], errors(which), "", signals_).finish(names[which]);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (counts) store_wall_time(database(which, counts), commands_[which], name, taken.count());
  }
}

std::string Ab::database(int which, bool counts) const {
  return (*folder_ / (std::string(names[which]) + (counts ? "" : "-warm-up"))).string();
}

std::filesystem::path Ab::errors(int which) const {
  return *folder_ / (std::string(names[which]) + "-errors");
}

results::Side Ab::side(int which) const {
  results::Side side = results::find_side(database(which, true), "");
  side.title = fmt::format("{}: {}", names[which], commands_[which]);
  return side;
}

void Ab::keep(int which, const std::string& file) const {
  std::error_code error;
  std::filesystem::copy_file(database(which, true), file, error);
  if (error) fail(Fault::external, "{}: {}", file, error.message());
}

}  // namespace shardlab
