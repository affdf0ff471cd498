#include "results/import_runs.h"

#include <cmath>
#include <limits>

#include "engine/core/check.h"

namespace shardlab::results {
namespace {

using nlohmann::json;

/// Reads members of one run and says where one is missing.
class Reader {
 public:
  Reader(const json& run, const std::string& name) : run_(run), name_(name), line_(line_of(run)) {}

  StoredRun read() {
    StoredRun run;
    run.uuid = text(run_, "uuid");
    const std::string status = text(run_, "status");
    // Its process is gone: a running run of a file was interrupted.
    run.status = status == "interrupted" ? RunStatus::running : run_status_from(status);
    run.reason = text(run_, "reason");
    run.header = header();
    for (const json& each : array("metrics")) run.rows.metrics.push_back(samples(each));
    for (const json& each : array("checks"))
      run.rows.checks.push_back(
          {text(each, "name"),
           number_member(each, "error").value_or(std::numeric_limits<double>::quiet_NaN()),
           number(each, "bound")});
    for (const json& each : array("uncertainties"))
      run.rows.uncertainties.push_back({metric_named(run, text(each, "metric")),
                                        number(each, "low"), number(each, "high"),
                                        number(each, "coverage"), text(each, "source")});
    for (const json& each : array("folds"))
      run.rows.folds.push_back({static_cast<std::int32_t>(whole(each, "rank")),
                                whole(each, "ranks"), text(each, "members")});
    return run;
  }

 private:
  RunHeader header() const {
    const json& series = object("series");
    RunHeader header;
    header.series = {.scenario = text(series, "scenario"),
                     .parameters = object_text(member(series, "parameters")),
                     .dtype = text(series, "dtype"),
                     .train = boolean(series, "train"),
                     .mesh = text(series, "mesh"),
                     .execution = execution_from(text(series, "execution")),
                     .machine = text(series, "machine"),
                     .profile = text(series, "profile")};
    const json& environment = object("environment");
    header.environment = {.processor = text(environment, "processor"),
                          .isa = text(environment, "isa"),
                          .build_type = text(environment, "build_type"),
                          .compiler = text(environment, "compiler"),
                          .libraries = {},
                          .topology = text(environment, "topology")};
    const json& libraries = member(environment, "libraries");
    check(libraries.is_object(), "{}: libraries are no JSON object", where());
    for (const auto& [key, value] : libraries.items())
      if (is_of_file(key)) header.environment.libraries[key] = plain_text(value);
    header.created = text(run_, "created");
    header.commit = text(run_, "commit");
    header.branch = text(run_, "branch");
    header.dirty = boolean(run_, "dirty");
    header.oversubscribed = boolean(run_, "oversubscribed");
    header.seed = whole(run_, "seed");
    header.source = text(run_, "source");
    header.command = text(run_, "command");
    header.variables = object_text(member(run_, "variables"));
    header.state = object_text(member(run_, "state"));
    header.layouts = text(run_, "layouts");
    return header;
  }

  MetricSamples samples(const json& each) const {
    MetricSamples all{
        {text(each, "name"), text(each, "unit"), boolean(each, "exact"),
         better_from(text(each, "better")), across_ranks_from(text(each, "across_ranks"))},
        {}};
    const json& values = member(each, "samples");
    check(values.is_array(), "{}: metric {} has no samples", where(), all.metric.name);
    for (const json& value : values)
      all.samples.push_back({whole(value, "iteration"),
                             static_cast<std::int32_t>(whole(value, "rank")),
                             boolean(value, "warmup"), number(value, "value")});
    return all;
  }

  Metric metric_named(const StoredRun& run, const std::string& name) const {
    for (const MetricSamples& samples : run.rows.metrics)
      if (samples.metric.name == name) return samples.metric;
    fail(Fault::invalid, "{}: an uncertainty of {}, of which there are no samples", where(), name);
  }

  /// An object as it was, without the line that was added to it.
  [[nodiscard]] static std::string object_text(const json& value) {
    json plain = value;
    remove_lines(plain);
    return plain.is_string() ? plain.get<std::string>() : plain.dump();
  }
  static void remove_lines(json& value) {
    if (value.is_object())
      for (auto each = value.begin(); each != value.end();)
        each = is_of_file(each.key()) ? std::next(each) : value.erase(each);
    if (value.is_structured())
      for (json& each : value) remove_lines(each);
  }

  [[nodiscard]] std::string where() const { return fmt::format("{}:{}", name_, line_); }
  [[nodiscard]] const json& object(const char* key) const {
    const json& value = member(run_, key);
    check(value.is_object(), "{}: {} is no JSON object", where(), key);
    return value;
  }
  [[nodiscard]] const json& array(const char* key) const {
    const json& value = member(run_, key);
    check(value.is_array(), "{}: {} is no JSON array", where(), key);
    return value;
  }
  [[nodiscard]] std::string text(const json& from, const char* key) const {
    check(member(from, key).is_string(), "{}: {} is no text", where(), key);
    return text_member(from, key);
  }
  [[nodiscard]] bool boolean(const json& from, const char* key) const {
    check(member(from, key).is_boolean(), "{}: {} is neither true nor false", where(), key);
    return member(from, key).get<bool>();
  }
  [[nodiscard]] double number(const json& from, const char* key) const {
    const auto value = number_member(from, key);
    check(value.has_value(), "{}: {} is no finite number", where(), key);
    return *value;
  }
  [[nodiscard]] std::int64_t whole(const json& from, const char* key) const {
    const json& value = member(from, key);
    check(value.is_number_integer() &&
              (!value.is_number_unsigned() || value.get<std::uint64_t>() >> 63 == 0),
          "{}: {} is no whole number", where(), key);
    return value.get<std::int64_t>();
  }

  const json& run_;
  const std::string& name_;
  int line_;
};

bool is_run(const json& value) {
  return member(value, "uuid").is_string() && member(value, "series").is_object();
}

}  // namespace

bool is_runs(const json& file) {
  return is_run(file) || (file.is_array() && !file.empty() && is_run(file[0]));
}

Imported read_runs(const json& file, const std::string& name) {
  Imported result{"runs of shardlab, JSON", {}, {}};
  if (file.is_object()) {
    result.runs.push_back(Reader(file, name).read());
    return result;
  }
  for (const json& run : file) result.runs.push_back(Reader(run, name).read());
  return result;
}

}  // namespace shardlab::results
