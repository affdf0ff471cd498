#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardlab::sim {

/// Something that a reader found odd and went on; line 0 is the file as a whole.
struct Oddity {
  int line = 0;
  std::string text;
};

/// Adds an oddity; of a file that is odd everywhere the first 200 are kept and the rest is said to
/// be there.
void note(std::vector<Oddity>& oddities, int line, std::string text);

/// Lines of a text, which must outlive them, with their numbers from 1, without ends of line,
/// colour codes, byte order mark and non-breaking spaces.
///
/// Cost     Linear in the text; a line beyond 64 KiB is given empty and `too_long`.
/// Example  for (Lines lines(text); lines.next();) read(lines.text(), lines.number());
class Lines {
 public:
  explicit Lines(std::string_view text);
  template <std::same_as<std::string> Temporary>
  explicit Lines(Temporary&& text) = delete;
  bool next();
  [[nodiscard]] std::string_view text() const { return line_; }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool too_long() const { return too_long_; }

 private:
  std::string_view rest_;
  std::string line_;
  int number_ = 0;
  bool too_long_ = false;
  bool done_ = false;
};

/// Words between blanks; they point into `text`.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);

[[nodiscard]] bool has(std::string_view text, std::string_view part);

/// A whole number in decimal, with a sign; nothing else, and nothing that does not fit.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view word);

/// A number as printed, which is the true one rounded.
struct Rounded {
  double value = 0;
  double half_step = 0;  ///< Half a unit of the last digit.
};

/// A finite decimal number with its rounding.
[[nodiscard]] std::optional<Rounded> rounded_number(std::string_view word);

/// Text of a file for messages: quoted, at most 60 characters, printable ones only.
[[nodiscard]] std::string quote(std::string_view text);

/// The printable ASCII of a name found in a file, at most 100 characters.
[[nodiscard]] std::string plain(std::string_view text);

/// `name:line`, as errors start.
[[nodiscard]] std::string place(std::string_view name, int line);

}  // namespace shardlab::sim
