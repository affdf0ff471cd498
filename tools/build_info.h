#pragma once

#include <string>
#include <vector>

namespace shardlab {

/// A library that this build was compiled against.
struct LibraryVersion {
  std::string name;
  std::string version;
};

/// What this binary was built from and with, as stored with every Run.
struct BuildInfo {
  std::string version;
  std::string commit;  ///< 40 hex digits, or "unknown" outside a clone.
  bool dirty = false;  ///< True if the working tree differed from the commit.
  std::string build_type;
  std::string sanitizer;  ///< "none", "address" or "thread".
  std::string compiler;   ///< Name and version.
  std::vector<LibraryVersion> libraries;
};

/// Describes the running binary; its source is written by CMake.
[[nodiscard]] BuildInfo build_info();

}  // namespace shardlab
