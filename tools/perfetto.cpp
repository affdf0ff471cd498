#include "tools/perfetto.h"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/core/check.h"
#include "tools/perfetto_slices.h"
#include "tools/picture.h"

namespace shardlab {
namespace {

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string microseconds(Nanoseconds time) {
  return time % 1000 == 0 ? fmt::format("{}", time / 1000)
                          : fmt::format("{}.{:03}", time / 1000, time % 1000);
}

/// Host first, then what computes, then what moves.
int place_of(const std::string& thread) {
  return thread.starts_with("host") ? 0 : thread.starts_with("compute") ? 1 : 2;
}

std::string args_of(const Slice& slice) {
  if (slice.step == nullptr) return "";
  std::string text;
  const auto add = [&text](const char* name, const std::string& value) {
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", name, value);
  };
  if (slice.step->flop != 0) add("flop", std::to_string(slice.step->flop));
  if (slice.step->bytes != 0) add("bytes", std::to_string(slice.step->bytes));
  if (!slice.step->detail.empty()) add("detail", quoted(slice.step->detail));
  return text.empty() ? "" : ",\"args\":{" + text + "}";
}

class Events {
 public:
  explicit Events(const results::StoredRun& run)
      : mark_(run.header.series.execution == results::Execution::predict ? "~" : "") {}

  void rank(const std::string& name, std::int32_t number, RankSlices shown) {
    // Process 0 stands for an idle machine in some viewers.
    const std::int64_t process = std::int64_t{number} + 1;
    metadata("process_name", process, "", fmt::format("\"name\":{}", quoted(mark_ + name)));
    metadata("process_sort_index", process, "", fmt::format("\"sort_index\":{}", process));
    part_overlaps(shown.slices);
    const std::map<std::string, std::int64_t> threads = threads_of(process, shown.slices);
    std::vector<std::string> flows(shown.slices.size());
    for (const Arrow& arrow : shown.arrows) flow(process, threads, shown.slices, arrow, flows);
    for (const std::size_t i : outer_first(shown.slices)) {
      slice(process, threads.at(shown.slices[i].thread), shown.slices[i]);
      text_ += flows[i];
    }
    for (const Level& level : shown.levels)
      line(fmt::format(R"({{"ph":"C","name":"{}live","pid":{},"ts":{},"args":{{"bytes":{}}}}})",
                       mark_, process, microseconds(level.at), level.bytes));
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void line(const std::string& event) {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    text_ += event;
  }

  void metadata(const char* name, std::int64_t process, const std::string& thread,
                const std::string& args) {
    line(fmt::format(R"({{"ph":"M","name":"{}","pid":{}{},"args":{{{}}}}})", name, process, thread,
                     args));
  }

  /// Numbers the threads of a rank; no two ranks share a number.
  std::map<std::string, std::int64_t> threads_of(std::int64_t process,
                                                 const std::vector<Slice>& slices) {
    std::map<std::string, std::int64_t> threads;
    for (const Slice& each : slices) threads[each.thread] = 0;
    for (auto& [name, thread] : threads) {
      thread = next_thread_++;
      const std::string which = fmt::format(",\"tid\":{}", thread);
      metadata("thread_name", process, which, fmt::format("\"name\":{}", quoted(name)));
      metadata("thread_sort_index", process, which,
               fmt::format("\"sort_index\":{}", place_of(name)));
    }
    return threads;
  }

  void slice(std::int64_t process, std::int64_t thread, const Slice& each) {
    line(fmt::format(R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{}{}}})",
                     quoted(mark_ + each.name), each.category, process, thread,
                     microseconds(each.begin), microseconds(each.end - each.begin), args_of(each)));
  }

  /// An arrow ends inside of the wait, and not before it begins.
  void flow(std::int64_t process, const std::map<std::string, std::int64_t>& threads,
            const std::vector<Slice>& slices, const Arrow& arrow, std::vector<std::string>& flows) {
    const Slice& from = slices[arrow.from];
    const Slice& to = slices[arrow.to];
    const Nanoseconds last = std::max(to.begin, to.end - 1);
    const Nanoseconds end = std::clamp(from.begin + 1, to.begin, last);
    if (end < from.begin) return;
    const std::int64_t id = next_flow_++;
    const auto event = [&](const char* phase, const char* more, const Slice& bound,
                           Nanoseconds time) {
      return fmt::format(
          ",\n{{\"ph\":\"{}\",\"name\":\"arrives\",\"cat\":\"communication\",\"id\":{},"
          "\"pid\":{},\"tid\":{},\"ts\":{}{}}}",
          phase, id, process, threads.at(bound.thread), microseconds(time), more);
    };
    flows[arrow.from] += event("s", "", from, from.begin);
    flows[arrow.to] += event("f", ",\"bp\":\"e\"", to, end);
  }

  std::string mark_;
  std::string text_;
  bool first_ = true;
  std::int64_t next_thread_ = 1;
  std::int64_t next_flow_ = 1;
};

std::string name_of_rank(const results::StoredRun& run, std::int32_t rank) {
  std::string name = fmt::format("rank {}", rank);
  for (const results::Fold& fold : run.rows.folds) {
    if (fold.rank != rank || fold.ranks == 1) continue;
    constexpr std::size_t most = 60;
    name += fmt::format(", stands for {}: {}{}", fold.ranks, fold.members.substr(0, most),
                        fold.members.size() > most ? "..." : "");
  }
  return name;
}

/// What the file says of itself.
std::string about(const results::StoredRun& run) {
  const results::SeriesKey& series = run.header.series;
  std::string text;
  for (const auto& [name, value] : results::fields_of(series))
    text += fmt::format("{}:{},", quoted(name), quoted(value));
  return text + fmt::format("\"run\":{},\"created\":{},\"commit\":{}", quoted(run.uuid),
                            quoted(run.header.created), quoted(run.header.commit));
}

struct OfRank {
  std::vector<const results::Step*> steps;
  std::vector<const results::Scope*> scopes;
};

}  // namespace

std::string perfetto_json(const results::StoredRun& run, const results::Timeline& timeline) {
  if (timeline.steps.empty())
    fail(Fault::unsupported, "run {} has no timeline: {}", run.id.value,
         run.header.series.execution == results::Execution::published
             ? "it is published, not our own"
             : "it was stored without one or did not get so far");
  std::map<std::int32_t, OfRank> ranks;
  double zero = std::numeric_limits<double>::infinity();
  for (const results::Step& step : timeline.steps) {
    ranks[step.rank].steps.push_back(&step);
    zero = std::min(zero, step.begin_seconds);
  }
  for (const results::Scope& scope : timeline.scopes) ranks[scope.rank].scopes.push_back(&scope);
  Events events(run);
  for (const auto& [rank, its] : ranks)
    events.rank(name_of_rank(run, rank), rank, slices_of(its.steps, its.scopes, zero));
  return fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{{{}}},\"traceEvents\":[{}\n]}}\n",
                     about(run), events.text());
}

void write_perfetto(const results::StoredRun& run, const results::Timeline& timeline,
                    const std::string& path) {
  write_text(path, perfetto_json(run, timeline));
}

}  // namespace shardlab
