#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/schema.h"

namespace shardlab::results {

/// What one file brought to a merge.
struct MergedFile {
  std::string path = {};
  std::int64_t runs = 0;      ///< In the file.
  std::int64_t added = 0;     ///< Of them were not there.
  std::int64_t replaced = 0;  ///< Were there as they were before they ended.
  std::string notice = {};    ///< As Reader::notice.
};

/// Copies the runs of databases into one, which is created if it is not there: all or nothing.
///
/// A run is known by its uuid and copied once. One that was copied before it had ended is replaced.
/// The files are only read; those of an older schema are migrated in a copy.
///
/// Cost     Linear in the rows; one transaction.
/// Errors   external naming the file: damaged, foreign, of a newer schema; a metric that is stored
///          with another unit, or two runs of one uuid that have both ended and differ.
///          invalid: the files to merge are none, or the one to merge into is among them.
std::vector<MergedFile> merge(const std::string& into, const std::vector<std::string>& files,
                              const OpenOptions& options = {});

}  // namespace shardlab::results
