#include "tests/tools/typed.h"

namespace shardlab::test {

Ended Typed::type(const std::string& words) {
  return run_command(std::string(SHARDLAB_BINARY) + " " + words, folder_);
}

}  // namespace shardlab::test
