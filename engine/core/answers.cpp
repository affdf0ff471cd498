#include "engine/core/answers.h"

#include <algorithm>

namespace shardlab {

void Answers::log(std::uint64_t key, const Coordinates& at,
                  std::function<std::uint64_t(const Coordinates&)> ask) {
  if (!keys_.insert(key).second) return;
  const std::uint64_t answer = ask(at);
  questions_.push_back({std::move(ask), answer});
}

int Answers::log_turns(std::uint64_t key, const Coordinates& at, int turns,
                       std::function<std::uint64_t(const Coordinates&, int)> ask) {
  const auto [known, first] = ring_of_key_.emplace(key, rings());
  if (!first) return known->second;
  Ring& ring = rings_.emplace_back();
  ring.ask = std::move(ask);
  for (int turn = 0; turn < turns; ++turn) ring.answers.push_back(ring.ask(at, turn));
  ring.sorted = ring.answers;
  std::sort(ring.sorted.begin(), ring.sorted.end());
  return known->second;
}

bool Answers::same_for(const Coordinates& other) const {
  for (const Question& question : questions_)
    if (question.ask(other) != question.answer) return false;
  for (int ring = 0; ring < rings(); ++ring)
    if (turns(ring, other) != rings_[ring].answers) return false;
  return true;
}

bool Answers::same_but_for_order(const Coordinates& other) const {
  for (const Question& question : questions_)
    if (question.ask(other) != question.answer) return false;
  for (int ring = 0; ring < rings(); ++ring) {
    std::vector<std::uint64_t> answers = turns(ring, other);
    std::sort(answers.begin(), answers.end());
    if (answers != rings_[ring].sorted) return false;
  }
  return true;
}

std::vector<std::uint64_t> Answers::turns(int ring, const Coordinates& at) const {
  const Ring& asked = rings_[ring];
  std::vector<std::uint64_t> answers(asked.answers.size());
  for (std::size_t turn = 0; turn < answers.size(); ++turn)
    answers[turn] = asked.ask(at, static_cast<int>(turn));
  return answers;
}

}  // namespace shardlab
