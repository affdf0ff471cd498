#include "engine/sim/text_lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace shardlab::sim {
namespace {

constexpr std::size_t longest_line = 65536;
constexpr std::size_t most_oddities = 200;

bool blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

/// Characters that a terminal takes as a command, at the start of `text`; 0 if there are none.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2 || text[0] != '\x1b' || text[1] != '[') return 0;
  std::size_t end = 2;
  while (end < text.size() && (digit(text[end]) || text[end] == ';')) ++end;
  return std::min(end + 1, text.size());
}

std::string cleaned(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    if (const std::size_t length = escape_length(text); length > 0) {
      text.remove_prefix(length);
    } else if (text.starts_with("\xC2\xA0")) {
      clean += ' ';
      text.remove_prefix(2);
    } else {
      clean += text[0];
      text.remove_prefix(1);
    }
  }
  while (!clean.empty() && (clean.back() == '\r' || blank(clean.back()))) clean.pop_back();
  return clean;
}

std::string printable(std::string_view text, std::size_t longest) {
  std::string result(text.substr(0, longest));
  for (char& c : result)
    if (c < ' ' || c > '~') c = '?';
  return result;
}

}  // namespace

void note(std::vector<Oddity>& oddities, int line, std::string text) {
  if (oddities.size() < most_oddities)
    oddities.push_back({line, std::move(text)});
  else if (oddities.size() == most_oddities)
    oddities.push_back({line, "more oddities from here on are not listed"});
}

Lines::Lines(std::string_view text) : rest_(text) {
  if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
}

bool Lines::next() {
  if (done_ || rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  const std::string_view line = rest_.substr(0, end);
  too_long_ = line.size() > longest_line;
  line_ = too_long_ ? std::string() : cleaned(line);
  done_ = end == std::string_view::npos;
  if (!done_) rest_.remove_prefix(end + 1);
  ++number_;
  return true;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    while (!text.empty() && blank(text[0])) text.remove_prefix(1);
    if (text.empty()) return words;
    const auto* end = std::find_if(text.begin(), text.end(), blank);
    words.push_back(text.substr(0, static_cast<std::size_t>(end - text.begin())));
    text.remove_prefix(words.back().size());
  }
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::optional<std::int64_t> whole_number(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::optional<Rounded> rounded_number(std::string_view word) {
  if (word.empty() || !(digit(word[0]) || word[0] == '-' || word[0] == '.')) return std::nullopt;
  Rounded number;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number.value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(number.value))
    return std::nullopt;
  // "1.5e+06" is known to half of 0.1e+06.
  const std::size_t power = std::min(word.find_first_of("eE"), word.size());
  const std::size_t point = std::min(word.substr(0, power).find('.'), power);
  const double decimals = point < power ? static_cast<double>(power - point - 1) : 0;
  double exponent = 0;
  if (power < word.size()) {
    std::string_view digits = word.substr(power + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  }
  number.half_step = 0.5 * std::pow(10.0, exponent - decimals);
  return number;
}

std::string quote(std::string_view text) {
  constexpr std::size_t longest = 60;
  return "'" + printable(text, longest) + (text.size() > longest ? "...'" : "'");
}

std::string plain(std::string_view text) { return printable(text, 100); }

std::string place(std::string_view name, int line) {
  return std::string(name) + ":" + std::to_string(line);
}

}  // namespace shardlab::sim
