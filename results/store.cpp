#include "results/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <random>

#include "engine/core/check.h"
#include "results/append.h"
#include "results/json.h"
#include "results/writer.h"

namespace shardlab::results {
namespace {

std::string new_uuid() {
  std::random_device random;
  const auto word = [&] { return (std::uint64_t{random()} << 32) | random(); };
  const std::uint64_t high = (word() & ~0xf000ULL) | 0x4000ULL;                   // version 4
  const std::uint64_t low = (word() & ~(3ULL << 62)) | (std::uint64_t{2} << 62);  // variant 1
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                     high & 0xffff, low >> 48, low & 0xffffffffffffULL);
}

std::string utc_now() {
  using std::chrono::microseconds;
  const auto since_epoch =
      std::chrono::duration_cast<microseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  const std::time_t seconds = since_epoch / 1'000'000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     since_epoch % 1'000'000);
}

// Texts of this one form sort by time.
std::string checked_time(const std::string& text) {
  constexpr std::string_view form = "0000-00-00T00:00:00.000000Z";
  bool fits = text.size() == form.size();
  for (std::size_t i = 0; fits && i < form.size(); ++i)
    fits = form[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == form[i];
  check(fits, "created: expected UTC as 2031-02-03T04:05:06.789012Z, found '{}'", text);
  return text;
}

std::int64_t intern_series(Database& database, const SeriesKey& key) {
  Statement(database,
            "INSERT INTO series (scenario, parameters, dtype, train, mesh, ranks, execution,"
            " machine, profile) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING")
      .bind(key.scenario, key.parameters, key.dtype, key.train, key.mesh, ranks_of(key.mesh),
            name_of(key.execution), key.machine, key.profile)
      .step();
  Statement get(database,
                "SELECT id FROM series WHERE scenario = ? AND parameters = ? AND dtype = ? AND"
                " train = ? AND mesh = ? AND execution = ? AND machine = ? AND profile = ?");
  get.bind(key.scenario, key.parameters, key.dtype, key.train, key.mesh, name_of(key.execution),
           key.machine, key.profile);
  expect(get.step(), "series {} was not stored", text_of(key));
  return get.integer(0);
}

std::int64_t intern_environment(Database& database, const EnvironmentKey& key) {
  const std::string fields = text_of(key);
  const std::string hash = hash_of(key);
  Statement(database, "INSERT INTO environment (hash, fields) VALUES (?, ?) ON CONFLICT DO NOTHING")
      .bind(hash, fields)
      .step();
  Statement get(database, "SELECT id, fields FROM environment WHERE hash = ?");
  expect(get.bind(hash).step(), "environment {} was not stored", hash);
  expect(get.text(1) == fields, "two environments have the hash {}: {} and {}", hash, fields,
         get.text(1));
  return get.integer(0);
}

// Found at the first write otherwise, with a text that blames the database.
void check_folder(const std::string& path) {
  std::error_code error;
  const auto folder = std::filesystem::weakly_canonical(path, error).parent_path();
  if (!error && faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    fail(Fault::external, "{}: cannot be written: SQLite keeps a journal in its folder {}: {}",
         path, folder.string(), std::strerror(errno));
}

}  // namespace

Store::Store(const std::string& path, const OpenOptions& options)
    : database_(path, Database::Mode::create, options.busy_seconds) {
  check_folder(path);
  // The mode stays in the file, so that somebody's write-ahead log would outlive this process.
  if (const auto mode = database_.text("PRAGMA journal_mode = DELETE"); mode != "delete")
    fail(Fault::external, "{}: another program keeps it in journal mode {}", path, mode);
  bring_up_to_date(database_, options.schema, true);
  database_.execute("PRAGMA foreign_keys = ON");
}

RunId Store::start_run(const RunHeader& header) {
  const SeriesKey series = canonical(header.series);
  const std::string variables = canonical_json(header.variables, "variables");
  const std::string state = canonical_json(header.state, "state");
  const std::string created = header.created.empty() ? utc_now() : checked_time(header.created);
  Transaction transaction(database_, Transaction::Kind::write);
  Statement(database_,
            "INSERT INTO run (uuid, series, environment, created, status, reason, commit_id,"
            " branch, dirty, oversubscribed, seed, source, writer, command, variables, state,"
            " layouts) VALUES (?, ?, ?, ?, 'running', '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(new_uuid(), intern_series(database_, series),
            intern_environment(database_, header.environment), created, header.commit,
            header.branch, header.dirty, header.oversubscribed, header.seed, header.source,
            this_writer(), header.command, variables, state, header.layouts)
      .step();
  const RunId run{database_.last_id()};
  transaction.commit();
  return run;
}

void Store::append(RunId run, const Rows& rows) {
  Transaction transaction(database_, Transaction::Kind::write);
  const std::string fault = add_rows(database_, run, rows);
  if (!fault.empty())
    Statement(database_,
              "UPDATE run SET status = 'failed', reason = ? WHERE id = ? AND status <> 'failed'")
        .bind(fault, run.value)
        .step();
  transaction.commit();
  check(fault.empty(), "{}", fault);
}

void Store::append(RunId run, const Timeline& timeline) {
  Transaction transaction(database_, Transaction::Kind::write);
  add_timeline(database_, run, timeline);
  transaction.commit();
}

void Store::set_state(RunId run, std::string_view state) {
  const std::string canonical = canonical_json(state, "state");
  Transaction transaction(database_, Transaction::Kind::write);
  Statement get(database_, "SELECT 1 FROM run WHERE id = ?");
  check(get.bind(run.value).step(), "{}: no run {}", database_.path(), run.value);
  Statement(database_, "UPDATE run SET state = ? WHERE id = ?").bind(canonical, run.value).step();
  transaction.commit();
}

RunStatus Store::finish_run(RunId run, RunStatus status, std::string_view reason) {
  check(
      status == RunStatus::complete || status == RunStatus::failed || status == RunStatus::skipped,
      "run {}: a run ends as complete, failed or skipped, not as {}", run.value, name_of(status));
  check(status == RunStatus::complete || !reason.empty(), "run {}: {} without a reason", run.value,
        name_of(status));
  Transaction transaction(database_, Transaction::Kind::write);
  Statement get(database_, "SELECT status FROM run WHERE id = ?");
  check(get.bind(run.value).step(), "{}: no run {}", database_.path(), run.value);
  const RunStatus stored = run_status_from(get.text(0));
  if (stored == RunStatus::failed) return stored;
  check(stored == RunStatus::running, "run {}: is {} already", run.value, name_of(stored));
  Statement(database_, "UPDATE run SET status = ?, reason = ? WHERE id = ?")
      .bind(name_of(status), reason, run.value)
      .step();
  transaction.commit();
  return status;
}

void Store::accept(const std::vector<Mark>& marks) {
  Transaction transaction(database_, Transaction::Kind::write);
  for (const Mark& mark : marks) add_mark(database_, mark, utc_now());
  transaction.commit();
}

std::int64_t Store::reopen(const std::vector<Mark>& marks) {
  Transaction transaction(database_, Transaction::Kind::write);
  std::int64_t removed = 0;
  for (const Mark& mark : marks) removed += remove_mark(database_, mark);
  transaction.commit();
  return removed;
}

}  // namespace shardlab::results
