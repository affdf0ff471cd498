#include "engine/core/check.h"
#include "tools/picture.h"

namespace shardlab {

void write_png(const std::string& path, const std::string& /*svg*/, double /*scale*/) {
  spare_database(path);
  fail(
      Fault::unsupported,
      "{}: this build draws no PNG: install librsvg2-dev and build again, or take --svg, which any "
      "browser opens",
      path);
}

}  // namespace shardlab
