#include "results/comparison.h"

#include <algorithm>

namespace shardlab::results {

std::int64_t Comparison::count(Verdict verdict) const {
  return std::count_if(findings.begin(), findings.end(),
                       [verdict](const Finding& finding) { return finding.verdict == verdict; });
}

bool is_news(const Finding& finding) {
  return finding.subject != Subject::curve || finding.verdict != Verdict::not_enough;
}

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::same:
      return "same";
    case Verdict::better:
      return "better";
    case Verdict::worse:
      return "worse";
    case Verdict::undecided:
      return "undecided";
    case Verdict::not_comparable:
      return "not comparable";
    case Verdict::not_enough:
      return "not enough data";
    case Verdict::added:
      return "new";
    case Verdict::vanished:
      return "vanished";
  }
  return "unknown";
}

const char* name_of(Subject subject) {
  switch (subject) {
    case Subject::quantity:
      return "quantity";
    case Subject::curve:
      return "curve";
    case Subject::drift:
      return "drift";
  }
  return "unknown";
}

}  // namespace shardlab::results
