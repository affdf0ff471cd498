#include "engine/sim/time_classes.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "engine/core/check.h"
#include "engine/core/split.h"

namespace shardlab::sim {
namespace {

/// The communicators and distances that a trace names, in order of appearance.
std::vector<Meeting> meetings_of(const FoldedTrace& trace) {
  std::vector<Meeting> found;
  for (const Step& step : trace.steps()) {
    if (step.kind != Step::Kind::start) continue;
    const auto same = [&](const Meeting& meeting) {
      return meeting.axes == step.axes && meeting.relative_peer == step.relative_peer;
    };
    if (std::none_of(found.begin(), found.end(), same))
      found.push_back({step.axes, step.relative_peer, {}, 0, 0});
  }
  return found;
}

std::uint64_t hash_of(const Place& place) {
  std::uint64_t hash = hash_start;
  for (const int part : {place.ranks, place.domains, place.per_domain, place.concurrent,
                         static_cast<int>(place.wire)})
    hash = hash_join(hash, static_cast<std::uint64_t>(part));
  return hash;
}

std::uint64_t hash_of(const std::vector<int>& colours) {
  std::uint64_t hash = hash_start;
  for (const int colour : colours) hash = hash_join(hash, static_cast<std::uint64_t>(colour));
  return hash;
}

/// All groups along one list of axes; their members share everything but their own colour.
struct Groups {
  AxisList axes;
  std::vector<int> of_rank;
  std::vector<std::vector<int>> members;
  std::vector<Place> places;
  std::vector<std::vector<int>> colours;  ///< Distinct ones of the members, in the round at work.
  std::vector<std::uint64_t> hashes;      ///< Of the colours.

  Groups(const Placement& placement, const AxisList& along) : axes(along) {
    const Mesh& mesh = placement.mesh();
    of_rank.assign(static_cast<std::size_t>(mesh.size()), -1);
    const int size = mesh.size(axes);
    for (int rank = 0; rank < mesh.size(); ++rank) {
      if (of_rank[rank] >= 0) continue;
      const Coordinates at = mesh.coordinates(rank);
      places.push_back(placement.group(axes, at));
      std::vector<int>& group = members.emplace_back();
      for (int i = 0; i < size; ++i) {
        group.push_back(mesh.rank(mesh.member(axes, at, i)));
        of_rank[group.back()] = static_cast<int>(members.size()) - 1;
      }
    }
    colours.resize(members.size());
    hashes.resize(members.size());
  }

  void look(const std::vector<int>& now) {
    for (std::size_t g = 0; g < members.size(); ++g) {
      colours[g].clear();
      for (const int rank : members[g]) colours[g].push_back(now[rank]);
      keep_distinct(colours[g]);
      hashes[g] = hash_of(colours[g]);
    }
  }

  static void keep_distinct(std::vector<int>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
};

/// Colours of all ranks, refined until they stand still.
class Refinement {
 public:
  Refinement(const Placement& placement, std::span<const int> trace_class,
             std::span<const RankProgram> programs)
      : placement_(placement), trace_class_(trace_class) {
    std::map<const FoldedTrace*, std::vector<Meeting>> known;
    for (const RankProgram& program : programs) {
      const auto [found, first] = known.try_emplace(program.trace);
      if (first) found->second = meetings_of(*program.trace);
      meetings_.push_back(found->second);
      for (const Meeting& meeting : meetings_.back())
        if (find(meeting.axes) < 0) groups_.emplace_back(placement, meeting.axes);
    }
  }

  TimeClasses run(std::span<const int> colour) {
    const int ranks = placement_.mesh().size();
    now_.assign(static_cast<std::size_t>(ranks), 0);
    keys_.assign(static_cast<std::size_t>(ranks), 0);
    for (int rank = 0; rank < ranks; ++rank) {
      std::uint64_t key = hash_join(hash_start, static_cast<std::uint64_t>(trace_class_[rank]));
      if (!colour.empty()) key = hash_join(key, static_cast<std::uint64_t>(colour[rank]));
      for (const Meeting& meeting : meetings_[trace_class_[rank]])
        key = hash_join(key, hash_of(place_of(meeting, rank)));
      keys_[rank] = key;
    }
    std::size_t classes = renumber();
    for (std::size_t before = 0; before != classes;) {
      before = classes;
      for (Groups& groups : groups_) groups.look(now_);
      for (int rank = 0; rank < ranks; ++rank) {
        std::uint64_t key = hash_join(hash_start, static_cast<std::uint64_t>(now_[rank]));
        for (const Meeting& meeting : meetings_[trace_class_[rank]])
          key = hash_join(key, hash_met(meeting, rank));
        keys_[rank] = key;
      }
      classes = renumber();
    }
    for (Groups& groups : groups_) groups.look(now_);
    return result(classes);
  }

 private:
  [[nodiscard]] int find(const AxisList& axes) const {
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (groups_[g].axes == axes) return static_cast<int>(g);
    return -1;
  }

  /// The ranks that a rank sends to and receives from, `distance` apart.
  [[nodiscard]] std::array<int, 2> peers(const Meeting& meeting, int rank) const {
    const Mesh& mesh = placement_.mesh();
    const Coordinates at = mesh.coordinates(rank);
    const int size = mesh.size(meeting.axes);
    const int position = mesh.position(meeting.axes, at);
    const auto at_distance = [&](int distance) {
      const int other = ((position + distance) % size + size) % size;
      return mesh.rank(mesh.member(meeting.axes, at, other));
    };
    return {at_distance(meeting.relative_peer), at_distance(-meeting.relative_peer)};
  }

  [[nodiscard]] Place place_of(const Meeting& meeting, int rank) const {
    const Groups& groups = groups_[find(meeting.axes)];
    Place place = groups.places[groups.of_rank[rank]];
    if (meeting.relative_peer == 0) return place;
    place.wire = Wire::none;
    for (const int peer : peers(meeting, rank))
      place.wire = std::max(place.wire, placement_.wire(rank, peer));
    return place;
  }

  /// A call ends with its last member, whatever their order or number.
  [[nodiscard]] std::vector<int> colours_met(const Meeting& meeting, int rank) const {
    if (meeting.relative_peer == 0) {
      const Groups& groups = groups_[find(meeting.axes)];
      return groups.colours[groups.of_rank[rank]];
    }
    const std::array<int, 2> met = peers(meeting, rank);
    std::vector<int> colours{now_[rank], now_[met[0]], now_[met[1]]};
    Groups::keep_distinct(colours);
    return colours;
  }

  [[nodiscard]] std::uint64_t hash_met(const Meeting& meeting, int rank) const {
    if (meeting.relative_peer != 0) return hash_of(colours_met(meeting, rank));
    const Groups& groups = groups_[find(meeting.axes)];
    return groups.hashes[groups.of_rank[rank]];
  }

  std::size_t renumber() {
    std::unordered_map<std::uint64_t, int> numbers;
    for (std::size_t rank = 0; rank < keys_.size(); ++rank)
      now_[rank] = numbers.emplace(keys_[rank], static_cast<int>(numbers.size())).first->second;
    return numbers.size();
  }

  [[nodiscard]] TimeClasses result(std::size_t classes) const {
    TimeClasses found;
    found.of_rank = now_;
    found.representative.assign(classes, -1);
    found.members.assign(classes, 0);
    found.meetings.resize(classes);
    std::map<std::pair<int, std::vector<int>>, int> collectives;
    for (int rank = 0; rank < placement_.mesh().size(); ++rank) {
      const int own = now_[rank];
      ++found.members[own];
      if (found.representative[own] >= 0) continue;
      found.representative[own] = rank;
      for (Meeting meeting : meetings_[trace_class_[rank]]) {
        meeting.place = place_of(meeting, rank);
        std::vector<int> met = colours_met(meeting, rank);
        meeting.members = static_cast<int>(met.size());
        meeting.party = static_cast<int>(found.parties.size());
        if (meeting.relative_peer == 0)
          meeting.party =
              collectives.emplace(std::pair(find(meeting.axes), met), meeting.party).first->second;
        if (meeting.party == static_cast<int>(found.parties.size()))
          found.parties.push_back(std::move(met));
        found.meetings[own].push_back(std::move(meeting));
      }
    }
    return found;
  }

  const Placement& placement_;
  std::span<const int> trace_class_;
  std::vector<std::vector<Meeting>> meetings_;  ///< Of each trace class.
  std::vector<Groups> groups_;
  std::vector<int> now_;
  std::vector<std::uint64_t> keys_;
};

}  // namespace

TimeClasses time_classes(const Placement& placement, std::span<const int> trace_class,
                         std::span<const RankProgram> programs, std::span<const int> colour) {
  const auto ranks = static_cast<std::size_t>(placement.mesh().size());
  expect(trace_class.size() == ranks && (colour.empty() || colour.size() == ranks),
         "time classes: {} ranks, {} trace classes, {} colours", ranks, trace_class.size(),
         colour.size());
  return Refinement(placement, trace_class, programs).run(colour);
}

}  // namespace shardlab::sim
