#include "results/mark.h"

#include <optional>

#include "engine/core/check.h"

namespace shardlab::results {
namespace {

struct Place {
  std::int64_t series = 0;
  std::int64_t metric = 0;
};

std::optional<Place> find_place(Database& database, const Mark& mark) {
  const SeriesKey key = canonical(mark.series);
  Statement get(database,
                "SELECT series.id, metric.id FROM series, metric WHERE scenario = ? AND"
                " parameters = ? AND dtype = ? AND train = ? AND mesh = ? AND execution = ? AND"
                " machine = ? AND profile = ? AND metric.name = ?");
  get.bind(key.scenario, key.parameters, key.dtype, key.train, key.mesh, name_of(key.execution),
           key.machine, key.profile, mark.metric);
  if (!get.step()) return std::nullopt;
  return Place{get.integer(0), get.integer(1)};
}

}  // namespace

std::vector<Mark> read_marks(const Reader& reader, std::string_view metric) {
  Statement get(reader.database(),
                "SELECT scenario, parameters, dtype, train, mesh, execution, machine, profile,"
                " name, commit_id, note, created FROM mark JOIN series ON series.id = mark.series"
                " JOIN metric ON metric.id = mark.metric WHERE name = ?"
                " ORDER BY created, commit_id, series.id");
  std::vector<Mark> marks;
  for (get.bind(metric); get.step();)
    marks.push_back({.series = {.scenario = get.text(0),
                                .parameters = get.text(1),
                                .dtype = get.text(2),
                                .train = get.integer(3) != 0,
                                .mesh = get.text(4),
                                .execution = execution_from(get.text(5)),
                                .machine = get.text(6),
                                .profile = get.text(7)},
                     .metric = get.text(8),
                     .commit = get.text(9),
                     .note = get.text(10),
                     .created = get.text(11)});
  return marks;
}

void add_mark(Database& database, const Mark& mark, const std::string& created) {
  check(!mark.commit.empty(), "a mark of {} names no commit", mark.metric);
  const auto place = find_place(database, mark);
  check(place.has_value(), "{}: no {} of series {} to accept a shift of", database.path(),
        mark.metric, text_of(mark.series));
  Statement(database,
            "INSERT INTO mark (series, metric, commit_id, note, created) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET note = excluded.note, created = excluded.created")
      .bind(place->series, place->metric, mark.commit, mark.note, created)
      .step();
}

std::int64_t remove_mark(Database& database, const Mark& mark) {
  const auto place = find_place(database, mark);
  if (!place) return 0;
  Statement(database, "DELETE FROM mark WHERE series = ? AND metric = ? AND commit_id = ?")
      .bind(place->series, place->metric, mark.commit)
      .step();
  return database.changed_rows();
}

}  // namespace shardlab::results
