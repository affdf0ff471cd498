#pragma once

#include <string>
#include <vector>

namespace shardlab::sim {

/// A size of a made-up run and how long its two halves took; 0 leaves the in-place half out.
struct TableRow {
  long long bytes = 0;
  double microseconds = 0;
  double in_place = 0;
};

/// A made-up run of nccl-tests.
struct TableCase {
  int ranks = 8;
  std::string redop = "sum";
  double factor = 1.75;  ///< busbw by algbw; of an all_reduce of 8 ranks.
  int parts = 1;         ///< Size by count, in elements.
  std::string wrong = "0";
  std::string in_place_wrong = "0";
  std::vector<TableRow> rows;
};

/// The titles of a table as nccl-tests prints them.
[[nodiscard]] std::string table_titles();

/// One line of a table.
[[nodiscard]] std::string table_line(const TableCase& table, const TableRow& row);

/// Titles, rows and footer.
[[nodiscard]] std::string table_text(const TableCase& table);

/// The list of devices: ranks on hosts of so many.
[[nodiscard]] std::string device_list(int ranks, int per_host);

/// Rows from 1 KiB to 1 GiB by factors of four that take `latency` and move `rate` bytes/s.
[[nodiscard]] std::vector<TableRow> smooth_rows(double latency_us = 20, double rate = 200e9);

}  // namespace shardlab::sim
