#include "engine/core/answers.h"

namespace shardlab {

void Answers::log(std::uint64_t key, const Coordinates& at,
                  std::function<std::uint64_t(const Coordinates&)> ask) {
  if (!keys_.insert(key).second) return;
  const std::uint64_t answer = ask(at);
  questions_.push_back({std::move(ask), answer});
}

bool Answers::same_for(const Coordinates& other) const {
  for (const Question& question : questions_)
    if (question.ask(other) != question.answer) return false;
  return true;
}

}  // namespace shardlab
