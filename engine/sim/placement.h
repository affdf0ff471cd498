#pragma once

#include <cstdint>
#include <string>

#include "engine/core/mesh.h"

namespace shardlab::sim {

/// The slowest wire between two ranks.
enum class Wire : std::uint8_t { none, domain, network };

/// Where the members of one communicator lie, and who shares their wires.
struct Place {
  int ranks = 1;
  int domains = 1;     ///< Fast-link domains that the group touches.
  int per_domain = 1;  ///< Most members in one domain.
  int concurrent = 1;  ///< Groups along the same axes that meet in one domain.
  Wire wire = Wire::none;
  friend bool operator==(const Place&, const Place&) = default;
};

/// Ranks on a machine: rank r is device r of a row of domains of `domain` devices each.
class Placement {
 public:
  /// Errors   Error{invalid} unless `domain` is at least 1.
  Placement(const Mesh& mesh, int domain);

  [[nodiscard]] const Mesh& mesh() const { return mesh_; }
  [[nodiscard]] int domains() const { return (mesh_.size() + domain_ - 1) / domain_; }
  [[nodiscard]] int domain_of(int rank) const { return rank / domain_; }
  [[nodiscard]] Wire wire(int a, int b) const;

  /// The group of the rank at `at` along `axes`.
  [[nodiscard]] Place group(const AxisList& axes, const Coordinates& at) const;

  /// One line an axis for people: `domain=16: 2 domains of 8; data=64: over the network`.
  [[nodiscard]] std::string text() const;

 private:
  Mesh mesh_;
  int domain_;
};

}  // namespace shardlab::sim
