#include "results/append.h"

#include <cmath>
#include <optional>
#include <vector>

#include "engine/core/check.h"
#include "results/insert.h"

namespace shardlab::results {
namespace {

std::string name_of_rank(std::int32_t rank) {
  return rank == whole_mesh ? "the whole mesh" : fmt::format("rank {}", rank);
}

// Writes rows of one run inside a transaction.
class Appender {
 public:
  Appender(Database& database, RunId run) : database_(database), run_(run.value) {
    Statement get(database,
                  "SELECT ranks FROM run JOIN series ON series.id = run.series WHERE run.id = ?");
    check(get.bind(run_).step(), "{}: no run {}", database.path(), run_);
    ranks_ = get.integer(0);
  }

  void add(const std::vector<MetricSamples>& metrics) {
    Statement put(database_,
                  "INSERT INTO sample (run, metric, iteration, rank, warmup, value)"
                  " VALUES (?, ?, ?, ?, ?, ?)");
    for (const auto& [metric, samples] : metrics) {
      const auto id = intern_metric(database_, metric);
      for (const Sample& s : samples) {
        check(s.iteration >= 0, "metric {}: iteration {} is negative", metric.name, s.iteration);
        check(s.rank == whole_mesh || is_rank(s.rank), "metric {}: rank {} of a mesh of {}",
              metric.name, s.rank, ranks_);
        if (!std::isfinite(s.value)) {
          note_not_finite(metric, s);
          continue;
        }
        check(put.bind(run_, id, s.iteration, s.rank, s.warmup, s.value).insert(),
              "metric {}, {}, iteration {} of run {} is there already", metric.name,
              name_of_rank(s.rank), s.iteration, run_);
      }
    }
  }

  void add(const std::vector<Check>& checks) {
    Statement put(database_,
                  "INSERT INTO tensor_check (run, name, error, bound, passed)"
                  " VALUES (?, ?, ?, ?, ?)");
    for (const Check& c : checks) {
      check(!std::isnan(c.bound), "check of {}: its bound is not a number", c.name);
      check(put.bind(run_, c.name, std::isnan(c.error) ? std::nullopt : std::optional(c.error),
                     c.bound, c.passed())
                .insert(),
            "check of {} in run {} is there already", c.name, run_);
    }
  }

  void add(const std::vector<Uncertainty>& uncertainties) {
    Statement put(database_,
                  "INSERT INTO uncertainty (run, metric, low, high, coverage, source)"
                  " VALUES (?, ?, ?, ?, ?, ?)");
    for (const Uncertainty& u : uncertainties) {
      check(u.low <= u.high && u.coverage > 0 && u.coverage <= 1,
            "uncertainty of {}: from {} to {} with coverage {}", u.metric.name, u.low, u.high,
            u.coverage);
      check(put.bind(run_, intern_metric(database_, u.metric), u.low, u.high, u.coverage, u.source)
                .insert(),
            "uncertainty of {} in run {} is there already", u.metric.name, run_);
    }
  }

  void add(const std::vector<Fold>& folds) {
    Statement put(database_, "INSERT INTO fold (run, rank, ranks, members) VALUES (?, ?, ?, ?)");
    for (const Fold& f : folds) {
      check(is_rank(f.rank) && f.ranks > 0 && f.ranks <= ranks_,
            "fold of rank {} for {} ranks in a mesh of {}", f.rank, f.ranks, ranks_);
      check(put.bind(run_, f.rank, f.ranks, f.members).insert(),
            "fold of rank {} in run {} is there already", f.rank, run_);
    }
  }

  void add(const std::vector<Scope>& scopes) {
    Statement put(database_,
                  "INSERT INTO scope (run, rank, iteration, ordinal, parent, name, begin_seconds,"
                  " end_seconds) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    for (const Scope& s : scopes) {
      check_place("scope", s.name, s);
      check(!s.parent || (*s.parent >= 0 && *s.parent < s.ordinal),
            "scope {} of {}, iteration {}: its parent {} does not precede it", s.name,
            name_of_rank(s.rank), s.iteration, s.parent.value_or(0));
      check(put.bind(run_, s.rank, s.iteration, s.ordinal, s.parent, s.name, s.begin_seconds,
                     s.end_seconds)
                .insert(),
            "scope {} of {}, iteration {} in run {} is there already", s.ordinal,
            name_of_rank(s.rank), s.iteration, run_);
    }
  }

  void add(const std::vector<Step>& steps) {
    Statement put(database_,
                  "INSERT INTO step (run, rank, iteration, ordinal, scope, op, lane,"
                  " begin_seconds, end_seconds, flop, bytes, live_bytes, detail)"
                  " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (const Step& s : steps) {
      check_place("step", s.op, s);
      check(s.flop >= 0 && s.bytes >= 0 && s.live_bytes >= 0,
            "step {} of {}, iteration {}: {} flop, {} bytes, {} bytes live", s.op,
            name_of_rank(s.rank), s.iteration, s.flop, s.bytes, s.live_bytes);
      check(put.bind(run_, s.rank, s.iteration, s.ordinal, s.scope, s.op, s.lane, s.begin_seconds,
                     s.end_seconds, s.flop, s.bytes, s.live_bytes, s.detail)
                .insert(),
            "step {} of {}, iteration {} in run {} is there already", s.ordinal,
            name_of_rank(s.rank), s.iteration, run_);
    }
  }

  // What keeps the run from being complete; empty if nothing.
  [[nodiscard]] std::string fault() const {
    if (not_finite_ == 0) return "";
    return not_finite_ == 1 ? first_ : fmt::format("{} (and {} more)", first_, not_finite_ - 1);
  }

 private:
  [[nodiscard]] bool is_rank(std::int32_t rank) const { return rank >= 0 && rank < ranks_; }

  void note_not_finite(const Metric& metric, const Sample& s) {
    if (not_finite_++ == 0)
      first_ = fmt::format("metric {}, {}, iteration {}: {} is not a finite number", metric.name,
                           name_of_rank(s.rank), s.iteration, s.value);
  }

  template <typename Range>
  void check_place(const char* kind, const std::string& name, const Range& r) const {
    check(is_rank(r.rank) && r.iteration >= 0 && r.ordinal >= 0,
          "{} {}: rank {} of a mesh of {}, iteration {}, ordinal {}", kind, name, r.rank, ranks_,
          r.iteration, r.ordinal);
    check(std::isfinite(r.begin_seconds) && std::isfinite(r.end_seconds) &&
              r.begin_seconds <= r.end_seconds,
          "{} {} of rank {}, iteration {}: from {} s to {} s", kind, name, r.rank, r.iteration,
          r.begin_seconds, r.end_seconds);
  }

  Database& database_;
  std::int64_t run_;
  std::int64_t ranks_ = 0;
  std::int64_t not_finite_ = 0;
  std::string first_;
};

}  // namespace

std::string add_rows(Database& database, RunId run, const Rows& rows) {
  Appender appender(database, run);
  appender.add(rows.metrics);
  appender.add(rows.checks);
  appender.add(rows.uncertainties);
  appender.add(rows.folds);
  return appender.fault();
}

void add_timeline(Database& database, RunId run, const Timeline& timeline) {
  Appender appender(database, run);
  appender.add(timeline.scopes);
  appender.add(timeline.steps);
}

}  // namespace shardlab::results
