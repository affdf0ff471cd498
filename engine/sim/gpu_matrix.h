#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sim/text_lines.h"

namespace shardlab::sim {

/// How two devices of a host are joined, nearest first.
enum class MatrixLink : std::uint8_t {
  self,
  nvlink,
  pix,   ///< One PCIe switch.
  pxb,   ///< Several PCIe switches, no host bridge.
  phb,   ///< A host bridge, as a rule the CPU.
  node,  ///< Several host bridges of one NUMA node.
  sys,   ///< The link between NUMA nodes.
  unknown,
};

/// As nvidia-smi prints it, without the count of NVLinks.
[[nodiscard]] const char* name_of(MatrixLink link) noexcept;

struct MatrixCell {
  MatrixLink link = MatrixLink::unknown;
  int nvlinks = 0;  ///< Bonded NVLinks; 0 unless link is nvlink.
  bool operator==(const MatrixCell&) const = default;
};

struct MatrixDevice {
  std::string name;  ///< GPU0, NIC3 ...
  bool gpu = false;
  std::string port;  ///< mlx5_0 ..., where the legend names it.
  std::string cpus;  ///< CPU affinity as printed, empty without it.
  std::optional<int> numa;
};

/// What `nvidia-smi topo -m` says about one host.
class GpuMatrix {
 public:
  /// Reads the first matrix of a text. A cell that is missing or not known is filled in from its
  /// mirror image, and where the two differ the farther one counts; oddities say so.
  ///
  /// Errors   invalid with file and line: no line of device names, no row, a device named twice,
  ///          more than 1,024 devices. unsupported: the matrix of another tool or option.
  [[nodiscard]] static GpuMatrix read(std::string_view text, std::string_view name);

  [[nodiscard]] const std::vector<MatrixDevice>& devices() const { return devices_; }
  [[nodiscard]] const std::vector<Oddity>& oddities() const { return oddities_; }

  /// Between devices by their place in devices().
  [[nodiscard]] MatrixCell between(std::size_t a, std::size_t b) const {
    return cells_[a * devices_.size() + b];
  }

  [[nodiscard]] int gpus() const;
  [[nodiscard]] int nics() const { return static_cast<int>(devices_.size()) - gpus(); }

  /// The places in devices() of the NICs that are nearest to a GPU; empty without NICs.
  [[nodiscard]] std::vector<std::size_t> nearest_nics(std::size_t gpu) const;

 private:
  friend class MatrixReader;
  std::vector<MatrixDevice> devices_;
  std::vector<MatrixCell> cells_;
  std::vector<Oddity> oddities_;
};

}  // namespace shardlab::sim
