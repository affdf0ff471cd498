#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/measured_rows.h"
#include "tools/reproduce.h"

namespace shardlab {

/// Tables for people: rows that are judged, their errors by mode and regime, rows that are shown,
/// claims that wait.
void print(const Reproduction& reproduction, const MeasuredRows& measured);

/// The same for programs.
[[nodiscard]] nlohmann::json json_of(const Reproduction& reproduction,
                                     const MeasuredRows& measured);

}  // namespace shardlab
