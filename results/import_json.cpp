#include "results/import_json.h"

#include <charconv>
#include <cmath>

#include "engine/core/check.h"
#include "engine/core/counted_character.h"
#include "results/repaired_json.h"

namespace shardlab::results {
namespace {

using nlohmann::json;

constexpr const char* line_key = "\x01line";
constexpr int most_levels = 100;

json parse(std::string_view text, const std::string& name, int& line) {
  std::vector<int> begun;  // the lines of the objects that are open
  const auto keep_line = [&](int depth, json::parse_event_t event, json& parsed) {
    check(depth <= most_levels, "{}:{}: JSON of more than {} levels", name, line, most_levels);
    if (event == json::parse_event_t::object_start) begun.push_back(line);
    if (event == json::parse_event_t::object_end) {
      parsed[line_key] = begun.back();
      begun.pop_back();
    }
    return true;
  };
  return json::parse(CountedCharacter{text.data(), &line},
                     CountedCharacter{text.data() + text.size(), &line}, keep_line);
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

}  // namespace

LinedJson read_lined_json(std::string_view text, const std::string& name) {
  LinedJson read;
  int line = 1;
  try {
    read.value = parse(text, name, line);
    return read;
  } catch (const json::exception&) {
    line = 1;
  }
  const std::string repaired = repaired_json(text, read.notes);
  try {
    read.value = parse(repaired, name, line);
  } catch (const json::exception& error) {
    std::string what = error.what();
    for (char& c : what)
      if (c < ' ' || c > '~') c = '?';
    what.erase(0, what.find("] ") == std::string::npos ? 0 : what.find("] ") + 2);
    fail(Fault::invalid, "{}:{}: not readable as JSON: {}", name, line, what.substr(0, 160));
  }
  return read;
}

int line_of(const json& object) {
  const json& line = member(object, line_key);
  return line.is_number_integer() ? line.get<int>() : 0;
}

bool is_of_file(const std::string& key) { return key != line_key; }

const json& member(const json& object, const char* key) {
  static const json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

std::string text_member(const json& object, const char* key) {
  const json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<double> number_member(const json& object, const char* key) {
  const json& value = member(object, key);
  if (value.is_string()) return number_of(value.get_ref<const std::string&>());
  if (!value.is_number() || !std::isfinite(value.get<double>())) return std::nullopt;
  return value.get<double>();
}

std::string plain_text(const json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace shardlab::results
