#include "tools/predict_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "engine/core/check.h"
#include "engine/sim/machines.h"
#include "results/store.h"
#include "tools/json_text.h"
#include "tools/probe_store.h"
#include "tools/record.h"
#include "tools/table.h"

namespace shardlab {
namespace {

/// A predicted case and what it is compared with.
struct Row {
  const Case* planned = nullptr;
  Prediction prediction;
  results::RunId run;
};

std::string seconds_text(double seconds) { return "~" + show_seconds(seconds); }

std::string interval_text(double seconds, double half_width) {
  return show_range(seconds * (1 - half_width), seconds * (1 + half_width));
}

std::string source_text(const Prediction& prediction) {
  return std::string(sim::name_of(prediction.weakest)) +
         (prediction.extrapolated ? ", extrapolated" : "");
}

/// What takes a hundredth of the step or more, most first, as in `all_gather 3.1 %`.
std::vector<std::string> shares_of(std::vector<std::pair<std::string, double>> causes,
                                   double seconds) {
  std::sort(causes.begin(), causes.end(),
            [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> shares;
  for (const auto& [name, each] : causes)
    if (each >= 0.01 * seconds)
      shares.push_back(fmt::format("{} {}", name, show_percent(each / seconds)));
  return shares;
}

/// As stored behind the source, where calls that no log shows take a hundredth of the step.
std::string not_validated_text(const Prediction& prediction) {
  const std::vector<std::string> shares =
      shares_of(prediction.not_validated, prediction.simulated.seconds);
  return shares.empty() ? "" : ", not validated";
}

/// Lines that say what a prediction rests on besides measurements; empty if on nothing else.
std::string doubts_of(const Prediction& prediction, const Mesh& mesh) {
  std::string text;
  const auto line = [&](const char* what, const auto& causes) {
    const std::vector<std::string> shares = shares_of(causes, prediction.simulated.seconds);
    if (!shares.empty())
      text += fmt::format("  {} {}: {}\n", mesh.text(), what, fmt::join(shares, ", "));
  };
  line("extrapolated", prediction.outside);
  line("not validated, no log shows such calls", prediction.not_validated);
  return text;
}

results::Rows rows_of(const Prediction& prediction, const Mesh& mesh) {
  Measurement measurement;
  const std::vector<int>& of_rank = prediction.simulated.classes.of_rank;
  for (const sim::Timeline& timeline : prediction.simulated.timelines) {
    const int trace_class = prediction.traced->of_rank[timeline.rank];
    const RankMeasure& traced = prediction.traced->classes[trace_class];
    RankMeasure rank;
    rank.seconds = {prediction.simulated.seconds};
    rank.totals = traced.totals;
    rank.peak_bytes = traced.peak_bytes;
    rank.at_peak = traced.at_peak;
    measurement.ranks.push_back(std::move(rank));
    measurement.numbers.push_back(timeline.rank);
  }
  results::Rows rows = shardlab::rows_of(measurement);
  // Members of a class may receive other numbers of bytes: exact is only the sum of all ranks.
  std::int64_t received = 0;
  for (int rank = 0; rank < mesh.size(); ++rank)
    received += prediction.traced->bytes_received(mesh, rank);
  for (results::MetricSamples& samples : rows.metrics)
    if (samples.metric.name == results::bytes_sent().name)
      samples.samples = {{0, results::whole_mesh, false, static_cast<double>(received)}};
  // What libraries hold is not known without them.
  const std::string library = results::peak_bytes(name_of(Category::library)).name;
  std::erase_if(rows.metrics, [&](const results::MetricSamples& samples) {
    return samples.metric.name == library;
  });
  const double seconds = prediction.simulated.seconds;
  rows.uncertainties.push_back({results::step_seconds(), seconds * (1 - prediction.half_width),
                                seconds * (1 + prediction.half_width), 0.8,
                                source_text(prediction) + not_validated_text(prediction)});
  // Members of every class as runs of ranks: 0-6,8.
  for (std::size_t c = 0; c < prediction.simulated.timelines.size(); ++c) {
    const sim::Timeline& timeline = prediction.simulated.timelines[c];
    std::string members;
    for (std::size_t r = 0; r < of_rank.size(); ++r) {
      if (of_rank[r] != static_cast<int>(c)) continue;
      std::size_t end = r;
      while (end + 1 < of_rank.size() && of_rank[end + 1] == static_cast<int>(c)) ++end;
      members += fmt::format("{}{}", members.empty() ? "" : ",", r);
      if (end > r) members += fmt::format("-{}", end);
      r = end;
    }
    rows.folds.push_back({timeline.rank, timeline.members, members});
  }
  return rows;
}

results::Timeline timeline_of(const Prediction& prediction, const Mesh& mesh) {
  Measurement measurement;
  for (const sim::Timeline& timeline : prediction.simulated.timelines) {
    if (!timeline.kept) continue;
    RankMeasure rank;
    for (const sim::TimedStep& step : timeline.steps) rank.trace.append(step.whole());
    measurement.ranks.push_back(std::move(rank));
    measurement.numbers.push_back(timeline.rank);
  }
  return shardlab::timeline_of(measurement, mesh);
}

class Predictions {
 public:
  Predictions(const Scenarios& scenarios, const Request& request, const PredictRequest& options)
      : request_(request), typed_(options), cases_(sweep(scenarios, request)) {
    check(!options.machine.empty(),
          "predict needs --machine, such as dgx-h100:8; `shardlab list machines` names them");
    named_ = machine_named(options.machine, request.database);
    base_.machine = named_.machine;
    base_.profile = sim::find_profile(options.profile);
    base_.stragglers.jitter = options.jitter;
    base_.stragglers.seed = static_cast<std::uint64_t>(request.seed);
    changed_ = sim::parse_what_if(options.what_if);
  }

  Exit run() {
    results::Store store(request_.database);
    for (const Case& planned : cases_) one(planned, store);
    if (request_.json)
      print_json();
    else
      print_tables();
    return exit_;
  }

 private:
  void one(const Case& planned, results::Store& store) {
    results::RunHeader header = header_of(planned, "predict", request_);
    header.series.machine = typed_.machine;
    header.series.profile = base_.profile.name;
    header.oversubscribed = false;
    header.environment = {};
    const results::RunId id = store.start_run(header);
    try {
      const int devices = named_.hosts * static_cast<int>(base_.machine.value("host.gpus"));
      if (devices > 0 && planned.mesh.size() > devices)
        fail(Fault::invalid, "{} ranks on {} devices: {} hosts of {}", planned.mesh.size(), devices,
             named_.hosts, devices / named_.hosts);
      Row row;
      row.planned = &planned;
      row.prediction = predict(*planned.scenario, planned.params, planned.mesh, base_);
      store.append(id, rows_of(row.prediction, planned.mesh));
      if (request_.timeline) store.append(id, timeline_of(row.prediction, planned.mesh));
      store.finish_run(id, results::RunStatus::complete);
      row.run = id;
      for (const std::string& note : row.prediction.traced->notes)
        fmt::print(stderr, "warning: {}\n", note);
      const auto& timelines = row.prediction.simulated.timelines;
      const auto kept = std::count_if(timelines.begin(), timelines.end(),
                                      [](const sim::Timeline& each) { return each.kept; });
      if (static_cast<std::size_t>(kept) < timelines.size())
        fmt::print(
            stderr,
            "warning: steps are kept for {} of {} classes, one of each kind first: times and "
            "memory are of all, `explain` and timelines of those\n",
            kept, timelines.size());
      rows_.push_back(std::move(row));
    } catch (const Error& error) {
      const bool skipped = error.fault() == Fault::unsupported;
      store.finish_run(id, skipped ? results::RunStatus::skipped : results::RunStatus::failed,
                       error.what());
      fmt::print(stderr, "{}: {}\n", skipped ? "skipped" : "failed", error.what());
      exit_ = graver(exit_, exit_of(error.fault()));
    }
  }

  /// Whether two cases differ by their mesh only.
  static bool same_problem(const Case& a, const Case& b) {
    const Precision& mine = a.params.precision;
    const Precision& other = b.params.precision;
    return a.scenario == b.scenario && a.stored.all() == b.stored.all() &&
           a.params.train == b.params.train && mine.dtype == other.dtype && mine.math == other.math;
  }

  /// How much faster than the one rank of its problem, if that is among those predicted; with the
  /// sizes of a rank held, that many ranks do as much more.
  [[nodiscard]] std::optional<double> speedup_of(const Row& row) const {
    for (const Row& other : rows_) {
      if (other.planned->mesh.size() != 1 || !same_problem(*other.planned, *row.planned)) continue;
      const double work = request_.scaling == Scaling::weak ? row.planned->mesh.size() : 1;
      return work * other.prediction.simulated.seconds / row.prediction.simulated.seconds;
    }
    return std::nullopt;
  }

  static std::string memory_text(const Prediction& prediction) {
    std::string text = show_bytes(prediction.memory.total);
    if (!prediction.fit.fits)
      text += fmt::format(", {} too much ({})", show_bytes(prediction.fit.over),
                          prediction.fit.breaker);
    return text;
  }

  void print_tables() {
    const Case* before = nullptr;
    std::optional<Table> table;
    std::string places;
    const auto flush = [&] {
      if (!table) return;
      fmt::print("{}{}", table->text(), places);
      places.clear();
    };
    for (const Row& row : rows_) {
      const Case& planned = *row.planned;
      if (before == nullptr || !same_problem(*before, planned)) {
        flush();
        fmt::print("{}{}, {}{}{}, predicted on {} with {}\n", before == nullptr ? "" : "\n",
                   planned.scenario->name, name_of(planned.params.precision),
                   planned.params.train ? ", training" : "",
                   request_.scaling == Scaling::weak ? ", weak scaling" : "", typed_.machine,
                   base_.profile.name);
        table.emplace(std::vector<std::string>{"mesh", "step", "80 % interval", "speedup",
                                               "efficiency", "device memory", "source", "classes"});
      }
      before = &planned;
      const Prediction& p = row.prediction;
      const std::optional<double> speedup = speedup_of(row);
      table->row({planned.mesh.text(), seconds_text(p.simulated.seconds),
                  interval_text(p.simulated.seconds, p.half_width),
                  speedup ? fmt::format("{:.2f}x", *speedup) : "-",
                  speedup ? show_percent(*speedup / planned.mesh.size()) : "-", memory_text(p),
                  source_text(p), std::to_string(p.simulated.timelines.size())});
      if (planned.mesh.size() > 1) places += fmt::format("  {}\n", p.placement);
      places += doubts_of(p, planned.mesh);
    }
    flush();
    if (changed_.changes()) print_changes();
    if (!rows_.empty())
      fmt::print("\nwhere the time goes: shardlab explain {}\n", rows_.back().run.value);
  }

  /// What the changes of --what-if do to each row, by cause.
  void print_changes() {
    fmt::print("\nwith {}:\n", typed_.what_if);
    Table table(
        {"mesh", "step", "change", "kernels", "launch", "communication", "imbalance", "waiting"});
    for (const Row& row : rows_) {
      PredictOptions options = base_;
      options.what_if = changed_;
      const Prediction after =
          predict(row.prediction.traced, row.planned->params, row.planned->mesh, options);
      const sim::Breakdown a = sim::breakdown(spans_of(row.prediction.simulated));
      const sim::Breakdown b = sim::breakdown(spans_of(after.simulated));
      const auto sum = [](const sim::Breakdown& of) {
        double seconds = 0;
        for (const auto& [op, each] : of.transfers) seconds += each;
        return seconds;
      };
      const double step = row.prediction.simulated.seconds;
      const auto change = [step](double from, double to) -> std::string {
        // What sums of other order differ by is no change.
        if (std::abs(to - from) < 1e-9 * step) return "0";
        return fmt::format("{}{}", to < from ? "-" : "+", show_seconds(std::abs(to - from)));
      };
      table.row(
          {row.planned->mesh.text(), seconds_text(after.simulated.seconds),
           fmt::format("{:+.1f} %",
                       100 * (after.simulated.seconds / row.prediction.simulated.seconds - 1)),
           change(a.kernels, b.kernels), change(a.launch, b.launch), change(sum(a), sum(b)),
           change(a.imbalance, b.imbalance), change(a.waiting, b.waiting)});
    }
    fmt::print("{}", table.text());
  }

  void print_json() {
    nlohmann::json all = nlohmann::json::array();
    for (const Row& row : rows_) {
      const Prediction& p = row.prediction;
      nlohmann::json memory = nlohmann::json::object();
      for (const sim::MemoryPart& part : p.memory.parts) memory[part.name] = part.bytes.value;
      all.push_back({{"scenario", row.planned->scenario->name},
                     {"mesh", row.planned->mesh.text()},
                     {"ranks", row.planned->mesh.size()},
                     {"dtype", name_of(row.planned->params.precision)},
                     {"train", row.planned->params.train},
                     {"machine", typed_.machine},
                     {"profile", base_.profile.name},
                     {"run", row.run.value},
                     {"seconds", p.simulated.seconds},
                     {"seconds_low", p.simulated.seconds * (1 - p.half_width)},
                     {"seconds_high", p.simulated.seconds * (1 + p.half_width)},
                     {"weakest_source", sim::name_of(p.weakest)},
                     {"extrapolated", p.extrapolated},
                     {"engine_bytes", p.memory.engine},
                     {"allocated_bytes", p.memory.allocated},
                     {"reserved_bytes", p.memory.reserved},
                     {"device_bytes", p.memory.total},
                     {"fits", p.fit.fits},
                     {"memory", memory},
                     {"time_classes", p.simulated.timelines.size()},
                     {"placement", p.placement}});
    }
    fmt::print("{}\n", json_text(all));
  }

  const Request& request_;
  const PredictRequest& typed_;
  std::vector<Case> cases_;
  NamedMachine named_;
  PredictOptions base_;
  sim::WhatIf changed_;
  std::vector<Row> rows_;
  Exit exit_ = Exit::fine;
};

}  // namespace

NamedMachine machine_named(const std::string& text, const std::string& database) {
  NamedMachine named;
  if (text == "this-cpu") {
    named.machine = newest_probe(database);
    return named;
  }
  const std::size_t colon = text.rfind(':');
  std::string name = text;
  if (colon != std::string::npos && text.find('/', colon) == std::string::npos) {
    const std::string_view hosts = std::string_view(text).substr(colon + 1);
    const auto [end, error] =
        std::from_chars(hosts.data(), hosts.data() + hosts.size(), named.hosts);
    check(error == std::errc() && end == hosts.data() + hosts.size() && named.hosts >= 1,
          "--machine {}: expected a number of hosts behind the colon", text);
    name = text.substr(0, colon);
  }
  named.machine = sim::find_machine(name);
  return named;
}

Exit predict_verb(const Scenarios& scenarios, const Request& request,
                  const PredictRequest& options) {
  return Predictions(scenarios, request, options).run();
}

}  // namespace shardlab
