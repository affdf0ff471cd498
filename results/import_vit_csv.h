#pragma once

#include "results/csv.h"
#include "results/imported.h"

namespace shardlab::results {

[[nodiscard]] bool is_vit_csv(const std::vector<CsvRow>& rows);

/// Reads the CSV of the vision transformer benchmark of PhysicsNeMo: an inference and a training
/// run a row. Number of GPUs, dimensions and element type stand in the name of the file only, as in
/// `benchmark_results_1bs_2d_FP32_8dp_1ddp_1024-1024px.csv`; `options` says them for other names.
///
/// Rows whose number of parameters is that of the model as it comes have the parameters of the
/// scenario `vit`, so that they stand beside its runs and predictions.
///
/// Errors   invalid with file and line: neither the name nor `options` says mesh and dtype; a
///          number is none.
[[nodiscard]] Imported read_vit_csv(const std::vector<CsvRow>& rows, const std::string& name,
                                    const ImportOptions& options);

}  // namespace shardlab::results
