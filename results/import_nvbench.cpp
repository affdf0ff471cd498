#include "results/import_nvbench.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace shardlab::results {
namespace {

using nlohmann::json;

constexpr double most_samples = 100e6;

/// The member of a summary's data that has a name, as an object {name, type, value}.
const json& datum(const json& summary, const char* name) {
  for (const json& each : member(summary, "data"))
    if (text_member(each, "name") == name) return each;
  return member(summary, "");
}

const json& tagged(const json& state, const char* tag) {
  for (const json& each : member(state, "summaries"))
    if (text_member(each, "tag") == tag) return each;
  return member(state, "");
}

std::optional<double> value_of(const json& state, const char* tag) {
  return number_member(datum(tagged(state, tag), "value"), "value");
}

std::vector<double> floats_of(const std::string& bytes) {
  std::vector<double> values;
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 4; ++k)
      word |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i + k])) << (8 * k);
    values.push_back(std::bit_cast<float>(word));
  }
  return values;
}

class Reader {
 public:
  Reader(const json& file, const ImportSource& source) : file_(file), source_(source) {
    result_.format = "nvbench JSON";
  }

  Imported read() {
    for (const json& benchmark : member(file_, "benchmarks"))
      for (const json& state : member(benchmark, "states"))
        add(text_member(benchmark, "name"), state);
    return std::move(result_);
  }

 private:
  std::string device_of(const json& state) const {
    const json& id = member(state, "device");
    for (const json& device : member(file_, "devices"))
      if (id.is_null() || member(device, "id") == id) return text_member(device, "name");
    return "";
  }

  void add(const std::string& benchmark, const json& state) {
    StoredRun run = imported_run(Execution::cuda, "nvbench");
    run.header.series.scenario = benchmark.empty() ? "unnamed" : benchmark;
    std::map<std::string, std::string> parameters;
    for (const json& axis : member(state, "axis_values"))
      parameters[text_member(axis, "name")] = plain_text(member(axis, "value"));
    run.header.series.parameters = parameters_text(parameters);
    run.header.environment.processor = device_of(state);
    const json& version = member(member(member(file_, "meta"), "version"), "nvbench");
    if (const std::string text = text_member(version, "string"); !text.empty())
      run.header.environment.libraries["nvbench"] = text;
    const json& skipped = member(state, "is_skipped");
    if (skipped.is_boolean() && skipped.get<bool>()) {
      run.status = RunStatus::skipped;
      run.reason = text_member(state, "skip_reason");
      if (run.reason.empty()) run.reason = "skipped without a reason";
      result_.runs.push_back(std::move(run));
      return;
    }
    add_times(run, state);
    result_.runs.push_back(std::move(run));
  }

  void add_times(StoredRun& run, const json& state) {
    std::vector<double> times = samples_of(state);
    if (times.empty())
      if (const auto mean = value_of(state, "nv/cold/time/gpu/mean")) times = {*mean};
    if (times.empty()) {
      run.status = RunStatus::skipped;
      run.reason = "no accepted samples";
    }
    add_samples(run, step_seconds(), times);
    const auto add_one = [&](const Metric& metric, const char* tag) {
      if (const auto value = value_of(state, tag)) add_samples(run, metric, {*value});
    };
    add_one(cpu_seconds(), "nv/cold/time/cpu/mean");
    add_one({"batch_seconds", "s", false, Better::lower, AcrossRanks::max},
            "nv/batch/time/gpu/mean");
    add_one(rate("bytes_per_second", "B/s"), "nv/cold/bw/global/bytes_per_second");
    add_one(rate("items_per_second", "1/s"), "nv/cold/bw/item_rate");
  }

  /// All samples where a file beside this one has them.
  std::vector<double> samples_of(const json& state) {
    const json& summary = tagged(state, "nv/json/bin:nv/cold/sample_times");
    const std::string path = text_member(datum(summary, "filename"), "value");
    const auto size = number_member(datum(summary, "size"), "value");
    if (path.empty() || !size) return {};
    std::optional<std::string> bytes;
    if (*size > 0 && *size <= most_samples)
      bytes = source_.beside(path, static_cast<std::size_t>(*size) * 4);
    if (bytes) return floats_of(*bytes);
    result_.notes.push_back(
        {line_of(summary), fmt::format("the file of samples '{}' is not there with {} samples: the "
                                       "mean is taken",
                                       path, *size)});
    return {};
  }

  const json& file_;
  const ImportSource& source_;
  Imported result_;
};

}  // namespace

bool is_nvbench(const json& file) {
  const json& rows = member(file, "benchmarks");
  if (!rows.is_array()) return false;
  return rows.empty() ? !member(file, "devices").is_null() : member(rows[0], "states").is_array();
}

Imported read_nvbench(const json& file, const ImportSource& source) {
  return Reader(file, source).read();
}

}  // namespace shardlab::results
