#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "engine/core/check.h"
#include "engine/core/counted_character.h"
#include "engine/sim/nccl_log_runs.h"

namespace shardlab::sim {
namespace {

using nlohmann::json;

/// All that is read; what else a file holds (its environment, say) is never kept.
constexpr std::array known_keys{
    "nccl_version",  "args",
    "config",        "nthreads",
    "ngpus",         "minimum_bytes",
    "maximum_bytes", "devices",
    "rank",          "hostname",
    "device_info",   "results",
    "size",          "count",
    "type",          "redop",
    "root",          "out_of_place",
    "in_place",      "time",
    "cpu_time",      "alg_bw",
    "bus_bw",        "nwrong",
    "out_of_bounds", "average_bus_bandwidth",
    "bandwidth",     "okay",
    "errors",
};

const json* member(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::optional<std::int64_t> whole_of(const json& object, const char* key) {
  const json* value = member(object, key);
  if (value != nullptr && value->is_string()) {
    // A root is written as text with blanks before it.
    const auto words = words_of(value->get_ref<const std::string&>());
    return words.size() == 1 ? whole_number(words[0]) : std::nullopt;
  }
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  if (value->is_number_unsigned() && value->get<std::uint64_t>() >> 63 != 0) return std::nullopt;
  return value->get<std::int64_t>();
}

std::string text_of(const json& object, const char* key) {
  const json* value = member(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

/// Numbers are written with six decimals.
std::optional<Rounded> real_of(const json& object, const char* key, double unit) {
  const json* value = member(object, key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const auto number = value->get<double>();
  if (!(number < 1e15)) return std::nullopt;
  return Rounded{number * unit, 0.5e-6 * unit};
}

class JsonReader {
 public:
  explicit JsonReader(std::string_view name) : name_(name), runs_(name) {}

  NcclLog read(std::string_view text) {
    const auto keep = [this](int depth, json::parse_event_t event, json& parsed) {
      return read_event(depth, event, parsed);
    };
    try {
      const json rest = json::parse(CountedCharacter{text.data(), &line_},
                                    CountedCharacter{text.data() + text.size(), &line_}, keep);
    } catch (const json::exception& error) {
      check(runs_.reading() || finished_, "{}: not readable as JSON: {}", place(name_, line_),
            plain(error.what()));
      runs_.odd(line_, "the file is not readable from here on: rows before it are used");
    }
    runs_.average = average_;
    if (average_) runs_.footer();
    runs_.finish(line_);
    return runs_.take();
  }

 private:
  /// Takes what is complete and keeps only what belongs to something that is not.
  bool read_event(int depth, json::parse_event_t event, json& parsed) {
    using Event = json::parse_event_t;
    if (event == Event::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (depth == 1) top_ = key;
      return std::find(known_keys.begin(), known_keys.end(), key) != known_keys.end();
    }
    if (depth == 0) return true;
    if (event == Event::value) return read_value(depth, parsed);
    if (event == Event::object_end) return read_object(depth, parsed);
    return depth <= 3;
  }

  bool read_value(int depth, const json& value) {
    if (top_ == "args" && value.is_string() && runs_.header.collective.empty())
      runs_.header.collective = collective_of(value.get_ref<const std::string&>());
    if (top_ == "nccl_version" && value.is_number_integer())
      runs_.header.version =
          nccl_version(std::clamp<std::int64_t>(value.get<std::int64_t>(), 0, 99'999'999));
    if (top_ == "errors" && value.is_string() && !value.get_ref<const std::string&>().empty())
      runs_.suspect(
          Symptom::broken_off, line_,
          fmt::format("the run ended with {}", quote(value.get_ref<const std::string&>())));
    return (top_ == "config" && depth != 3) || (top_ == "results" && depth > 2) ||
           top_ == "out_of_bounds" || top_ == "average_bus_bandwidth";
  }

  bool read_object(int depth, const json& object) {
    if (top_ == "results" && depth == 2) return read_row(object), false;
    if (top_ == "config" && depth == 3) return devices_.push_back(read_device(object)), false;
    if (depth > 1) return true;
    if (top_ == "config") read_config(object);
    if (top_ == "out_of_bounds" && text_of(object, "okay") == "false")
      runs_.suspect(Symptom::wrong_values, line_, "the footer says that values are wrong");
    if (const auto mean = real_of(object, "bandwidth", 1e9);
        top_ == "average_bus_bandwidth" && mean) {
      average_ = mean->value;
    }
    return false;
  }

  struct Device {
    std::int64_t rank = -1;
    std::string host;
    std::string model;
  };

  static Device read_device(const json& object) {
    return {whole_of(object, "rank").value_or(-1), plain(text_of(object, "hostname")),
            plain(text_of(object, "device_info"))};
  }

  void read_config(const json& config) {
    runs_.header.announced_least = whole_of(config, "minimum_bytes").value_or(0);
    runs_.header.announced_most = whole_of(config, "maximum_bytes").value_or(0);
    // Of each process the file lists the first rank only.
    const std::int64_t ranks =
        std::clamp<std::int64_t>(whole_of(config, "nthreads").value_or(1), 1, 64) *
        std::clamp<std::int64_t>(whole_of(config, "ngpus").value_or(1), 1, 64);
    for (const Device& device : devices_) {
      if (device.rank < 0 || device.rank > 1'000'000) continue;
      for (std::int64_t i = 0; i < ranks; ++i)
        runs_.header.listed.insert(static_cast<int>(device.rank + i));
      runs_.header.hosts.insert(device.host);
      if (device.rank == 0) runs_.header.gpu = device.model;
    }
    devices_.clear();
  }

  void read_row(const json& object) {
    NcclRow row;
    row.line = line_;
    const auto bytes = whole_of(object, "size");
    const auto count = whole_of(object, "count");
    const std::string dtype = text_of(object, "type");
    std::vector<std::string> odds;
    row.out_of_place = read_half(object, "out_of_place", odds);
    row.in_place = read_half(object, "in_place", odds);
    if (!bytes || !count || *bytes < 0 || *count < 0 || dtype.empty() ||
        (!row.out_of_place && !row.in_place)) {
      runs_.odd(line_, "a row without size, count, type or any time is left out");
      for (std::string& text : odds) runs_.odd(line_, std::move(text));
      return;
    }
    row.bytes = *bytes;
    row.count = *count;
    const std::string redop = text_of(object, "redop");
    runs_.add(row, dtype, redop == "none" ? "" : redop,
              std::max<std::int64_t>(whole_of(object, "root").value_or(-1), -1), odds);
    finished_ = true;
  }

  std::optional<NcclTiming> read_half(const json& row, const char* key,
                                      std::vector<std::string>& odds) {
    const json* half = member(row, key);
    if (half == nullptr || half->is_null()) return std::nullopt;
    if (!half->is_object()) {
      odds.push_back(fmt::format("{} is no object", key));
      return std::nullopt;
    }
    const bool cpu_time = member(*half, "cpu_time") != nullptr;
    runs_.header.cpu_times = runs_.header.cpu_times || cpu_time;
    const auto seconds = real_of(*half, cpu_time ? "cpu_time" : "time", 1e-6);
    const auto alg = real_of(*half, "alg_bw", 1e9);
    const auto bus = real_of(*half, "bus_bw", 1e9);
    if (!seconds || !alg || !bus || seconds->value < 1e-9 || alg->value < 0 || bus->value < 0) {
      odds.push_back(fmt::format("{} has no time, alg_bw and bus_bw above 0", key));
      return std::nullopt;
    }
    NcclTiming timing{*seconds, *alg, *bus, std::nullopt, false};
    if (const auto wrong = real_of(*half, "nwrong", 1)) timing.wrong = wrong->value;
    return timing;
  }

  std::string name_;
  NcclRuns runs_;
  std::vector<Device> devices_;
  std::string top_;
  std::optional<double> average_;
  int line_ = 1;
  bool finished_ = false;
};

}  // namespace

NcclLog read_nccl_json(std::string_view text, std::string_view name) {
  return JsonReader(name).read(text);
}

}  // namespace shardlab::sim
