#include "tools/turn_gate.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "engine/core/error.h"

namespace shardlab::test {
namespace {

class TurnGates : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0);
    gate_ = std::make_unique<TurnGate>(ends_[1], "pair");
  }
  void TearDown() override {
    close_ours();
    close(ends_[1]);
  }

  void close_ours() {
    if (ends_[0] >= 0) close(std::exchange(ends_[0], -1));
  }

  char heard() {
    char letter = 0;
    return recv(ends_[0], &letter, 1, 0) == 1 ? letter : '\0';
  }

  bool is_silent() {
    char letter = 0;
    return recv(ends_[0], &letter, 1, MSG_DONTWAIT) < 0;
  }

  void give() { ASSERT_EQ(send(ends_[0], &TurnGate::gives, 1, 0), 1); }

  std::array<int, 2> ends_{};
  std::unique_ptr<TurnGate> gate_;
};

TEST_F(TurnGates, AskOnceForAllRanksAndLetThemThroughTogether) {
  gate_->open(3);
  std::atomic<int> through = 0;
  std::vector<std::thread> ranks;
  const auto rank = [&] {
    for (int turn = 0; turn < 2; ++turn) {
      gate_->pass();
      ++through;
    }
  };
  ranks.emplace_back(rank);
  ranks.emplace_back(rank);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(is_silent()) << "one rank is not there yet";
  ranks.emplace_back(rank);
  EXPECT_EQ(heard(), TurnGate::asks);
  EXPECT_EQ(through, 0) << "nobody has given a turn";
  give();
  EXPECT_EQ(heard(), TurnGate::asks) << "all are through, and there again";
  EXPECT_EQ(through, 3);
  give();
  for (std::thread& each : ranks) each.join();
  EXPECT_EQ(through, 6);
  EXPECT_TRUE(is_silent());
}

TEST_F(TurnGates, EndEveryRankWhenTheOtherEndIsGone) {
  gate_->open(2);
  std::atomic<int> failed = 0;
  const auto rank = [&] {
    try {
      gate_->pass();
    } catch (const Error& error) {
      failed += error.fault() == Fault::external ? 1 : 0;
    }
  };
  std::thread first(rank);
  std::thread second(rank);
  EXPECT_EQ(heard(), TurnGate::asks);
  close_ours();
  first.join();
  second.join();
  EXPECT_EQ(failed, 1) << "the one that asked; the communicators end the other";
}

TEST_F(TurnGates, DoNotHoldRanksWhenOneWillNotCome) {
  gate_->open(2);
  std::thread waiting([&] { gate_->pass(); });
  gate_->abandon();
  waiting.join();
  gate_->open(1);
  std::thread again([&] { gate_->pass(); });
  EXPECT_EQ(heard(), TurnGate::asks) << "the next measurement has turns again";
  give();
  again.join();
}

TEST(TurnGateOfEnvironment, IsNamedByASocketAndAPair) {
  unsetenv(TurnGate::variable);
  EXPECT_EQ(TurnGate::of_environment(), nullptr);
  setenv(TurnGate::variable, "63,a-1", 1);
  EXPECT_EQ(TurnGate::of_environment()->pair(), "a-1");
  for (const char* text : {"63", "63,", "-1,a", "a,63", "63 a", ",a"}) {
    setenv(TurnGate::variable, text, 1);
    EXPECT_THROW(static_cast<void>(TurnGate::of_environment()), Error) << text;
  }
  unsetenv(TurnGate::variable);
}

}  // namespace
}  // namespace shardlab::test
