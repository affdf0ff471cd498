#include "results/query.h"

#include <limits>

#include "engine/core/check.h"
#include "results/writer.h"

namespace shardlab::results {
namespace {

// Reads the columns of a row one after another.
class Row {
 public:
  explicit Row(const Statement& statement, int column = 0)
      : statement_(statement), column_(column) {}

  std::string text() { return statement_.text(column_++); }
  double real() { return statement_.real(column_++); }
  bool boolean() { return statement_.integer(column_++) != 0; }
  std::int64_t integer() { return statement_.integer(column_++); }
  std::int32_t rank() { return static_cast<std::int32_t>(integer()); }

  std::optional<std::int64_t> optional_integer() {
    if (!statement_.is_null(column_)) return integer();
    ++column_;
    return std::nullopt;
  }

  double real_or_nan() {
    const double value = statement_.is_null(column_) ? std::numeric_limits<double>::quiet_NaN()
                                                     : statement_.real(column_);
    ++column_;
    return value;
  }

  // A running run whose process is gone was interrupted.
  RunStatus status_and_writer() {
    const RunStatus status = run_status_from(text());
    const std::string writer = text();
    return status == RunStatus::running && !is_running(writer) ? RunStatus::interrupted : status;
  }

  SeriesKey series() {
    return {.scenario = text(),
            .parameters = text(),
            .dtype = text(),
            .train = boolean(),
            .mesh = text(),
            .execution = execution_from(text()),
            .machine = text(),
            .profile = text()};
  }

  Metric metric() {
    return {text(), text(), boolean(), better_from(text()), across_ranks_from(text())};
  }

 private:
  const Statement& statement_;
  int column_;
};

StoredRun read_header(Database& database, RunId run) {
  Statement get(database,
                "SELECT uuid, status, writer, reason, scenario, parameters, dtype, train, mesh,"
                " execution, machine, profile, fields, created, commit_id, branch, dirty,"
                " oversubscribed, seed, source, command, variables, state, layouts"
                " FROM run JOIN series ON series.id = run.series"
                " JOIN environment ON environment.id = run.environment WHERE run.id = ?");
  check(get.bind(run.value).step(), "{}: no run {}", database.path(), run.value);
  Row row(get);
  return {.id = run,
          .uuid = row.text(),
          .status = row.status_and_writer(),
          .reason = row.text(),
          .header = {.series = row.series(),
                     .environment = environment_from(row.text()),
                     .created = row.text(),
                     .commit = row.text(),
                     .branch = row.text(),
                     .dirty = row.boolean(),
                     .oversubscribed = row.boolean(),
                     .seed = row.integer(),
                     .source = row.text(),
                     .command = row.text(),
                     .variables = row.text(),
                     .state = row.text(),
                     .layouts = row.text()}};
}

std::vector<Metric> read_metrics(Database& database, RunId run,
                                 std::vector<std::int64_t>* ids = nullptr) {
  Statement get(database,
                "SELECT id, name, unit, exact, better, across_ranks FROM metric WHERE EXISTS"
                " (SELECT 1 FROM sample WHERE run = ? AND metric = metric.id) ORDER BY id");
  std::vector<Metric> metrics;
  for (get.bind(run.value); get.step();) {
    if (ids) ids->push_back(get.integer(0));
    metrics.push_back(Row(get, 1).metric());
  }
  return metrics;
}

std::vector<MetricSamples> read_samples(Database& database, RunId run) {
  std::vector<std::int64_t> ids;
  const auto metrics = read_metrics(database, run, &ids);
  Statement get(database,
                "SELECT iteration, rank, warmup, value FROM sample WHERE run = ? AND metric = ?"
                " ORDER BY iteration, rank");
  std::vector<MetricSamples> all;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    all.push_back({metrics[i], {}});
    for (get.bind(run.value, ids[i]); get.step();) {
      Row row(get);
      all.back().samples.push_back({row.integer(), row.rank(), row.boolean(), row.real()});
    }
  }
  return all;
}

std::vector<Check> read_checks(Database& database, RunId run) {
  Statement get(database,
                "SELECT name, error, bound FROM tensor_check WHERE run = ? ORDER BY name");
  std::vector<Check> checks;
  for (get.bind(run.value); get.step();) {
    Row row(get);
    checks.push_back({row.text(), row.real_or_nan(), row.real()});
  }
  return checks;
}

std::vector<Uncertainty> read_uncertainties(Database& database, RunId run) {
  Statement get(database,
                "SELECT name, unit, exact, better, across_ranks, low, high, coverage, source"
                " FROM uncertainty JOIN metric ON metric.id = uncertainty.metric WHERE run = ?"
                " ORDER BY metric.id");
  std::vector<Uncertainty> uncertainties;
  for (get.bind(run.value); get.step();) {
    Row row(get);
    uncertainties.push_back({row.metric(), row.real(), row.real(), row.real(), row.text()});
  }
  return uncertainties;
}

std::vector<Fold> read_folds(Database& database, RunId run) {
  Statement get(database, "SELECT rank, ranks, members FROM fold WHERE run = ? ORDER BY rank");
  std::vector<Fold> folds;
  for (get.bind(run.value); get.step();) {
    Row row(get);
    folds.push_back({row.rank(), row.integer(), row.text()});
  }
  return folds;
}

}  // namespace

std::vector<RunInfo> list_runs(const Reader& reader, const RunFilter& filter) {
  Statement get(reader.database(),
                "SELECT run.id, uuid, created, status, writer, reason, scenario, parameters,"
                " dtype, train, mesh, execution, machine, profile, hash, commit_id, dirty,"
                " oversubscribed"
                " FROM run JOIN series ON series.id = run.series"
                " JOIN environment ON environment.id = run.environment"
                " WHERE ?1 = '' OR scenario = ?1"
                " ORDER BY created DESC, run.id DESC LIMIT ?2");
  std::vector<RunInfo> runs;
  for (get.bind(filter.scenario, filter.limit); get.step();) {
    Row row(get);
    runs.push_back({.id = {row.integer()},
                    .uuid = row.text(),
                    .created = row.text(),
                    .status = row.status_and_writer(),
                    .reason = row.text(),
                    .series = row.series(),
                    .environment = row.text(),
                    .commit = row.text(),
                    .dirty = row.boolean(),
                    .oversubscribed = row.boolean()});
  }
  return runs;
}

RunId find_run(const Reader& reader, std::string_view text) {
  Database& database = reader.database();
  const bool is_number =
      !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == text.npos;
  Statement get(database, is_number ? "SELECT id FROM run WHERE id = CAST(?1 AS INTEGER)"
                                    : "SELECT id FROM run WHERE substr(uuid, 1, length(?1)) = ?1"
                                      " AND ?1 <> '' LIMIT 2");
  check(get.bind(text).step(), "{}: no run '{}'", database.path(), text);
  const RunId run{get.integer(0)};
  check(!get.step(), "{}: several runs begin with '{}'", database.path(), text);
  return run;
}

StoredRun read_run(const Reader& reader, RunId run) {
  Database& database = reader.database();
  Transaction transaction(database, Transaction::Kind::read);
  StoredRun stored = read_header(database, run);
  stored.rows = {.metrics = read_samples(database, run),
                 .checks = read_checks(database, run),
                 .uncertainties = read_uncertainties(database, run),
                 .folds = read_folds(database, run)};
  return stored;
}

std::string state_of(const Reader& reader, RunId run) {
  return read_header(reader.database(), run).header.state;
}

std::vector<Metric> metrics_of(const Reader& reader, RunId run) {
  return read_metrics(reader.database(), run);
}

std::vector<Fold> folds_of(const Reader& reader, RunId run) {
  return read_folds(reader.database(), run);
}

EnvironmentKey environment_of(const Reader& reader, RunId run) {
  return read_header(reader.database(), run).header.environment;
}

Timeline read_timeline(const Reader& reader, RunId run, std::optional<std::int32_t> rank) {
  Database& database = reader.database();
  Transaction transaction(database, Transaction::Kind::read);
  const std::int64_t first = rank.value_or(0);
  const std::int64_t last = rank.value_or(std::numeric_limits<std::int32_t>::max());
  Timeline timeline;
  Statement scopes(database,
                   "SELECT rank, iteration, ordinal, parent, name, begin_seconds, end_seconds"
                   " FROM scope WHERE run = ? AND rank BETWEEN ? AND ?"
                   " ORDER BY rank, iteration, ordinal");
  for (scopes.bind(run.value, first, last); scopes.step();) {
    Row row(scopes);
    timeline.scopes.push_back({row.rank(), row.integer(), row.integer(), row.optional_integer(),
                               row.text(), row.real(), row.real()});
  }
  Statement steps(database,
                  "SELECT rank, iteration, ordinal, scope, op, lane, begin_seconds, end_seconds,"
                  " flop, bytes, live_bytes, detail FROM step WHERE run = ? AND rank BETWEEN ? AND"
                  " ? ORDER BY rank, iteration, ordinal");
  for (steps.bind(run.value, first, last); steps.step();) {
    Row row(steps);
    timeline.steps.push_back({row.rank(), row.integer(), row.integer(), row.optional_integer(),
                              row.text(), row.text(), row.real(), row.real(), row.integer(),
                              row.integer(), row.integer(), row.text()});
  }
  return timeline;
}

}  // namespace shardlab::results
