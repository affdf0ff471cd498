#include "engine/sim/toml_value.h"

// toml++ 3.3 checks some of what a file may hold wrongly by assertions before it reports it: they
// abort, or without them the compiler takes them as true. Here they do nothing. Only the source is
// used, never the library that a system may have of it.
#undef NDEBUG
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>

#include <algorithm>

#include "engine/core/check.h"

namespace shardlab::sim {
namespace {

constexpr std::size_t most_bytes = 1 << 20;
constexpr int most_dots = 32;

/// Refuses what toml++ does not hold against a file: keys of so many parts that their tables, taken
/// down one inside the other, end the stack, and letters beyond ASCII where only a text or comment
/// may have them, behind a quote that begins no text too, and control characters. Texts over
/// several lines are refused too, so that each line is read by itself.
void check_lines(std::string_view text, const std::string& file) {
  int line = 1;
  int dots = 0;
  char quote = 0;
  char before = 0;  // The last on this line that is no blank.
  bool comment = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char each = text[at];
    if (each == '\n') {
      ++line;
      dots = 0;
      quote = 0;
      before = 0;
      comment = false;
    } else if (quote != 0) {
      // No text goes on behind the end of its line.
      if (each == '\\' && quote == '"' && text.substr(at + 1, 1) != "\n") ++at;
      if (each == quote) quote = 0;
    } else if (!comment && (each == '"' || each == '\'')) {
      check(text.substr(at, 3) != std::string(3, each), "{}:{}: a text over several lines", file,
            line);
      // Elsewhere it begins no text, and what follows is not quoted.
      check(before == 0 || std::string_view("=,[{").find(before) != std::string_view::npos,
            "{}:{}: a quote inside a word", file, line);
      quote = each;
    } else if (!comment && static_cast<unsigned char>(each) >= 0x80) {
      fail(Fault::invalid, "{}:{}: a letter beyond ASCII outside quotes", file, line);
    } else if (static_cast<unsigned char>(each) < 0x20 && each != '\t' && each != '\r') {
      fail(Fault::invalid, "{}:{}: a control character", file, line);
    } else if (!comment && each == '.') {
      check(++dots <= most_dots, "{}:{}: more than {} dots in one word", file, line, most_dots);
    } else {
      comment = comment || each == '#';
      if (std::string_view("=,[]{}").find(each) != std::string_view::npos) dots = 0;
    }
    if (each != ' ' && each != '\t' && each != '\n' && each != '\r') before = each;
  }
}

TomlValue value_of(const toml::node& node) {
  using Kind = TomlValue::Kind;
  TomlValue value;
  value.line = static_cast<int>(node.source().begin.line);
  if (const toml::table* table = node.as_table()) {
    for (const auto& [key, item] : *table) {
      value.items.push_back(value_of(item));
      value.items.back().key = key.str();
    }
  } else if (const toml::array* array = node.as_array()) {
    value.kind = Kind::array;
    for (const toml::node& item : *array) value.items.push_back(value_of(item));
  } else if (node.is_string()) {
    value.kind = Kind::text;
    value.text = node.as_string()->get();
  } else if (node.is_number()) {
    value.kind = Kind::number;
    value.number = node.is_integer() ? static_cast<double>(node.as_integer()->get())
                                     : node.as_floating_point()->get();
  } else {
    value.kind = node.is_boolean() ? Kind::truth : Kind::moment;
  }
  return value;
}

}  // namespace

const TomlValue* TomlValue::find(std::string_view name) const {
  const auto found = std::find_if(items.begin(), items.end(),
                                  [name](const TomlValue& item) { return item.key == name; });
  return kind != Kind::table || found == items.end() ? nullptr : &*found;
}

const char* name_of(TomlValue::Kind kind) {
  switch (kind) {
    case TomlValue::Kind::table:
      return "a table";
    case TomlValue::Kind::array:
      return "an array";
    case TomlValue::Kind::text:
      return "a text";
    case TomlValue::Kind::number:
      return "a number";
    case TomlValue::Kind::truth:
      return "true or false";
    case TomlValue::Kind::moment:
      return "a date or time";
  }
  return "unknown";
}

TomlValue parse_toml(std::string_view text, const std::string& file) {
  check(text.size() <= most_bytes, "{}: {} bytes; a machine file has at most {}", file, text.size(),
        most_bytes);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  check_lines(text, file);
  try {
    return value_of(toml::parse(text, std::string_view(file)));
  } catch (const toml::parse_error& error) {
    fail(Fault::invalid, "{}:{}: {}", file, error.source().begin.line, error.description());
  }
}

}  // namespace shardlab::sim
