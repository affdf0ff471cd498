#include "results/escape.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cstdint>

namespace shardlab::results {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// The bytes of the UTF-8 character that a text begins with; 0 where it begins with none.
std::size_t character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xC2 && first < 0xE0   ? 2
                           : first >= 0xE0 && first < 0xF0 ? 3
                           : first >= 0xF0 && first < 0xF5 ? 4
                                                           : 0;
  if (size == 0 || text.size() < size) return 0;
  std::uint32_t code = first & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool allowed = code >= least[size] && code <= 0x10FFFF &&
                       (code < 0xD800 || code > 0xDFFF) && code != 0xFFFE && code != 0xFFFF;
  return allowed ? size : 0;
}

}  // namespace

std::string valid_text(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = character(text);
    const auto first = static_cast<std::uint8_t>(text[0]);
    const bool control =
        (first < 0x20 && first != '\n' && first != '\t' && first != '\r') || first == 0x7F;
    if (size == 0 || control)
      valid += replacement;
    else
      valid += text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return valid;
}

std::string markup_text(std::string_view text) {
  std::string escaped;
  for (const char c : valid_text(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      case '\n':
      case '\r':
      case '\t':
        escaped += fmt::format("&#{};", static_cast<int>(c));
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string markdown_text(std::string_view text) {
  // As numbers, punctuation never marks up; these need none.
  constexpr std::string_view plain = ",;=%()/+ ";
  std::string escaped;
  const std::string valid = valid_text(text);
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    const auto code = static_cast<std::uint8_t>(c);
    const bool digits_around = i > 0 && i + 1 < valid.size() &&
                               std::isdigit(static_cast<std::uint8_t>(valid[i - 1])) != 0 &&
                               std::isdigit(static_cast<std::uint8_t>(valid[i + 1])) != 0;
    if (c == '\n' || c == '\r' || c == '\t')
      escaped += ' ';
    else if (code < 0x80 && std::ispunct(code) != 0 && plain.find(c) == std::string_view::npos &&
             !(c == '.' && digits_around))
      escaped += fmt::format("&#{};", static_cast<int>(code));
    else
      escaped += c;
    // Mentions and numbers of issues are looked for after that: this breaks them.
    if (c == '@' || c == '#') escaped += "&#8203;";
  }
  return escaped;
}

std::string annotation_text(std::string_view text) {
  std::string escaped;
  for (const char c : valid_text(text)) {
    if (c == '%' || c == '\r' || c == '\n')
      escaped += fmt::format("%{:02X}", static_cast<int>(c));
    else
      escaped += c;
  }
  return escaped;
}

std::string annotation_property(std::string_view text) {
  std::string escaped;
  for (const char c : annotation_text(text)) {
    if (c == ':' || c == ',')
      escaped += fmt::format("%{:02X}", static_cast<int>(c));
    else
      escaped += c;
  }
  return escaped;
}

}  // namespace shardlab::results
