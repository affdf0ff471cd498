#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "results/query.h"

namespace shardlab::results {

/// Takes a piece of text that goes to a file.
using Sink = std::function<void(std::string_view)>;

/// Writes runs as a table that spreadsheets and data frames open: one row a run, iteration and
/// rank, rank -1 being the whole mesh, one column a metric with its unit in the head. Numbers have
/// a decimal point in every locale and read back equal; a run without samples has one row.
///
/// Cost     One run is in memory at a time.
/// Source   RFC 4180.
void export_csv(const Reader& reader, const std::vector<RunId>& runs, const Sink& sink);

/// Writes runs as a JSON array, each as `to_json` has it; `shardlab import` reads it back.
void export_json(const Reader& reader, const std::vector<RunId>& runs, const Sink& sink);

}  // namespace shardlab::results
