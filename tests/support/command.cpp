#include "tests/support/command.h"

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace shardlab::test {

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "shardlab-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

Ended run_command(const std::string& command, const Folder& folder) {
  const std::string line =
      "cd '" + folder.path().string() + "' && { " + command + " ; } >stdout.txt 2>stderr.txt";
  const int status = std::system(line.c_str());
  Ended ended;
  ended.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  ended.out = text_of(folder.path("stdout.txt"));
  ended.err = text_of(folder.path("stderr.txt"));
  return ended;
}

}  // namespace shardlab::test
