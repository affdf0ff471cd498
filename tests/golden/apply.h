#pragma once

#include "tests/golden/verdict.h"

/// Each function makes the engine calls of one op and gives their results to the trial.
namespace shardlab::golden::apply {

void add(Trial& trial);
void subtract(Trial& trial);
void multiply(Trial& trial);
void divide(Trial& trial);
void gelu(Trial& trial);
void relu(Trial& trial);
void sigmoid(Trial& trial);
void silu(Trial& trial);
void tanh(Trial& trial);
void softmax(Trial& trial);
void log_softmax(Trial& trial);

void concat(Trial& trial);
void slice(Trial& trial);
void rearrange(Trial& trial);
void sum(Trial& trial);
void mean(Trial& trial);

void matmul(Trial& trial);
void linear(Trial& trial);
void layer_norm(Trial& trial);
void mse_loss(Trial& trial);
void cross_entropy(Trial& trial);

void attention(Trial& trial);
void attention_merge(Trial& trial);
void attention_split(Trial& trial);
void multi_head_attention(Trial& trial);

void adamw(Trial& trial);
void sgd(Trial& trial);
void vit(Trial& trial);

}  // namespace shardlab::golden::apply

namespace shardlab::golden::arrange {

/// Every cut, and keys and values cut where the case cuts them into chunks.
[[nodiscard]] std::vector<Arrangement> chunks(const Case& golden);

/// Every cut of `x`, with parameters kept whole and cut.
[[nodiscard]] std::vector<Arrangement> activations(const Case& golden);

/// The batch cut, and the height of the image cut between and within patches; parameters kept whole
/// and cut.
[[nodiscard]] std::vector<Arrangement> image(const Case& golden);

}  // namespace shardlab::golden::arrange
