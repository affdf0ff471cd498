#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/mark.h"
#include "results/run.h"
#include "results/schema.h"

namespace shardlab::results {

/// A database open for writing, created or migrated where needed.
///
/// Every call is one transaction: after a kill at any moment all that earlier calls wrote is there
/// and nothing of the call that was under way. Any number of processes may write at the same time;
/// each waits for its turn.
///
/// Errors   external, naming the file: no database of shardlab, of a newer schema, read-only, disk
///          full, locked for longer than `busy_seconds`.
/// Example  Store store("shardlab.sqlite");
///          const RunId run = store.start_run(header);
///          store.append(run, rows);
///          store.finish_run(run, RunStatus::complete);
class Store {
 public:
  explicit Store(const std::string& path, const OpenOptions& options = {});

  /// Writes a run with status `running`.
  ///
  /// Errors   invalid: a field of the header is malformed.
  RunId start_run(const RunHeader& header);

  /// Adds rows to a run, all or none, with one exception.
  ///
  /// A sample that is not finite cannot be stored. The run becomes `failed` with the place of that
  /// sample as its reason, all other rows are kept, and then the error is thrown.
  ///
  /// Errors   invalid: no such run, a value that is not finite, a row that is there already, a rank
  ///          outside the mesh, a metric that is stored with another unit or meaning.
  void append(RunId run, const Rows& rows);

  /// Adds steps and scopes to a run, all or none.
  ///
  /// Errors   invalid: as above, or a step that ends before it begins.
  void append(RunId run, const Timeline& timeline);

  /// What the machine did while a run was measured: a JSON object in the place of its header's.
  ///
  /// Errors   invalid: no such run, or no JSON object.
  void set_state(RunId run, std::string_view state);

  /// Adds whole runs, those left out whose uuid is there already, all or none; returns of each
  /// whether it was added.
  ///
  /// Errors   invalid: as above, a run without uuid, or a value that is not finite.
  std::vector<bool> add(const std::vector<StoredRun>& runs);

  /// Ends a run as complete, failed or skipped and returns the status it has then: a run that has
  /// failed already stays failed and keeps its first reason.
  ///
  /// Errors   invalid: no such run, it has ended otherwise, or failed and skipped without reason.
  RunStatus finish_run(RunId run, RunStatus status, std::string_view reason = "");

  /// Accepts shifts, all or none; one that is accepted already gets the new note.
  ///
  /// Errors   invalid: no commit, no run of that series, no sample of that metric.
  void accept(const std::vector<Mark>& marks);

  /// Takes back what was accepted and returns how many marks there were.
  std::int64_t reopen(const std::vector<Mark>& marks);

 private:
  Database database_;
};

}  // namespace shardlab::results
