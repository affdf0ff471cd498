#include "results/insert.h"

#include "engine/core/check.h"

namespace shardlab::results {
namespace {

std::string text_of(const Metric& metric) {
  return fmt::format("unit {}, {}, better {}, {} across ranks", metric.unit,
                     metric.exact ? "exact" : "not exact", name_of(metric.better),
                     name_of(metric.across_ranks));
}

}  // namespace

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

std::int64_t intern_metric(Database& database, const Metric& metric) {
  check(!metric.name.empty(), "a metric has no name");
  Statement(database,
            "INSERT INTO metric (name, unit, exact, better, across_ranks) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING")
      .bind(metric.name, metric.unit, metric.exact, name_of(metric.better),
            name_of(metric.across_ranks))
      .step();
  Statement get(database,
                "SELECT id, unit, exact, better, across_ranks FROM metric WHERE name = ?");
  expect(get.bind(metric.name).step(), "metric {} was not stored", metric.name);
  const Metric stored{metric.name, get.text(1), get.integer(2) == 1, better_from(get.text(3)),
                      across_ranks_from(get.text(4))};
  check(stored == metric, "metric {}: stored as ({}), given as ({})", metric.name, text_of(stored),
        text_of(metric));
  return get.integer(0);
}

RunId insert_run(Database& database, const RunHeader& header, const RunState& state) {
  Statement(database,
            "INSERT INTO run (uuid, series, environment, created, status, reason, commit_id,"
            " branch, dirty, oversubscribed, seed, source, writer, command, variables, state,"
            " layouts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(state.uuid, intern_series(database, header.series),
            intern_environment(database, header.environment), header.created, name_of(state.status),
            state.reason, header.commit, header.branch, header.dirty, header.oversubscribed,
            header.seed, header.source, state.writer, header.command, header.variables,
            header.state, header.layouts)
      .step();
  return RunId{database.last_id()};
}

}  // namespace shardlab::results
