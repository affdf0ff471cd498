#include "tools/verbs.h"

namespace shardlab {

void add_results_verbs(const Verbs& /*verbs*/) {}

}  // namespace shardlab
