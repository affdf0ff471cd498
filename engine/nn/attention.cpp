#include "engine/nn/attention.h"

#include <algorithm>
#include <cmath>

#include "engine/core/check.h"
#include "engine/nn/ring_attention.h"

namespace shardlab::nn {
namespace {

void refuse(bool asked, const char* attribute) {
  if (asked) fail(Fault::unsupported, "attention: attribute {} is not there yet", attribute);
}

}  // namespace

Attended attention(const Tensor& q, const Tensor& k, const Tensor& v,
                   const AttentionOptions& options) {
  check(q.ndim() == 4 && k.ndim() == 4 && v.ndim() == 4,
        "attention: q, k and v have {}, {} and {} dims; [batch, token, head, width] is needed",
        q.ndim(), k.ndim(), v.ndim());
  refuse(options.causal, "causal");
  refuse(options.diagonal != 0, "diagonal");
  refuse(options.window_left.has_value(), "window_left");
  refuse(options.window_right.has_value(), "window_right");
  refuse(static_cast<bool>(options.key_mask), "key_mask");
  refuse(static_cast<bool>(options.query_position), "query_position");
  refuse(static_cast<bool>(options.key_position), "key_position");
  refuse(k.extent(2) != q.extent(2) && k.extent(2) > 0 && q.extent(2) % k.extent(2) == 0,
         "kv_heads (grouped heads)");
  const double width = static_cast<double>(std::max<std::int64_t>(1, q.extent(3)));
  const double scale = options.scale.value_or(1.0 / std::sqrt(width));
  const bool ring =
      k.layout() != nullptr && k.layout()->partial().empty() && k.layout()->dim(1).split != nullptr;
  return ring ? ring_attention(q, k, v, scale) : shardlab::attention(q, k, v, scale);
}

}  // namespace shardlab::nn
