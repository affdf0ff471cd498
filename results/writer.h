#pragma once

#include <string>
#include <string_view>

namespace shardlab::results {

/// A text that names this process among all that ever ran on this machine.
[[nodiscard]] std::string this_writer();

/// True if the process that a this_writer text names still runs; false on another machine, in
/// another container and after a restart.
[[nodiscard]] bool is_running(std::string_view writer);

}  // namespace shardlab::results
