#include "results/import_vit_csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "engine/core/check.h"

namespace shardlab::results {
namespace {

/// What the name of the file says.
struct Setting {
  int dimensions = 2;
  std::int64_t replicas = 1;
  std::string mesh;
  std::string dtype;
};

std::string plain_head(std::string_view head) {
  std::string plain;
  for (const char c : head)
    if (c != ' ' && c != '\t' && c != '\n')
      plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  return plain;
}

std::size_t column(const CsvRow& header, std::string_view head) {
  std::size_t at = 0;
  while (at < header.cells.size() && plain_head(header.cells[at]) != head) ++at;
  return at;
}

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (c == '_')
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

/// The number from 1 that stands before a unit, as in `8dp`.
std::optional<int> count_before(std::string_view word, std::string_view unit) {
  if (!word.ends_with(unit)) return std::nullopt;
  word.remove_suffix(unit.size());
  int value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool ok = error == std::errc() && end == word.data() + word.size() && value >= 1;
  return ok && value <= 1'000'000 ? std::optional(value) : std::nullopt;
}

Setting setting_of(const std::string& name, const ImportOptions& options) {
  Setting setting;
  const std::vector<std::string> words = words_of(name.substr(name.rfind('/') + 1));
  for (std::size_t i = 2; i + 1 < words.size(); ++i) {
    const auto domain = count_before(words[i], "dp");
    const auto replicas = count_before(words[i + 1], "ddp");
    if (!domain || !replicas) continue;
    setting.dimensions = count_before(words[i - 2], "d") == 3 ? 3 : 2;
    const std::string precision = plain_head(words[i - 1]);
    setting.dtype = precision == "fp32"   ? "float32"
                    : precision == "fp16" ? "float16"
                    : precision == "bf16" ? "bfloat16"
                                          : precision;
    setting.replicas = *replicas;
    setting.mesh = fmt::format("domain={}", *domain);
    if (*replicas > 1) setting.mesh = fmt::format("data={},", *replicas) + setting.mesh;
  }
  if (!options.mesh.empty()) setting.mesh = options.mesh;
  if (!options.dtype.empty()) setting.dtype = options.dtype;
  check(!setting.mesh.empty() && !setting.dtype.empty(),
        "{}: its name does not say how many GPUs ran it in what precision, as "
        "benchmark_results_1bs_2d_FP32_8dp_1ddp_1024-1024px.csv does: give --mesh and --dtype",
        name);
  return setting;
}

/// Parameters of the model as it comes, on images of so many pixels along each dim: a table of
/// positions of 768 a patch of 8, and 114,324,712 others; the stem of the third dim is wider.
std::int64_t usual_parameters(std::int64_t size, int dimensions) {
  std::int64_t patches = 1;
  for (int d = 0; d < dimensions; ++d) patches *= size / 8;
  const std::int64_t others = 114'324'712 + (dimensions == 3 ? 768 * 3 * (512 - 64) : 0);
  return others + 768 * patches;
}

class Reader {
 public:
  Reader(const std::vector<CsvRow>& rows, const std::string& name, const ImportOptions& options)
      : rows_(rows), name_(name), setting_(setting_of(name, options)) {
    result_.format = "ViT benchmark CSV";
  }

  Imported read() {
    for (std::size_t i = 1; i < rows_.size(); ++i) {
      add(rows_[i], false);
      add(rows_[i], true);
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string cell(const CsvRow& row, std::string_view head) const {
    const std::size_t at = column(rows_[0], head);
    std::string text = at < row.cells.size() && at < rows_[0].cells.size() ? row.cells[at] : "";
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.pop_back();
    while (!text.empty() && text.front() == ' ') text.erase(0, 1);
    return text;
  }

  [[nodiscard]] double number(const CsvRow& row, std::string_view head) const {
    const std::string text = cell(row, head);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    check(error == std::errc() && end == text.data() + text.size(), "{}:{}: {} '{}' is no number",
          name_, row.line, head, text.substr(0, 40));
    return value;
  }

  [[nodiscard]] std::int64_t count(const CsvRow& row, std::string_view head) const {
    const double value = number(row, head);
    check(value >= 1 && value <= 1e12 && value == std::floor(value),
          "{}:{}: {} {} is no whole number from 1", name_, row.line, head, value);
    return static_cast<std::int64_t>(value);
  }

  std::string parameters_of(const CsvRow& row, std::int64_t batch) {
    const std::int64_t size = count(row, "size(px)");
    check(size <= 1'000'000, "{}:{}: an image of {} pixels", name_, row.line, size);
    std::map<std::string, std::string> parameters{{"size", std::to_string(size)},
                                                  {"batch", std::to_string(batch)}};
    for (int d = 1; d < setting_.dimensions; ++d) parameters["size"] += fmt::format("x{}", size);
    const std::string model = cell(row, "params");
    if (model == std::to_string(usual_parameters(size, setting_.dimensions))) {
      parameters.merge(std::map<std::string, std::string>{{"patch", "8"},
                                                          {"channels", "3"},
                                                          {"width", "768"},
                                                          {"heads", "6"},
                                                          {"depth", "16"},
                                                          {"mlp-ratio", "4"},
                                                          {"classes", "1000"},
                                                          {"learning-rate", "0.001"},
                                                          {"weight-decay", "0.05"}});
    } else {
      parameters["model-parameters"] = model;
    }
    return parameters_text(parameters);
  }

  void add(const CsvRow& row, bool train) {
    const std::string time = cell(row, train ? "train(s)" : "fwd(s)");
    if (time == "N/A" || (time.empty() && train)) return;
    StoredRun run = imported_run(Execution::cuda, "pytorch-shardtensor");
    SeriesKey& series = run.header.series;
    const std::int64_t batch = count(row, "globalbs");
    series.scenario = "vit";
    series.parameters = parameters_of(row, batch);
    series.dtype = setting_.dtype;
    series.train = train;
    series.mesh = setting_.mesh;
    if (time == "OOM" || time == "inf") {
      run.status = RunStatus::skipped;
      run.reason = "out of memory";
    } else if (batch < setting_.replicas) {
      run.status = RunStatus::skipped;
      run.reason =
          fmt::format("a batch of {} leaves some of {} replicas empty", batch, setting_.replicas);
    } else {
      add_samples(run, step_seconds(), {number(row, train ? "train(s)" : "fwd(s)")});
      const char* const memory = train ? "trainmem(gb)" : "inf.mem(gb)";
      // Called GB, but divided by 1024 three times.
      if (!cell(row, memory).empty())
        add_samples(run, allocated_peak_bytes(),
                    {std::round(number(row, memory) * 1024 * 1024 * 1024)});
    }
    result_.runs.push_back(std::move(run));
  }

  const std::vector<CsvRow>& rows_;
  const std::string& name_;
  Setting setting_;
  Imported result_;
};

}  // namespace

bool is_vit_csv(const std::vector<CsvRow>& rows) {
  if (rows.empty()) return false;
  for (const char* head : {"size(px)", "globalbs", "fwd(s)"})
    if (column(rows[0], head) == rows[0].cells.size()) return false;
  return true;
}

Imported read_vit_csv(const std::vector<CsvRow>& rows, const std::string& name,
                      const ImportOptions& options) {
  return Reader(rows, name, options).read();
}

}  // namespace shardlab::results
