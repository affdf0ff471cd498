#pragma once

#include <filesystem>
#include <string>

namespace shardlab::test {

/// What a command printed, and how it ended.
struct Ended {
  int exit = -1;
  std::string out;
  std::string err;
};

/// A folder of its own that is removed with this object.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::filesystem::path path(const std::string& name = "") const {
    return name.empty() ? path_ : path_ / name;
  }

 private:
  std::filesystem::path path_;
};

/// Runs a shell command in a folder.
[[nodiscard]] Ended run_command(const std::string& command, const Folder& folder);

/// The whole text of a file; empty if there is none.
[[nodiscard]] std::string text_of(const std::filesystem::path& file);

}  // namespace shardlab::test
