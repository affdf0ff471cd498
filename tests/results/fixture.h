#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "results/store.h"

namespace shardlab::results {

/// A folder of its own for every test, in memory where the machine offers that, so that nothing
/// waits for a disk.
class StorageTest : public testing::Test {
 protected:
  enum class Place { memory, disk };

  explicit StorageTest(Place place = Place::memory) {
    std::filesystem::path parent = std::filesystem::temp_directory_path();
    if (place == Place::memory && access("/dev/shm", W_OK) == 0) parent = "/dev/shm";
    std::string name = (parent / "results-XXXXXX").string();
    folder = mkdtemp(name.data());
    path = (folder / "runs.sqlite").string();
  }
  ~StorageTest() override {
    std::error_code ignored;
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(folder, ignored);
  }

  std::filesystem::path folder;
  std::string path;
};

inline RunHeader header_of(const std::string& scenario, const std::string& mesh = "domain=2") {
  RunHeader header;
  header.series = {.scenario = scenario, .mesh = mesh};
  header.environment.processor = "test CPU";
  return header;
}

/// One sample a rank and iteration, of value first, first + 1, ...
inline MetricSamples samples_of(const Metric& metric, std::int64_t iterations, std::int32_t ranks,
                                double first = 1) {
  MetricSamples all{metric, {}};
  for (std::int64_t i = 0; i < iterations; ++i)
    for (std::int32_t rank = 0; rank < ranks; ++rank)
      all.samples.push_back({.iteration = i, .rank = rank, .warmup = false, .value = first++});
  return all;
}

/// The Error that a call throws; a test failure if it throws none.
inline Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {Fault::internal, "no error"};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Every file of a folder with its content.
inline std::vector<std::pair<std::string, std::string>> content_of_folder(
    const std::filesystem::path& folder) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.emplace_back(entry.path().filename().string(), content_of(entry.path()));
  std::ranges::sort(files);
  return files;
}

/// Starts a process that runs `body` and ends with its result; an exception gives 99.
inline pid_t start_child(const std::function<int()>& body) {
  std::cout.flush();
  const pid_t child = fork();
  if (child != 0) return child;
  int result = 99;
  try {
    result = body();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
  }
  _exit(result);
}

/// Waits for a process; its exit status, or minus the signal that ended it.
inline int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace shardlab::results
