#include "engine/sim/gpu_matrix.h"

#include <algorithm>
#include <array>
#include <map>

#include "engine/core/check.h"

namespace shardlab::sim {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::size_t most_devices = 1024;

struct Symbol {
  const char* name;
  MatrixLink link;
};

constexpr std::array symbols{
    Symbol{"X", MatrixLink::self},  Symbol{"NV", MatrixLink::nvlink},
    Symbol{"PIX", MatrixLink::pix}, Symbol{"PXB", MatrixLink::pxb},
    Symbol{"PHB", MatrixLink::phb}, Symbol{"NODE", MatrixLink::node},
    Symbol{"SYS", MatrixLink::sys}, Symbol{"SOC", MatrixLink::sys},
};

std::optional<MatrixCell> cell_of(std::string_view word) {
  if (word.starts_with("NV")) {
    const auto count = whole_number(word.substr(2));
    if (!count || *count < 1 || *count > 1000) return std::nullopt;
    return MatrixCell{MatrixLink::nvlink, static_cast<int>(*count)};
  }
  for (const Symbol& symbol : symbols)
    if (word == symbol.name) return MatrixCell{symbol.link, 0};
  return std::nullopt;
}

bool numbered(std::string_view word, std::string_view prefix) {
  return word.starts_with(prefix) && whole_number(word.substr(prefix.size())).value_or(-1) >= 0;
}

bool names_gpu(std::string_view word) { return numbered(word, "GPU"); }

/// Older drivers name network devices by their ports.
bool names_device(std::string_view word) {
  return names_gpu(word) || numbered(word, "NIC") || word.starts_with("mlx4_") ||
         word.starts_with("mlx5_") || word.starts_with("bnxt_re") || word.starts_with("irdma") ||
         word.starts_with("efa_");
}

std::string text_of(MatrixCell cell) {
  return cell.link == MatrixLink::nvlink ? fmt::format("NV{}", cell.nvlinks) : name_of(cell.link);
}

bool farther(MatrixCell a, MatrixCell b) {
  return a.link != b.link ? a.link > b.link : a.nvlinks < b.nvlinks;
}

}  // namespace

const char* name_of(MatrixLink link) noexcept {
  for (const Symbol& symbol : symbols)
    if (symbol.link == link) return symbol.name;
  return "unknown";
}

/// Reads one matrix, line by line.
class MatrixReader {
 public:
  explicit MatrixReader(std::string_view name) : name_(name) {}

  GpuMatrix read(std::string_view text);

 private:
  void read_line(const Words& words);
  void read_titles(const Words& words);
  void close_titles();
  void read_row(const Words& words);
  void continue_row(const Words& words);
  void close_row();
  void read_affinity(const Words& words);
  void read_legend(const Words& words);
  void mirror();
  void look_at_nics();
  void odd(int line, std::string text) { note(matrix_.oddities_, line, std::move(text)); }
  MatrixCell& cell(std::size_t row, std::size_t column) {
    return matrix_.cells_[row * matrix_.devices_.size() + column];
  }

  std::string name_;
  GpuMatrix matrix_;
  std::map<std::string, std::size_t, std::less<>> places_;
  std::vector<int> row_lines_;  ///< 0 for a row that is not there.
  std::size_t row_ = 0;         ///< The row that is being read, and how many cells it has.
  std::size_t filled_ = 0;
  bool in_row_ = false;
  bool has_affinity_ = false;
  bool has_numa_ = false;
  bool titles_open_ = true;  ///< Only lines of titles so far.
  bool ended_ = false;       ///< A second matrix began.
  bool legend_ = false;
  bool ports_ = false;
  int line_ = 0;
};

GpuMatrix MatrixReader::read(std::string_view text) {
  for (Lines lines(text); lines.next() && !ended_;) {
    line_ = lines.number();
    if (lines.too_long()) odd(line_, "a line of more than 64 KiB is not read");
    const Words words = words_of(lines.text());
    if (!words.empty()) read_line(words);
  }
  close_row();
  check(!matrix_.devices_.empty(),
        "{}: no matrix of `nvidia-smi topo -m` found: no line of names "
        "such as GPU0 GPU1",
        name_);
  check(std::any_of(row_lines_.begin(), row_lines_.end(), [](int line) { return line > 0; }),
        "{}: the matrix has names of {} devices but no row", place(name_, line_),
        matrix_.devices_.size());
  mirror();
  look_at_nics();
  return std::move(matrix_);
}

void MatrixReader::read_line(const Words& words) {
  const bool titles =
      names_device(words[0]) && (words.size() == 1 || names_device(words[1]) || words[1] == "CPU");
  const bool cut_row = words.size() == 1 && (!titles_open_ || places_.count(words[0]) > 0);
  if (titles && !cut_row) {
    if (titles_open_) return read_titles(words);
    odd(line_, "a second matrix begins: it is not read");
    ended_ = true;
  } else if (has(words[0], "Legend")) {
    legend_ = true;
    close_row();
  } else if (words[0] == "NIC" && words.size() > 1 && has(words[1], "Legend")) {
    ports_ = true;
    close_row();
  } else if (words.size() > 1 && words[0].ends_with(':')) {
    read_legend(words);
  } else if (words.size() > 1 && words[1] == "=") {
    legend_ = true;
  } else if (matrix_.devices_.empty()) {
    return;
  } else if (names_device(words[0])) {
    read_row(words);
  } else if (in_row_ && filled_ < matrix_.devices_.size() && cell_of(words[0])) {
    odd(line_, fmt::format("taken as the rest of the row of {}", matrix_.devices_[row_].name));
    continue_row(words);
  } else if (titles_open_ && (words[0] == "CPU" || words[0] == "NUMA" || words[0] == "Affinity")) {
    read_titles(words);
  } else if (std::any_of(words.begin(), words.end(), cell_of)) {
    odd(line_,
        fmt::format("a row without a device that the first line names: {}", quote(words[0])));
  }
}

void MatrixReader::read_titles(const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!names_device(words[i])) {
      has_affinity_ = has_affinity_ || words[i] == "CPU";
      has_numa_ =
          has_numa_ || (words[i] == "NUMA" && i + 1 < words.size() && words[i + 1] == "Affinity");
      continue;
    }
    check(matrix_.devices_.size() < most_devices, "{}: more than {} devices", place(name_, line_),
          most_devices);
    check(places_.emplace(words[i], matrix_.devices_.size()).second, "{}: column {} is there twice",
          place(name_, line_), plain(words[i]));
    MatrixDevice device;
    device.name = plain(words[i]);
    device.gpu = names_gpu(words[i]);
    matrix_.devices_.push_back(std::move(device));
  }
}

void MatrixReader::close_titles() {
  if (!titles_open_) return;
  titles_open_ = false;
  matrix_.cells_.assign(matrix_.devices_.size() * matrix_.devices_.size(), MatrixCell());
  row_lines_.assign(matrix_.devices_.size(), 0);
}

void MatrixReader::read_row(const Words& words) {
  close_row();
  close_titles();
  const auto found = places_.find(words[0]);
  if (found == places_.end())
    return odd(line_, fmt::format("the row of {} has no column: it is left out", quote(words[0])));
  if (row_lines_[found->second] > 0)
    return odd(line_, fmt::format("a second row of {} is left out", plain(words[0])));
  row_ = found->second;
  row_lines_[row_] = line_;
  filled_ = 0;
  in_row_ = true;
  continue_row(Words(words.begin() + 1, words.end()));
}

void MatrixReader::continue_row(const Words& words) {
  const std::size_t size = matrix_.devices_.size();
  std::size_t i = 0;
  for (; i < words.size() && filled_ < size; ++i, ++filled_) {
    const auto found = cell_of(words[i]);
    if (found) {
      cell(row_, filled_) = *found;
      continue;
    }
    const bool paired = words[i] == "OK" || words[i] == "NS" || words[i] == "CNS";
    if (paired || words[i] == "XGMI" || words[i] == "PCIE")
      fail(Fault::unsupported,
           "{}: {} belongs to a matrix of another tool or option; expected "
           "that of `nvidia-smi topo -m`",
           place(name_, line_), plain(words[i]));
    // Where a cell is lost the affinities follow too early; a broken cell stands between links.
    const bool more = std::any_of(words.begin() + static_cast<std::ptrdiff_t>(i), words.end(),
                                  [](std::string_view word) { return cell_of(word).has_value(); });
    if (!more) break;
    odd(line_, fmt::format("{} between {} and {} is no link", quote(words[i]),
                           matrix_.devices_[row_].name, matrix_.devices_[filled_].name));
  }
  if (filled_ < size) return;
  const Words rest(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
  if (std::any_of(rest.begin(), rest.end(),
                  [](std::string_view word) { return cell_of(word).has_value(); }))
    odd(line_, fmt::format("the row of {} has more links than there are devices",
                           matrix_.devices_[row_].name));
  else
    read_affinity(rest);
}

void MatrixReader::read_affinity(const Words& words) {
  MatrixDevice& device = matrix_.devices_[row_];
  std::size_t at = 0;
  if (has_affinity_ && at < words.size()) device.cpus = plain(words[at++]);
  if (!has_numa_ || at >= words.size()) return;
  if (const auto numa = whole_number(words[at]); numa && *numa >= 0 && *numa < 100'000)
    device.numa = static_cast<int>(*numa);
}

void MatrixReader::close_row() {
  if (in_row_ && filled_ < matrix_.devices_.size())
    odd(row_lines_[row_],
        fmt::format("the row of {} is cut: {} of {} links", matrix_.devices_[row_].name, filled_,
                    matrix_.devices_.size()));
  in_row_ = false;
}

void MatrixReader::read_legend(const Words& words) {
  const auto found = places_.find(words[0].substr(0, words[0].size() - 1));
  if (found == places_.end()) return;
  ports_ = true;
  matrix_.devices_[found->second].port = plain(words[1]);
}

void MatrixReader::mirror() {
  const std::vector<MatrixDevice>& devices = matrix_.devices_;
  for (std::size_t row = 0; row < devices.size(); ++row) {
    if (row_lines_[row] == 0)
      odd(0, fmt::format("the row of {} is missing: its column is used", devices[row].name));
    if (MatrixCell& own = cell(row, row); own.link != MatrixLink::self) {
      if (own.link != MatrixLink::unknown)
        odd(row_lines_[row], fmt::format("{} with itself is {} instead of X: shifted by a lost "
                                         "word?",
                                         devices[row].name, text_of(own)));
      own = {MatrixLink::self, 0};
    }
    for (std::size_t column = 0; column < row; ++column) {
      MatrixCell& a = cell(row, column);
      MatrixCell& b = cell(column, row);
      const bool a_known = a.link != MatrixLink::unknown && a.link != MatrixLink::self;
      const bool b_known = b.link != MatrixLink::unknown && b.link != MatrixLink::self;
      if (a_known && b_known && a != b)
        odd(row_lines_[row],
            fmt::format("{} with {} is {}, the other way round {}: the farther one is used",
                        devices[row].name, devices[column].name, text_of(a), text_of(b)));
      if (!a_known && !b_known) {
        a = b = MatrixCell();
        odd(row_lines_[row], fmt::format("nothing says how {} and {} are joined", devices[row].name,
                                         devices[column].name));
      } else {
        a = b = !a_known ? b : !b_known || farther(a, b) ? a : b;
      }
    }
  }
}

void MatrixReader::look_at_nics() {
  if (!legend_ && !ports_) odd(0, "the legend is missing: the matrix may be cut");
  const bool unnamed =
      std::any_of(matrix_.devices_.begin(), matrix_.devices_.end(), [](const MatrixDevice& device) {
        return numbered(device.name, "NIC") && device.port.empty();
      });
  if (unnamed) odd(0, "the NIC legend is missing: which port each NIC is stays unknown");
  if (matrix_.nics() < 2 || matrix_.gpus() < 2) return;
  std::optional<MatrixCell> first;
  for (std::size_t gpu = 0; gpu < matrix_.devices_.size(); ++gpu)
    for (std::size_t nic = 0; nic < matrix_.devices_.size(); ++nic) {
      if (!matrix_.devices_[gpu].gpu || matrix_.devices_[nic].gpu) continue;
      if (!first) first = cell(gpu, nic);
      if (cell(gpu, nic) != *first) return;
    }
  odd(0, fmt::format("every NIC is {} from every GPU: as a virtual machine sees it, perhaps",
                     text_of(*first)));
}

GpuMatrix GpuMatrix::read(std::string_view text, std::string_view name) {
  return MatrixReader(name).read(text);
}

int GpuMatrix::gpus() const {
  return static_cast<int>(std::count_if(devices_.begin(), devices_.end(),
                                        [](const MatrixDevice& device) { return device.gpu; }));
}

std::vector<std::size_t> GpuMatrix::nearest_nics(std::size_t gpu) const {
  std::vector<std::size_t> nearest;
  for (std::size_t nic = 0; nic < devices_.size(); ++nic) {
    if (devices_[nic].gpu || nic == gpu) continue;
    if (!nearest.empty() && farther(between(gpu, nearest[0]), between(gpu, nic))) nearest.clear();
    if (nearest.empty() || between(gpu, nic) == between(gpu, nearest[0])) nearest.push_back(nic);
  }
  return nearest;
}

}  // namespace shardlab::sim
