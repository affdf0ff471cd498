#include "engine/sim/placement.h"

#include <algorithm>
#include <map>

#include "engine/core/check.h"

namespace shardlab::sim {

Placement::Placement(const Mesh& mesh, int domain) : mesh_(mesh), domain_(domain) {
  check(domain >= 1, "placement: a domain of {} devices", domain);
}

Wire Placement::wire(int a, int b) const {
  if (a == b) return Wire::none;
  return domain_of(a) == domain_of(b) ? Wire::domain : Wire::network;
}

Place Placement::group(const AxisList& axes, const Coordinates& at) const {
  Place place;
  place.ranks = mesh_.size(axes);
  std::map<int, int> members;
  for (int i = 0; i < place.ranks; ++i) ++members[domain_of(mesh_.rank(mesh_.member(axes, at, i)))];
  place.domains = static_cast<int>(members.size());
  for (const auto& [domain, count] : members) place.per_domain = std::max(place.per_domain, count);
  if (place.ranks > 1) place.wire = place.domains > 1 ? Wire::network : Wire::domain;
  place.concurrent = std::max(1, std::min(domain_, mesh_.size()) / place.per_domain);
  return place;
}

std::string Placement::text() const {
  std::string text;
  for (int axis = 0; axis < mesh_.ndim(); ++axis) {
    const Place place = group({axis}, mesh_.coordinates(0));
    if (!text.empty()) text += "; ";
    text += fmt::format("{}={}: ", mesh_.axis(axis).name, mesh_.extent(axis));
    if (place.domains == 1)
      text += "within a domain";
    else if (place.per_domain == 1)
      text += "over the network";
    else
      text += fmt::format("{} domains of {}", place.domains, place.per_domain);
  }
  return text;
}

}  // namespace shardlab::sim
