#include "results/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "engine/core/check.h"

namespace shardlab::results {

namespace fs = std::filesystem;

std::shared_ptr<const fs::path> temporary_folder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  const char* named = std::getenv("TMPDIR");
  if (error)
    fail(Fault::external, "no temporary folder: TMPDIR is '{}': {}", named == nullptr ? "" : named,
         error.message());
  std::string name = (parent / "shardlab-XXXXXX").string();
  if (!mkdtemp(name.data()))
    fail(Fault::external, "no temporary folder in {}: {}; TMPDIR can name another place",
         parent.string(), std::strerror(errno));
  return {new fs::path(name), [](const fs::path* folder) {
            std::error_code ignored;
            fs::remove_all(*folder, ignored);
            delete folder;
          }};
}

}  // namespace shardlab::results
