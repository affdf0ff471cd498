#include "results/time_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "results/rank_test.h"
#include "results/show.h"
#include "results/statistics.h"

namespace shardlab::results {
namespace {

constexpr double significance = 0.02;
constexpr std::size_t most_causes = 5;
constexpr std::size_t most_places = 3;

/// What both sides spend on something, a value a run.
struct Spent {
  std::vector<double> base = {};
  std::vector<double> next = {};
  bool paired = false;

  [[nodiscard]] std::vector<double> differences() const {
    std::vector<double> all(base.size());
    std::ranges::transform(next, base, all.begin(), std::minus<>());
    return all;
  }
  [[nodiscard]] double growth() const {
    return paired ? median(differences()) : median(next) - median(base);
  }
  [[nodiscard]] double p() const {
    return paired ? signed_rank(differences()).p : mann_whitney(base, next).p;
  }
  [[nodiscard]] double least_p() const {
    return paired ? least_signed_rank_p(base.size())
                  : least_mann_whitney_p(base.size(), next.size());
  }
};

/// Seconds of the middle rank on what is chosen.
template <typename Chosen>
double seconds_of(const Profile& profile, const Chosen& chosen) {
  std::map<std::int32_t, double> ranks;
  for (const auto& [place, work] : profile.places)
    if (chosen(place, work))
      for (const auto& [rank, seconds] : work.seconds) ranks[rank] += seconds;
  std::vector<double> all;
  for (const auto& [rank, seconds] : ranks) all.push_back(seconds);
  return all.empty() ? 0 : median(all);
}

class TimeCauses {
 public:
  TimeCauses(bool more, const Profiles& base, const Profiles& next, Timelines timelines)
      : sign_(more ? 1 : -1),
        base_(base),
        next_(next),
        computed_(timelines == Timelines::computed),
        paired_(timelines == Timelines::paired && base.size() == next.size()) {
    for (const Profiles* side : {&base, &next})
      for (const Profile& profile : *side)
        for (const auto& [place, work] : profile.places) places_[work.op].insert(place);
  }

  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::pair<double, std::string>> grown;
    for (const auto& [op, places] : places_) {
      const Spent spent = spent_on([&](const auto&, const Work& work) { return work.op == op; });
      const double growth = sign_ * spent.growth();
      const double most_p = significance / static_cast<double>(places_.size());
      const bool tested = !computed_ && spent.least_p() < most_p;
      if (growth > 0 && (!tested || spent.p() < most_p))
        grown.emplace_back(growth, text(op, spent, growth, tested));
    }
    std::ranges::stable_sort(grown, std::greater<>(), &std::pair<double, std::string>::first);
    std::vector<std::string> texts;
    for (const auto& [growth, text] : grown)
      if (texts.size() < most_causes) texts.push_back(text);
    if (grown.size() > most_causes)
      texts.push_back(fmt::format("and {} ops more", grown.size() - most_causes));
    return texts;
  }

 private:
  template <typename Chosen>
  [[nodiscard]] Spent spent_on(const Chosen& chosen) const {
    Spent spent{.paired = paired_};
    for (const Profile& profile : base_) spent.base.push_back(seconds_of(profile, chosen));
    for (const Profile& profile : next_) spent.next.push_back(seconds_of(profile, chosen));
    return spent;
  }

  [[nodiscard]] std::string text(const std::string& op, const Spent& spent, double growth,
                                 bool tested) const {
    const std::size_t runs = std::min(spent.base.size(), spent.next.size());
    std::string of;
    if (!computed_)
      of = tested ? fmt::format(", in {} traced steps", runs)
                  : fmt::format(", {} traced step{}, which proves nothing", runs,
                                runs == 1 ? "" : "s");
    return fmt::format("{} takes {} {} a step{} ({} -> {}{})", op, show_seconds(growth),
                       sign_ > 0 ? "more" : "less", where(op, growth),
                       show_seconds(median(spent.base)), show_seconds(median(spent.next)), of);
  }

  /// The places that have most of it.
  [[nodiscard]] std::string where(const std::string& op, double growth) const {
    std::vector<std::pair<double, std::string>> parts;
    for (const std::string& place : places_.at(op)) {
      const double part = sign_ * spent_on([&](const std::string& each, const Work&) {
                                    return each == place;
                                  }).growth();
      constexpr std::string_view in = " in ";
      if (part > growth / 10 && place.size() > op.size())
        parts.emplace_back(part, place.substr(op.size() + in.size()));
    }
    std::ranges::stable_sort(parts, std::greater<>(), &std::pair<double, std::string>::first);
    std::string text;
    for (std::size_t i = 0; i < std::min(parts.size(), most_places); ++i)
      text += (i == 0 ? " in " : ", ") + parts[i].second;
    return parts.size() > most_places
               ? text + fmt::format(" and {} more", parts.size() - most_places)
               : text;
  }

  double sign_;
  const Profiles& base_;
  const Profiles& next_;
  bool computed_;
  bool paired_;
  std::map<std::string, std::set<std::string>> places_;  // of each op
};

}  // namespace

std::vector<std::string> time_causes(bool more, const Profiles& base, const Profiles& next,
                                     Timelines timelines) {
  const auto is_empty = [](const Profile& profile) { return profile.places.empty(); };
  if (base.empty() || next.empty() || std::ranges::any_of(base, is_empty) ||
      std::ranges::any_of(next, is_empty))
    return {};
  return TimeCauses(more, base, next, timelines).texts();
}

}  // namespace shardlab::results
