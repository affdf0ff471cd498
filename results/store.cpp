#include "results/store.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <random>

#include "engine/core/check.h"
#include "results/append.h"
#include "results/insert.h"
#include "results/json.h"
#include "results/open_for_writing.h"
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

RunHeader checked_header(RunHeader header) {
  header.series = canonical(header.series);
  header.variables = canonical_json(header.variables, "variables");
  header.state = canonical_json(header.state, "state");
  header.created = header.created.empty() ? utc_now() : checked_time(header.created);
  return header;
}

}  // namespace

Store::Store(const std::string& path, const OpenOptions& options)
    : database_(open_for_writing(path, options)) {}

RunId Store::start_run(const RunHeader& header) {
  const RunHeader checked = checked_header(header);
  Transaction transaction(database_, Transaction::Kind::write);
  const RunId run = insert_run(database_, checked, {.uuid = new_uuid(), .writer = this_writer()});
  transaction.commit();
  return run;
}

std::vector<bool> Store::add(const std::vector<StoredRun>& runs) {
  Transaction transaction(database_, Transaction::Kind::write);
  Statement known(database_, "SELECT 1 FROM run WHERE uuid = ?");
  std::vector<bool> added;
  for (const StoredRun& run : runs) {
    check(!run.uuid.empty(), "a run of {} has no uuid", run.header.series.scenario);
    check(run.status != RunStatus::interrupted,
          "run {}: interrupted is what a running run becomes, and is never stored", run.uuid);
    added.push_back(!known.bind(run.uuid).step());
    if (!added.back()) continue;
    const RunId id =
        insert_run(database_, checked_header(run.header),
                   {.uuid = run.uuid, .status = run.status, .reason = run.reason, .writer = ""});
    const std::string fault = add_rows(database_, id, run.rows);
    check(fault.empty(), "run {}: {}", run.uuid, fault);
  }
  transaction.commit();
  return added;
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
