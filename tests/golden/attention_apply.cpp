#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/intrinsic.h"
#include "engine/nn/attention.h"
#include "engine/nn/layers.h"
#include "engine/ops/attention_merge.h"
#include "engine/ops/pieces.h"
#include "engine/ops/reshape.h"
#include "tests/golden/apply.h"

namespace shardlab::golden {
namespace {

nn::AttentionOptions options_of(Trial& trial) {
  nn::AttentionOptions options;
  const nlohmann::json& attributes = trial.golden().attributes;
  const auto optional = [&](const char* name, auto& option) {
    if (attributes.contains(name)) option = trial.attribute<std::int64_t>(name);
  };
  if (attributes.contains("scale")) options.scale = trial.attribute<double>("scale");
  options.causal = trial.attribute<bool>("causal", false);
  options.diagonal = trial.attribute<std::int64_t>("diagonal", 0);
  optional("window_left", options.window_left);
  optional("window_right", options.window_right);
  if (trial.has("key_mask")) options.key_mask = trial.operand("key_mask");
  if (trial.has("query_position")) options.query_position = trial.operand("query_position");
  if (trial.has("key_position")) options.key_position = trial.operand("key_position");
  return options;
}

/// The tokens from one offset to the next of k or v.
Tensor chunk_of(const Tensor& x, const std::vector<std::int64_t>& offsets, std::size_t chunk) {
  return slice(x, {1, offsets[chunk], offsets[chunk + 1], 1});
}

/// The layer with its parts written out, for what the layer itself has no words for.
Tensor heads_by_hand(Trial& trial) {
  const Tensor x = trial.operand("x");
  const auto heads = trial.attribute<std::int64_t>("heads");
  const auto kv_heads = trial.attribute<std::int64_t>("kv_heads");
  const std::int64_t per = x.extent(-1) / heads;
  const auto biased = [&](const Tensor& input, const std::string& name) {
    const Tensor bias = trial.has(name + ".bias") ? trial.operand(name + ".bias") : Tensor();
    return nn::apply_linear(input, trial.operand(name + ".weight"), bias);
  };
  const std::vector<Tensor> parts =
      pieces(biased(x, "qkv"), -1, {heads * per, kv_heads * per, kv_heads * per});
  const auto split = [&](const Tensor& part, std::int64_t count) {
    return reshape(part, Shape{x.extent(0), x.extent(1), count, per});
  };
  const Attended attended = nn::attention(split(parts[0], heads), split(parts[1], kv_heads),
                                          split(parts[2], kv_heads), options_of(trial));
  return biased(reshape(attended.output, x.shape()), "out");
}

}  // namespace

namespace apply {

void attention(Trial& trial) {
  const Attended attended =
      nn::attention(trial.operand("q"), trial.operand("k"), trial.operand("v"), options_of(trial));
  trial.give("o", attended.output);
  trial.give("lse", attended.log_sum_exp);
}

void attention_merge(Trial& trial) {
  const auto part = [&](int i) {
    return Attended{trial.operand(fmt::format("o{}", i)), trial.operand(fmt::format("lse{}", i))};
  };
  Attended merged = part(0);
  for (int i = 1; i < trial.attribute<int>("parts"); ++i)
    merged = shardlab::attention_merge(merged, part(i));
  trial.give("o", merged.output);
  trial.give("lse", merged.log_sum_exp);
}

void attention_split(Trial& trial) {
  const Tensor q = trial.operand("q");
  const Tensor k = trial.operand("k");
  const Tensor v = trial.operand("v");
  const auto offsets = trial.attribute<std::vector<std::int64_t>>("offsets");
  const nn::AttentionOptions options = options_of(trial);
  Attended merged;
  for (std::size_t c = 0; c + 1 < offsets.size(); ++c) {
    const Attended chunk =
        nn::attention(q, chunk_of(k, offsets, c), chunk_of(v, offsets, c), options);
    trial.give(fmt::format("o_chunk{}", c), chunk.output);
    trial.give(fmt::format("lse_chunk{}", c), chunk.log_sum_exp);
    merged = c == 0 ? chunk : shardlab::attention_merge(merged, chunk);
  }
  // Where k is cut along tokens, the ring must come to the same.
  if (k.layout()->dim(1).split != nullptr) merged = nn::attention(q, k, v, options);
  trial.give("o", merged.output);
  trial.give("lse", merged.log_sum_exp);

  const NoGrad no_grad(trial.worker());
  const Tensor g = trial.cotangent("o", merged.output);
  for (std::size_t c = 0; c + 1 < offsets.size(); ++c) {
    const std::array<Tensor, 6> inputs{
        q, chunk_of(k, offsets, c), chunk_of(v, offsets, c), merged.output, merged.log_sum_exp, g};
    std::array<Tensor, 3> share;
    dispatch(make_ref<AttentionGradient>(*options.scale, false), inputs, share);
    trial.give(fmt::format("q_gradient_chunk{}", c), share[0]);
  }
}

void multi_head_attention(Trial& trial) {
  if (!special_attributes(trial.golden()).empty()) {
    trial.give("y", heads_by_hand(trial));
    return;
  }
  const Tensor x = trial.operand("x");
  Worker& worker = trial.worker();
  const nn::MultiHeadAttention layer(trial.parameters({}), x.extent(-1),
                                     trial.attribute<std::int64_t>("heads"));
  for (const Tensor& parameter : worker.parameters()) {
    const std::string& name = parameter.state().parameter->name;
    // A bias that the case has not is 0, as the layer makes it.
    if (trial.has(name)) trial.assign(name, parameter);
  }
  trial.give("y", layer(x));
}

}  // namespace apply

namespace arrange {

std::vector<Arrangement> chunks(const Case& golden) {
  std::vector<Arrangement> all = every_cut(golden);
  const auto offsets = golden.attributes.at("offsets").get<std::vector<std::int64_t>>();
  std::vector<std::int64_t> sizes;
  for (std::size_t c = 0; c + 1 < offsets.size(); ++c) sizes.push_back(offsets[c + 1] - offsets[c]);
  all.push_back({static_cast<int>(sizes.size()), {{"k", {1, sizes}}, {"v", {1, sizes}}}, false});
  return all;
}

std::vector<Arrangement> activations(const Case& golden) {
  std::vector<Arrangement> all;
  const Shape& x = golden.operand("x").shape;
  for (int d = 0; d < x.ndim(); ++d) {
    all.push_back({3, {{"x", {d, with_hole(x[d])}}}, false});
    all.push_back({3, {{"x", {d, ragged(x[d])}}}, true});
  }
  return all;
}

}  // namespace arrange
}  // namespace shardlab::golden
