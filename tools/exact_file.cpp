#include "tools/exact_file.h"

#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/core/check.h"

namespace shardlab {
namespace {

constexpr const char* quantities_file = "quantities.tsv";
constexpr const char* parts_file = "parts.tsv";
constexpr std::size_t key_fields = 4;

using Words = std::vector<std::string>;

Words words_of(const std::string& line) {
  Words words;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::string key_text(const results::SeriesKey& key) {
  Words switches;
  const nlohmann::json parameters = nlohmann::json::parse(key.parameters);
  for (const auto& [name, value] : parameters.items())
    switches.push_back(fmt::format("{}={}", name, value.get<std::string>()));
  return fmt::format("{}\t{}\t{}\t{}", key.scenario, key.train ? "training" : "inference", key.mesh,
                     switches.empty() ? "-" : fmt::format("{}", fmt::join(switches, " ")));
}

/// The lines of a file that hold something, with their place for errors.
class Lines {
 public:
  explicit Lines(std::filesystem::path path) : path_(std::move(path)), file_(path_) {}

  [[nodiscard]] bool is_there() const { return file_.is_open(); }

  bool next(Words& words) {
    for (std::string line; std::getline(file_, line);) {
      ++number_;
      if (line.empty() || line[0] == '#') continue;
      words = words_of(line);
      return true;
    }
    return false;
  }

  void need(bool ok, const std::string& what) const {
    check(ok, "{}, line {}: {}", path_.string(), number_, what);
  }

  [[nodiscard]] std::int64_t number(const std::string& text) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    need(error == std::errc() && end == text.data() + text.size() && value >= 0,
         fmt::format("expected a whole number, found '{}'", text));
    return value;
  }

  [[nodiscard]] results::SeriesKey key(const Words& words) const {
    need(words.size() >= key_fields,
         fmt::format("expected scenario, mode, mesh and switches, found {} fields", words.size()));
    results::SeriesKey key;
    key.scenario = words[0];
    need(words[1] == "training" || words[1] == "inference",
         fmt::format("expected inference or training, found '{}'", words[1]));
    key.train = words[1] == "training";
    key.mesh = words[2];
    nlohmann::json switches = nlohmann::json::object();
    std::string_view rest = words[3];
    if (rest == "-") rest = {};
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      const std::size_t equal = word.find('=');
      need(equal != std::string_view::npos, fmt::format("expected switch=value, found '{}'", word));
      switches[std::string(word.substr(0, equal))] = word.substr(equal + 1);
    }
    key.parameters = switches.dump();
    return key;
  }

 private:
  std::filesystem::path path_;
  std::ifstream file_;
  int number_ = 0;
};

void read_parts(const std::filesystem::path& path, std::vector<ExactSeries>& all) {
  Lines lines(path);
  ExactSeries* series = nullptr;
  for (Words words; lines.next(words);) {
    if (!words[0].empty()) {
      const results::SeriesKey key = lines.key(words);
      const auto found =
          std::ranges::find_if(all, [&](const ExactSeries& each) { return each.key == key; });
      lines.need(found != all.end(),
                 fmt::format("{} is not in {}", exact_title(key), quantities_file));
      series = &*found;
      continue;
    }
    lines.need(series != nullptr, "a part before the first series");
    lines.need(words.size() == 7,
               fmt::format("expected 6 fields of a part, found {}", words.size() - 1));
    lines.need(words[2] == "moves" || words[2] == "computes",
               fmt::format("expected moves or computes, found '{}'", words[2]));
    series->parts.push_back({words[1], words[3], words[2] == "moves", lines.number(words[4]),
                             lines.number(words[5]), lines.number(words[6])});
  }
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) fail(Fault::external, "{}: cannot be written", path.string());
}

}  // namespace

void write_exact(const std::filesystem::path& folder, const std::vector<ExactSeries>& series) {
  std::string text =
      "# What one step of every tiny scenario moves, computes and holds, on any machine.\n"
      "# Written by `shardlab exact --accept`.\n";
  std::string parts = text + "# Calls, payload bytes and flop of all ranks together.\n";
  text += "scenario\tmode\tmesh\tswitches";
  if (!series.empty())
    for (const auto& [name, value] : series.front().quantities) text += "\t" + name;
  text += "\thighest after\n";
  for (const ExactSeries& each : series) {
    text += key_text(each.key);
    for (const auto& [name, value] : each.quantities) text += fmt::format("\t{}", value);
    text += "\t" + each.highest + "\n";
    parts += key_text(each.key) + "\n";
    for (const ExactPart& part : each.parts)
      parts +=
          fmt::format("\t{}\t{}\t{}\t{}\t{}\t{}\n", part.scope, part.moves ? "moves" : "computes",
                      part.op, part.calls, part.bytes, part.flop);
  }
  write_file(folder / quantities_file, text);
  write_file(folder / parts_file, parts);
}

std::vector<ExactSeries> read_exact(const std::filesystem::path& folder) {
  std::vector<ExactSeries> all;
  Lines lines(folder / quantities_file);
  if (!lines.is_there()) return all;
  Words header;
  if (!lines.next(header)) return all;
  lines.need(header.size() > key_fields && header[0] == "scenario",
             "expected the names of the columns");
  for (Words words; lines.next(words);) {
    lines.need(words.size() == header.size(),
               fmt::format("expected {} fields, found {}", header.size(), words.size()));
    ExactSeries series;
    series.key = lines.key(words);
    for (const ExactSeries& each : all)
      lines.need(each.key != series.key, exact_title(series.key) + " a second time");
    for (std::size_t i = key_fields; i + 1 < words.size(); ++i)
      series.quantities.emplace_back(header[i], lines.number(words[i]));
    series.highest = words.back();
    all.push_back(std::move(series));
  }
  read_parts(folder / parts_file, all);
  return all;
}

}  // namespace shardlab
