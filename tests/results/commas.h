#pragma once

#include <clocale>
#include <locale>
#include <string>

namespace shardlab::results {

/// Decimal commas and points between groups, as in German, as long as this lives: of the C++
/// library always, of the C library where the machine has such a locale.
class Commas {
 public:
  Commas() : before_(std::locale::global(std::locale(std::locale(), new German))) {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8"}) std::setlocale(LC_ALL, name);
  }
  ~Commas() {
    std::setlocale(LC_ALL, "C");
    std::locale::global(before_);
  }
  Commas(const Commas&) = delete;
  Commas& operator=(const Commas&) = delete;

 private:
  struct German : std::numpunct<char> {
    [[nodiscard]] char do_decimal_point() const override { return ','; }
    [[nodiscard]] char do_thousands_sep() const override { return '.'; }
    [[nodiscard]] std::string do_grouping() const override { return "\3"; }
  };

  std::locale before_;
};

}  // namespace shardlab::results
