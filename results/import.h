#pragma once

#include <string>
#include <vector>

#include "results/imported.h"

namespace shardlab::results {

/// The names of the formats that `read_import` knows.
[[nodiscard]] std::vector<std::string> import_formats();

/// Recognises a file by its content and reads it; nothing where no format fits.
///
/// Errors   invalid with file and line: it is of a known format, and damaged.
[[nodiscard]] std::optional<Imported> read_import(const ImportSource& source,
                                                  const ImportOptions& options);

/// Makes what was read ready for the store: source and command are set, what the options say is
/// filled in, and runs get uuids made of their content, so that the same file gives the same runs
/// wherever and however often it is imported. Oddities of the whole are added to the notes.
///
/// Errors   invalid with the file's name: a run that a store would refuse.
void complete(Imported& imported, const ImportSource& source, const ImportOptions& options,
              const std::string& command);

/// Whether every run says on what it ran; times of runs that do not compare with each other.
[[nodiscard]] bool names_processors(const Imported& imported);

}  // namespace shardlab::results
