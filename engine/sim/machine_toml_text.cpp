#include <string>

#include "engine/core/check.h"
#include "engine/sim/machine_toml.h"
#include "engine/sim/sheet.h"

namespace shardlab::sim {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char each : text) {
    const auto code = static_cast<unsigned char>(each);
    if (each == '"' || each == '\\') {
      result += '\\';
      result += each;
    } else if (code < 0x20 || code == 0x7f) {
      result += fmt::format("\\u{:04X}", code);
    } else {
      result += each;
    }
  }
  return result + '"';
}

template <typename Each>
std::string origin(const Each& each, const char* separator) {
  std::string text = fmt::format("source = \"{}\"", name_of(each.source));
  if (!each.from.empty()) text += fmt::format("{}from = {}", separator, quoted(each.from));
  return text + fmt::format("{}half_width = {}", separator, each.half_width);
}

std::string number(const std::string& path, const Quantity& each) {
  return fmt::format("{} = {{ value = {}, unit = \"{}\", {} }}\n", path, each.value,
                     si_unit(find_number(path)->dimension).name, origin(each, ", "));
}

std::string points(const Points& all, Dimension size, Dimension value) {
  std::string text =
      fmt::format("unit = [\"{}\", \"{}\"]\npoints = [\n", si_unit(size).name, si_unit(value).name);
  for (const auto& [at, what] : all) text += fmt::format("  [{}, {}],\n", at, what);
  return text + "]\n";
}

std::string curve(const Curve& each) {
  std::string text = fmt::format("\n[[curve]]\nfamily = \"{}\"\n", name_of(each.family));
  if (!each.op.empty()) text += fmt::format("op = {}\n", quoted(each.op));
  const bool pointwise = each.family == Family::pointwise;
  if (!pointwise) text += fmt::format("dtype = \"{}\"\n", name_of(each.precision));
  text += pointwise ? points(each.points, Dimension::bytes, Dimension::bytes_per_second)
                    : points(each.points, Dimension::flop, Dimension::flop_per_second);
  return text + origin(each, "\n") + '\n';
}

std::string collective(const CollectiveCurve& each) {
  std::string log_ranks;
  if (each.log_ranks.second > 0)
    log_ranks = fmt::format("log_ranks = [{}, {}]\n", each.log_ranks.first, each.log_ranks.second);
  return fmt::format("\n[[collective]]\ncollective = \"{}\"\nranks = {}\nhosts = {}\n{}{}\n{}",
                     each.collective, each.ranks, each.hosts,
                     points(each.points, Dimension::bytes, Dimension::seconds), origin(each, "\n"),
                     log_ranks);
}

}  // namespace

std::string to_toml(const Machine& machine) {
  std::string text = fmt::format("name = {}\n", quoted(machine.name));
  for (const auto& [path, word] : machine.words)
    text += fmt::format("{} = {}\n", path, quoted(word));
  for (const auto& [path, each] : machine.numbers) text += number(path, each);
  for (const Curve& each : machine.curves) text += curve(each);
  for (const CollectiveCurve& each : machine.collectives) text += collective(each);
  return text;
}

}  // namespace shardlab::sim
