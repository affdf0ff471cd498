#pragma once

#include <string>

#include "results/run.h"

namespace shardlab {

/// The timeline of a run as trace events that Perfetto and Chrome open.
///
/// A rank is a process, a lane a thread. Scopes nest around the steps of the compute thread, which
/// also shows what it waits for; slices that overlap without nesting get a thread of their own. An
/// arrow leads from each communication to its wait, a counter follows the live bytes. Names of
/// predicted runs begin with `~`; a folded rank says which ranks it stands for.
///
/// Units    Microseconds, of which three decimals are written.
/// Errors   Error{unsupported} if the run has no timeline.
/// Source   Trace Event Format of the Chrome developers; Perfetto's reader of it.
[[nodiscard]] std::string perfetto_json(const results::StoredRun& run,
                                        const results::Timeline& timeline);

/// Writes them to a file.
///
/// Errors   As perfetto_json; Error{external} naming a file that cannot be written.
void write_perfetto(const results::StoredRun& run, const results::Timeline& timeline,
                    const std::string& path);

}  // namespace shardlab
