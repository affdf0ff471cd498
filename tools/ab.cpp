#include "tools/ab.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>

#include "engine/core/check.h"
#include "results/random.h"
#include "results/store.h"
#include "tools/environment.h"

extern char** environ;

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
  const std::vector<std::string> words = words_of(command);
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (std::filesystem::path(words[i]).filename() == "shardlab" && words[i + 1] == "run")
      return true;
  return false;
}

std::string last_lines(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string before, last;
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) before = std::exchange(last, line);
  return before.empty() ? last : before + "\n" + last;
}

/// Waits for `sh -c command`, whose output goes nowhere and whose errors go into a file.
int status_of(const std::string& command, const std::string& errors) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  std::string shell = "sh", flag = "-c", text = command;
  char* words[] = {shell.data(), flag.data(), text.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawn(&child, "/bin/sh", &files, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) fail(Fault::external, "--ab: no shell: {}", std::strerror(failed));
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) fail(Fault::external, "--ab: lost a command: {}", std::strerror(errno));
  }
  return status;
}

void store_wall_time(const std::string& database, const std::string& command, double seconds) {
  results::Store store(database);
  results::RunHeader header;
  header.series.scenario = "command";
  header.environment = this_environment();
  header.command = command;
  const results::RunId run = store.start_run(header);
  const results::Metric metric{"wall_seconds", "s"};
  store.append(run, {.metrics = {{metric, {{.value = seconds}}}}});
  store.finish_run(run, results::RunStatus::complete);
}

}  // namespace

Ab::Ab(const AbOptions& options) : options_(options) {
  check(options.pairs >= 2, "--pairs {}: at least 2 are needed", options.pairs);
  for (const std::string& command : options.commands) {
    check(!words_of(command).empty(), "--ab: an empty command");
    check(!is_plain_run(command) || command.find("--db") == std::string::npos,
          "--ab '{}': leave out --db, runs go to a scratch database", command);
  }
  stores_ = is_plain_run(options.commands[0]) && is_plain_run(options.commands[1]);
  std::string name = (std::filesystem::temp_directory_path() / "shardlab-ab-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) fail(Fault::external, "{}: {}", name, std::strerror(errno));
  folder_ = name;
}

void Ab::run() {
  results::Random random(options_.seed);
  for (int pair = 0; pair <= options_.pairs; ++pair) {
    if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\rpair {} of {} ", pair, options_.pairs);
    const int first = static_cast<int>(random.below(2));
    run(first, pair > 0);
    run(1 - first, pair > 0);
  }
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\x1b[K");
}

Ab::~Ab() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

double Ab::seconds_of(int which, const std::string& command) {
  const std::filesystem::path errors = folder_ / "errors";
  const auto begin = std::chrono::steady_clock::now();
  const int status = status_of(command, errors.string());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  if (status != 0)
    fail(Fault::external, "--ab: command {} {}: {}", names[which],
         WIFEXITED(status) ? fmt::format("ended with {}", WEXITSTATUS(status))
                           : fmt::format("was ended by signal {}", WTERMSIG(status)),
         last_lines(errors));
  return taken.count();
}

void Ab::run(int which, bool counts) {
  const std::string& command = options_.commands[which];
  const std::string database = (folder_ / (counts ? names[which] : "warm-up")).string();
  if (stores_) {
    seconds_of(which, command + " --db '" + database + "'");
    return;
  }
  const double seconds = seconds_of(which, command);
  if (counts) store_wall_time(database, command, seconds);
}

results::Side Ab::side(int which) const {
  results::Side side = results::find_side((folder_ / names[which]).string(), "");
  side.title = fmt::format("{}: {}", names[which], options_.commands[which]);
  return side;
}

}  // namespace shardlab
