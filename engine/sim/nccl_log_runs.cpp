#include "engine/sim/nccl_log_runs.h"

#include "engine/core/check.h"

namespace shardlab::sim {
namespace {

constexpr std::size_t most_runs = 1000;

}  // namespace

void NcclRuns::add(const NcclRow& row, std::string_view dtype, std::string_view redop,
                   std::int64_t root, const std::vector<std::string>& odds) {
  const int line = row.line;
  const bool same = run_.dtype == dtype && run_.redop == redop && run_.root == root;
  const bool again = reading() && row.bytes < run_.rows.back().bytes;
  const bool untitled = ended_ || (same && again);
  if (ended_ || again || !same) finish(line);
  if (!reading()) {
    run_.line = line;
    run_.dtype = plain(dtype);
    run_.redop = plain(redop);
    run_.root = root;
  }
  run_.rows.push_back(row);
  if (untitled) odd(line, "sizes start again without a header: taken as another run");
  for (const std::string& text : odds) odd(line, text);
}

void NcclRuns::odd(int line, std::string text) {
  note(reading() ? run_.oddities : log_.oddities, line, std::move(text));
}

void NcclRuns::suspect(Symptom symptom, int line, std::string text) {
  run_.suspicions.push_back({symptom, line, std::move(text)});
}

void NcclRuns::finish(int line) {
  if (!reading()) return;
  check(log_.runs.size() < most_runs, "{}: more than {} runs in one file", place(log_.name, line),
        most_runs);
  run_.collective = header.collective;
  run_.version = header.version;
  run_.gpu = header.gpu;
  run_.announced_least = header.announced_least;
  run_.announced_most = header.announced_most;
  const auto listed = static_cast<int>(header.listed.size());
  if (listed == 0 || *header.listed.rbegin() == listed - 1) {
    run_.listed_ranks = listed;
    run_.hosts = static_cast<int>(header.hosts.size());
  } else {
    odd(run_.line, fmt::format("the list of ranks has {} lines up to rank {}: it is not used",
                               listed, *header.listed.rbegin()));
  }
  if (header.cpu_times)
    suspect(Symptom::cpu_times, run_.line,
            "the table holds CPU times of the call, not times of completion");
  if (!ended_) odd(line, "the run has no footer: it may be cut");
  examine(run_, average);
  log_.runs.push_back(std::move(run_));
  run_ = NcclRun();
  average.reset();
  ended_ = false;
}

}  // namespace shardlab::sim
