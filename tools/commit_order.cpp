#include "tools/commit_order.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

namespace shardlab {

std::vector<std::string> commit_order() {
  const auto close = [](std::FILE* file) { pclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> git(
      popen("git rev-list --topo-order --all HEAD 2>/dev/null", "r"), close);
  std::vector<std::string> commits;
  std::array<char, 128> line{};
  while (git != nullptr && std::fgets(line.data(), line.size(), git.get()) != nullptr) {
    commits.emplace_back(line.data());
    commits.back().erase(commits.back().find_last_not_of('\n') + 1);
  }
  std::ranges::reverse(commits);
  return commits;
}

}  // namespace shardlab
