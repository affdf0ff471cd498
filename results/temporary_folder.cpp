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
  std::string name = (fs::temp_directory_path(error) / "shardlab-XXXXXX").string();
  if (error) fail(Fault::external, "no temporary folder: {}", error.message());
  if (!mkdtemp(name.data()))
    fail(Fault::external, "{}: no temporary folder for a copy of the database: {}", name,
         std::strerror(errno));
  return {new fs::path(name), [](const fs::path* folder) {
            std::error_code ignored;
            fs::remove_all(*folder, ignored);
            delete folder;
          }};
}

}  // namespace shardlab::results
