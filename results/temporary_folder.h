#pragma once

#include <filesystem>
#include <memory>

namespace shardlab::results {

/// A folder of this process alone, which goes with its last owner.
///
/// Errors   external: it cannot be made.
[[nodiscard]] std::shared_ptr<const std::filesystem::path> temporary_folder();

}  // namespace shardlab::results
