#include "tools/picture.h"

#include <fstream>

#include "engine/core/check.h"

namespace shardlab {

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!file) fail(Fault::external, "{}: cannot be written", path);
  file << text;
  file.close();
  if (!file) fail(Fault::external, "{}: not all of {} bytes could be written", path, text.size());
}

}  // namespace shardlab
