#include "engine/sim/peer_ring.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/engine/sim/hand_made.h"

namespace shardlab::sim {
namespace {

const AxisList domain{0};

/// A kernel on a block of 6 rows of 4 numbers: 96 bytes.
Step block(const char* op) {
  Step step;
  step.op = op;
  step.local = {1, 6, 1, 4};
  step.bytes = 7;
  step.flop = 5;
  return step;
}

Step exchange(Step::Kind kind, std::uint64_t sequence) {
  Step step;
  step.kind = kind;
  step.op = "exchange";
  step.axes = domain;
  step.relative_peer = kind == Step::Kind::start ? 1 : 0;
  step.bytes = 192;
  step.sequence = sequence;
  return step;
}

/// A rank of three: keys and values travel while the block before is worked on.
Trace forward_of_three() {
  Trace trace;
  trace.append(exchange(Step::Kind::start, 1));
  trace.append(block("attention"));
  trace.append(exchange(Step::Kind::wait, 1));
  trace.append(exchange(Step::Kind::start, 2));
  trace.append(block("attention"));
  trace.append(block("attention_merge"));
  trace.append(exchange(Step::Kind::wait, 2));
  trace.append(block("attention"));
  trace.append(block("attention_merge"));
  Step sum = exchange(Step::Kind::start, 3);
  sum.op = "all_reduce";
  sum.relative_peer = 0;
  trace.append(sum);
  trace.append(exchange(Step::Kind::wait, 3));
  return trace;
}

/// `s` a start, `w` a wait, each with its number; `a` a block, `g` its gradient, `m` a kernel of a
/// merge, `l` a look, `.` anything else; equal letters in a row are counted.
std::string text_of(const Trace& trace) {
  std::string text;
  int same = 0;
  for (const Step& step : trace.steps()) {
    const std::string op = step.op;
    std::string word = op == "attention"            ? "a"
                       : op == "attention_gradient" ? "g"
                       : op == "attention_merge"    ? "m"
                                                    : ".";
    if (step.kind == Step::Kind::look) word = "l";
    if (step.kind == Step::Kind::start) word = "s" + std::to_string(step.sequence);
    if (step.kind == Step::Kind::wait) word = "w" + std::to_string(step.sequence);
    if (word == "m") {
      ++same;
      continue;
    }
    if (same > 0) text += " m*" + std::to_string(same);
    same = 0;
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

TEST(PeerRing, AsThisEngineRunsItNothingChanges) {
  const Trace trace = forward_of_three();
  const Trace same = as_run_by(find_profile("shardlab"), trace);
  ASSERT_EQ(same.steps().size(), trace.steps().size());
  for (std::size_t i = 0; i < trace.steps().size(); ++i) {
    EXPECT_EQ(same.steps()[i].op, trace.steps()[i].op) << i;
    EXPECT_EQ(same.steps()[i].bytes, trace.steps()[i].bytes) << i;
    EXPECT_EQ(same.steps()[i].sequence, trace.steps()[i].sequence) << i;
  }
}

// Three rounds of two messages each, the last for nothing, and then the sum as call 7. Merges: 4
// kernels on the first block, 20 + 8 on each later one, 3 at the end.
TEST(PeerRing, TheSoftwareOf2025SendsKeysAndValuesApartInEveryRound) {
  const Trace peer = as_run_by(find_profile("pytorch-shardtensor-2025"), forward_of_three());
  EXPECT_EQ(text_of(peer), "s1 s2 l a m*4 w1 w2 s3 s4 a m*28 w3 w4 a m*31 s5 s6 w5 w6 s7 w7");
  std::int64_t sent = 0;
  for (const Step& step : peer.steps())
    if (step.kind == Step::Kind::start && step.relative_peer != 0) sent += step.bytes;
  EXPECT_EQ(sent, 3 * 192);
}

// 8 passes over 96 bytes by 4 kernels are 192 bytes each; a kernel on the 6 log-sum-exps moves
// three times 24 bytes.
TEST(PeerRing, KernelsOfAMergeShareItsPasses) {
  const Trace peer = as_run_by(find_profile("pytorch-shardtensor-2025"), forward_of_three());
  std::vector<std::int64_t> bytes;
  for (const Step& step : peer.steps())
    if (std::string(step.op) == "attention_merge") bytes.push_back(step.bytes);
  ASSERT_EQ(bytes.size(), 63U);
  EXPECT_EQ(bytes[0], 192);
  EXPECT_EQ(bytes[4], static_cast<std::int64_t>(96 * 50.25 / 20));
  EXPECT_EQ(bytes[31], 72);
}

TEST(PeerRing, TheSoftwareOf2026DoesNotSendAfterTheLastBlock) {
  const Trace peer = as_run_by(find_profile("pytorch-shardtensor-2026"), forward_of_three());
  EXPECT_EQ(text_of(peer), "s1 s2 l a m*4 w1 w2 s3 s4 a m*28 w3 w4 a m*31 s5 w5");
}

// Of two ranks: keys and values once under way and once for nothing, their gradients twice.
TEST(PeerRing, AGradientSendsFourTensorsInEveryRound) {
  Trace trace;
  trace.append(exchange(Step::Kind::start, 1));
  trace.append(block("attention_gradient"));
  trace.append(exchange(Step::Kind::start, 2));
  trace.append(exchange(Step::Kind::wait, 1));
  trace.append(block("attention_gradient"));
  trace.append(block("add"));
  trace.append(exchange(Step::Kind::wait, 2));
  trace.append(block("add"));
  trace.append(block("add"));
  trace.append(exchange(Step::Kind::start, 3));
  trace.append(exchange(Step::Kind::wait, 3));
  const Trace peer = as_run_by(find_profile("pytorch-shardtensor-2025"), trace);
  EXPECT_EQ(text_of(peer), "s1 s2 l g s3 s4 w1 w2 g s5 s6 w5 w6 . w3 w4 . . s7 s8 w7 w8");
}

}  // namespace
}  // namespace shardlab::sim
