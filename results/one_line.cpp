#include "results/one_line.h"

namespace shardlab::results {

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
    if ((c >= '\0' && c < ' ') || c == '\x7f') c = '?';
  }
  return text;
}

}  // namespace shardlab::results
