#pragma once

#include "engine/core/communicator.h"

namespace shardlab {

/// The network of a rank that is traced alone: its communicators check and count calls like any
/// other, never wait and move nothing.
class RecordNetwork final : public Network {
 public:
  [[nodiscard]] const char* name() const override { return "record"; }
  [[nodiscard]] std::unique_ptr<Communicator> open(const Mesh& mesh, const AxisList& axes,
                                                   const Coordinates& at) override;

  /// Does nothing: nobody waits.
  void abort(const std::string& text) override;
};

}  // namespace shardlab
