#include "tests/engine/sim/nccl_table.h"

#include <fmt/format.h>

namespace shardlab::sim {
namespace {

std::string half(const TableCase& table, long long bytes, double microseconds,
                 const std::string& wrong) {
  const double algbw = static_cast<double>(bytes) / microseconds * 1e-3;
  return fmt::format(" {:8.2f} {:7.2f} {:7.2f} {:>6}", microseconds, algbw, algbw * table.factor,
                     wrong);
}

}  // namespace

std::string table_titles() {
  return "#\n"
         "#                                out-of-place             in-place\n"
         "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
         "#   (B)  (elements)                (us) (GB/s) (GB/s)         (us) (GB/s) (GB/s)\n";
}

std::string table_line(const TableCase& table, const TableRow& row) {
  std::string line = fmt::format("{:12} {:12} float {:>6} -1", row.bytes,
                                 row.bytes / 4 / table.parts, table.redop);
  line += half(table, row.bytes, row.microseconds, table.wrong);
  if (row.in_place > 0) line += half(table, row.bytes, row.in_place, table.in_place_wrong);
  return line + "\n";
}

std::string table_text(const TableCase& table) {
  std::string text = table_titles();
  for (const TableRow& row : table.rows) text += table_line(table, row);
  return text + "# Out of bounds values : 0 OK\n";
}

std::string device_list(int ranks, int per_host) {
  std::string text = "# Using devices\n";
  for (int rank = 0; rank < ranks; ++rank)
    text += fmt::format(
        "#  Rank {:2} Group  0 Pid {:6} on      box{} device {:2} [0000:{:02x}:00] "
        "NVIDIA Test GPU 80GB\n",
        rank, 100 + rank, rank / per_host, rank % per_host, rank % per_host);
  return text;
}

std::vector<TableRow> smooth_rows(double latency_us, double rate) {
  std::vector<TableRow> rows;
  for (long long bytes = 1024; bytes <= (1LL << 30); bytes *= 4) {
    const double microseconds = latency_us + static_cast<double>(bytes) / rate * 1e6;
    rows.push_back({bytes, microseconds, microseconds});
  }
  return rows;
}

}  // namespace shardlab::sim
