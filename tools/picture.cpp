#include "tools/picture.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "engine/core/check.h"

namespace shardlab {

void spare_database(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return;  // Reading a pipe would wait.
  constexpr std::string_view head = "SQLite format 3";
  std::string found(head.size(), ' ');
  std::ifstream(path, std::ios::binary).read(found.data(), std::ssize(found));
  check(found != head, "{}: that is a results file, which is not written over", path);
}

void write_text(const std::string& path, const std::string& text) {
  spare_database(path);
  std::ofstream file(path, std::ios::binary);
  if (!file) fail(Fault::external, "{}: cannot be written", path);
  file << text;
  file.close();
  if (!file) fail(Fault::external, "{}: not all of {} bytes could be written", path, text.size());
}

}  // namespace shardlab
