#include "results/repaired_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace shardlab::results {
namespace {

constexpr auto npos = std::string_view::npos;

bool digit(char c) { return c >= '0' && c <= '9'; }
bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// What some locales put between groups of digits, and is one byte in a C++ stream.
bool groups(char c) { return c == '\'' || c == ' ' || c == '\xa0' || c == '_'; }

/// A number or word that stands for a value.
struct Token {
  std::size_t begin = 0;
  std::size_t end = 0;
  int line = 0;
  bool in_object = false;
};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<Token> tokens() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
        continue;
      }
      if (digit(c) || letter(c) || c == '-' || c == '+') {
        take();
        continue;
      }
      if (c == '\n') ++line_;
      if (c == '{' || c == '[') open_ += c;
      if ((c == '}' || c == ']') && !open_.empty()) open_.pop_back();
      ++at_;
    }
    return std::move(found_);
  }

 private:
  void skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size() && text_[at_] == '\n') ++line_;
    }
    ++at_;
  }

  [[nodiscard]] bool digit_follows() const {
    return at_ + 1 < text_.size() && digit(text_[at_ + 1]);
  }

  void take() {
    Token token{at_, at_, line_, !open_.empty() && open_.back() == '{'};
    const bool word = letter(text_[at_]);
    while (at_ < text_.size()) {
      const char c = text_[at_];
      // In an object a comma before a digit cannot end the member.
      const bool joins = digit(c) || letter(c) || c == '-' || c == '+' || (!word && c == '.') ||
                         (!word && token.in_object && (c == ',' || groups(c)) && digit_follows());
      if (!joins) break;
      ++at_;
    }
    token.end = at_;
    found_.push_back(token);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::string open_;
  std::vector<Token> found_;
};

char decimal_mark(std::string_view text, const std::vector<Token>& tokens) {
  char fallback = '.';
  for (const Token& token : tokens) {
    if (!token.in_object) continue;
    const std::string_view word = text.substr(token.begin, token.end - token.begin);
    if (!digit(word.back()) || letter(word[0])) continue;
    const std::size_t exponent = word.find_first_of("eE");
    const std::size_t mark = word.substr(0, exponent).find_last_of(",.");
    if (mark == npos) continue;
    if (exponent != npos) return word[mark];
    const std::size_t first = word.find_first_of(",.");
    if (word[first] != word[mark])
      fallback = word[mark];
    else if (first == mark && word[mark] == ',')
      fallback = ',';
  }
  return fallback;
}

/// The number as JSON has it; empty where it is none, or not finite.
std::string number_of(std::string_view word, char decimal) {
  std::string plain;
  for (const char c : word) {
    if (c == decimal)
      plain += '.';
    else if (digit(c) || c == '-' || c == 'e' || c == 'E' || (c == '+' && !plain.empty()))
      plain += c;
    else if (c != '+' && c != ',' && c != '.' && !groups(c))
      return "";
  }
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  const bool ok = error == std::errc() && end == plain.data() + plain.size();
  return ok && std::isfinite(value) ? plain : "";
}

bool is_not_finite(std::string_view word) {
  std::string lower;
  for (const char c : word)
    if (c != '-' && c != '+') lower += letter(c) ? static_cast<char>(c | 0x20) : c;
  return lower == "nan" || lower == "inf" || lower == "infinity" || lower == "nanind";
}

}  // namespace

std::string repaired_json(std::string_view text, std::vector<ImportNote>& notes) {
  const std::vector<Token> tokens = Scanner(text).tokens();
  const char decimal = decimal_mark(text, tokens);
  int not_finite = 0, first_not_finite = 0, changed = 0, first_changed = 0;
  std::string repaired;
  std::size_t at = 0;
  for (const Token& token : tokens) {
    const std::string_view word = text.substr(token.begin, token.end - token.begin);
    repaired += text.substr(at, token.begin - at);
    at = token.end;
    if (is_not_finite(word)) {
      repaired += "null";
      if (not_finite++ == 0) first_not_finite = token.line;
      continue;
    }
    const std::string number =
        letter(word[0]) ? "" : number_of(word, token.in_object ? decimal : '.');
    if (!number.empty() && number != word && changed++ == 0) first_changed = token.line;
    repaired += number.empty() ? std::string(word) : number;
  }
  repaired += text.substr(at);
  if (not_finite > 0)
    notes.push_back({first_not_finite, fmt::format("{} {} NaN or infinite and left out", not_finite,
                                                   not_finite == 1 ? "value is" : "values are")});
  if (changed > 0)
    notes.push_back(
        {first_changed, fmt::format("{} {} written as a locale does, decimal mark '{}'", changed,
                                    changed == 1 ? "number is" : "numbers are", decimal)});
  return repaired;
}

}  // namespace shardlab::results
