#include "tests/tools/typed.h"

namespace shardlab::test {

Ended Typed::type(const std::string& words) {
  return run_command(std::string(SHARDLAB_BINARY) + " " + words, folder_);
}

std::string Typed::quoted(const std::string& word) {
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? "'\\''" : std::string(1, letter);
  return text + "'";
}

}  // namespace shardlab::test
