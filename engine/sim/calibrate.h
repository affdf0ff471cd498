#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sim/machine.h"
#include "engine/sim/nccl.h"
#include "engine/sim/nccl_log.h"

namespace shardlab::sim {

/// One size of a log beside what is predicted for it.
///
/// Units    Bytes as nccl-tests counts them, seconds.
struct ComparedRow {
  double bytes = 0;
  double measured = 0;
  double predicted = 0;  ///< By `choose`, `all_to_all` or `exchange` alone.
  double corrected = 0;  ///< With what the other logs of the fabric ask for, else as predicted.
  int others = 0;        ///< Logs that the correction rests on; 0: none.
};

/// A measured log of one collective beside its prediction.
struct ComparedLog {
  std::string name;    ///< File, as messages print it.
  std::string fabric;  ///< Logs correct each other within one fabric only.
  std::string collective;
  Group group;
  std::vector<ComparedRow> rows;
};

/// Where the ranks of a run lie on a machine, `ranks` (0: as the log shows) and `hosts` (0: as it
/// lists, else as few as hold them) being stated beside the log.
///
/// Errors   Error{invalid} naming file and line: unknown or contradicted ranks, uneven domains.
[[nodiscard]] Group group_of(const NcclRun& run, std::string_view file, const Wires& wires,
                             int ranks, int hosts);

/// A run beside its predictions.
[[nodiscard]] ComparedLog compared(const NcclRun& run, std::string_view file, const Wires& wires,
                                   const Group& group, std::string_view fabric);

/// Refuses a run that shows a fault, or that at its largest size reaches less than 0.4 of what the
/// wires should. A run that is slow for any hardware passes where it reaches half of what these
/// wires should.
///
/// Errors   Error{invalid} naming file, line and reason.
void refuse_faults(const NcclRun& run, const ComparedLog& log);

/// Why a curve may not correct anything: a larger size that takes less time, or a rate that falls;
/// empty for a monotone one.
[[nodiscard]] std::string not_monotone(const ComparedLog& log);

/// What measured times ask predictions to be multiplied by.
struct Correction {
  double factor = 1;
  int logs = 0;  ///< 0: nothing is known, the factor is 1.
};

/// The median over the logs of measured by predicted, on log-log lines that reach a factor of 4
/// beyond their ends; only where at least two monotone logs agree within 1.5.
[[nodiscard]] Correction correction_at(std::span<const ComparedLog* const> logs, double bytes);

/// Corrects every log by the others of its fabric and collective.
void correct_from_others(std::vector<ComparedLog>& logs);

/// Curves for the machine that the logs were measured on.
///
/// Own logs become curves of their groups. Where logs correct each other, other groups of the same
/// fabric get derived curves: powers of two in a domain, or domains up to twice those measured.
/// all_to_all curves count the parts of all ranks, as traces do.
[[nodiscard]] std::vector<CollectiveCurve> curves_of(const std::vector<ComparedLog>& logs,
                                                     const Wires& wires, bool own);

}  // namespace shardlab::sim
