#pragma once

namespace shardlab::cpu {

/// What kernels of one rank share: things that are dear to make or keep state between calls.
struct Tools {};

}  // namespace shardlab::cpu
