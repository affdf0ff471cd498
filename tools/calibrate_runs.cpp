#include "tools/calibrate_runs.h"

#include <map>
#include <nlohmann/json.hpp>

#include "engine/core/check.h"
#include "tools/table.h"

namespace shardlab {
namespace {

constexpr int least_samples = 3;

std::string numbers_of(const std::vector<std::int64_t>& runs) {
  return fmt::format("run{} {}", runs.size() == 1 ? "" : "s", fmt::join(runs, ", "));
}

std::string days_of(const MeasuredRuns& found) {
  return found.first_day == found.last_day ? found.first_day
                                           : found.first_day + " to " + found.last_day;
}

std::string subject_of(const sim::KernelFit& fit) {
  if (fit.family == sim::Family::pointwise) return sim::name_of(fit.family);
  return fmt::format("{} {}", sim::name_of(fit.family), name_of(fit.precision));
}

std::string size_text(const sim::KernelFit& fit, double size) {
  return fit.family == sim::Family::pointwise ? show_bytes(size) : show_flop(size);
}

std::string percent(const std::optional<double>& error) {
  return error ? show_percent(*error) : "-";
}

/// Sizes that correct: how many, their samples, first and last.
struct Used {
  int sizes = 0;
  int samples = 0;
  double first = 0;
  double last = 0;
};

Used used_by(const sim::KernelFit& fit) {
  Used used;
  for (const sim::FittedSize& size : fit.sizes) {
    if (!size.left.empty()) continue;
    if (used.sizes++ == 0) used.first = size.size;
    used.last = size.size;
    used.samples += size.samples;
  }
  return used;
}

/// Sizes that correct nothing, those of one reason together.
std::string left_text(const sim::KernelFit& fit) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const sim::FittedSize& size : fit.sizes)
    if (!size.left.empty()) by_reason[size.left].push_back(size_text(fit, size.size));
  std::string text;
  for (const auto& [reason, sizes] : by_reason)
    text += fmt::format("  {} of {}: {}\n", subject_of(fit),
                        sizes.size() <= 3 ? fmt::format("{}", fmt::join(sizes, ", "))
                                          : fmt::format("{} sizes from {} to {}", sizes.size(),
                                                        sizes.front(), sizes.back()),
                        reason);
  return text;
}

std::string kernels_text(const RunCalibration& calibration) {
  Table table({"kernels", "sizes", "from", "to", "samples", "error", "corrected", "each left out",
               "interval"});
  std::string left;
  for (const sim::KernelFit& fit : calibration.kernels) {
    if (!fit.refused.empty()) {
      left += fmt::format("  {}: {}\n", subject_of(fit), fit.refused);
    } else {
      const Used used = used_by(fit);
      table.row({subject_of(fit), fmt::to_string(used.sizes), size_text(fit, used.first),
                 size_text(fit, used.last), fmt::to_string(used.samples), show_percent(fit.before),
                 show_percent(fit.after), percent(fit.left_out),
                 "+-" + show_percent(fit.curves.front().half_width)});
    }
    left += left_text(fit);
  }
  std::string text;
  if (!table.empty()) text += table.text() + "\n";
  if (!left.empty()) text += fmt::format("kernels that correct nothing:\n{}\n", left);
  return text;
}

std::string sizes_text(const RunCalibration& calibration) {
  Table table(
      {"kernels", "size", "samples", "measured", "ratio", "error", "corrected", "left out"});
  for (const sim::KernelFit& fit : calibration.kernels) {
    if (!fit.refused.empty()) continue;
    for (const sim::FittedSize& size : fit.sizes)
      if (size.left.empty())
        table.row({subject_of(fit), size_text(fit, size.size), fmt::to_string(size.samples),
                   show_seconds(size.seconds), fmt::format("{:.2f}", size.ratio),
                   show_percent(size.before), show_percent(size.after), percent(size.left_out)});
  }
  return table.empty() ? "" : table.text() + "\n";
}

std::string collectives_text(const RunCalibration& calibration) {
  Table table({"collective", "ranks", "probes", "from", "to", "error", "corrected", "each left out",
               "interval"});
  std::string left;
  for (const sim::CollectiveFit& fit : calibration.collectives) {
    const sim::CollectiveCurve& curve = fit.curve;
    if (!fit.refused.empty()) {
      left += fmt::format("  {} on {} ranks: {}\n", curve.collective, curve.ranks, fit.refused);
      continue;
    }
    table.row({curve.collective, fmt::to_string(curve.ranks), fmt::to_string(fit.measurements),
               show_bytes(curve.points.front().first), show_bytes(curve.points.back().first),
               fit.before ? show_percent(*fit.before) : "not known", show_percent(fit.after),
               percent(fit.left_out), "+-" + show_percent(curve.half_width)});
  }
  std::string text;
  if (!table.empty()) text += table.text() + "\n";
  if (!left.empty()) text += fmt::format("collectives that correct nothing:\n{}\n", left);
  return text;
}

}  // namespace

RunCalibration calibrate_by_runs(const std::string& database, const sim::Machine& machine,
                                 const std::vector<std::string>& chosen) {
  RunCalibration calibration;
  calibration.found = measured_runs(database, machine, chosen);
  const MeasuredRuns& found = calibration.found;
  calibration.kernels =
      sim::fit_kernels(machine, found.kernels, least_samples,
                       fmt::format("kernels of {} in {}, measured {}", numbers_of(found.runs),
                                   database, days_of(found)));
  std::vector<sim::CollectiveCurve> measured;
  std::vector<std::int64_t> probes;
  for (const auto& [run, probed] : found.probes) {
    probes.push_back(run);
    measured.insert(measured.end(), probed.collectives.begin(), probed.collectives.end());
  }
  calibration.collectives = sim::fit_collectives(
      machine, measured,
      fmt::format("probe, {} in {}, measured {}", numbers_of(probes), database, days_of(found)));
  const auto known = [](const sim::CollectiveFit& fit) {
    return fit.measurements == 1 && fit.before && *fit.before == 0;
  };
  if (std::erase_if(calibration.collectives, known) > 0)
    calibration.found.notes.push_back(fmt::format(
        "probe, {}: its collectives are those of {} already", numbers_of(probes), machine.name));
  for (const sim::KernelFit& fit : calibration.kernels)
    calibration.own.curves.insert(calibration.own.curves.end(), fit.curves.begin(),
                                  fit.curves.end());
  for (const sim::CollectiveFit& fit : calibration.collectives)
    if (fit.refused.empty()) calibration.own.collectives.push_back(fit.curve);
  if (calibration.own.curves.empty() && calibration.own.collectives.empty())
    fail(Fault::unsupported, "{}: nothing in it corrects {}\n{}{}", database, machine.name,
         kernels_text(calibration), fmt::join(found.notes, "\n"));
  return calibration;
}

std::string text_of(const RunCalibration& calibration, const sim::Machine& machine) {
  const MeasuredRuns& found = calibration.found;
  std::string text = fmt::format("{} corrected by what was measured on {}, {}\n", machine.name,
                                 found.environment.processor, days_of(found));
  if (!found.runs.empty()) text += fmt::format("  kernels of {}\n", numbers_of(found.runs));
  for (const auto& [run, probed] : found.probes) text += fmt::format("  probe, run {}\n", run);
  text += "errors are medians of |predicted / measured - 1|\n\n";
  text += sizes_text(calibration) + kernels_text(calibration) + collectives_text(calibration);
  for (const std::string& note : found.notes) text += note + "\n";
  return text;
}

nlohmann::json json_of(const RunCalibration& calibration, const sim::Machine& machine) {
  const auto or_null = [](const std::optional<double>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
  };
  nlohmann::json kernels = nlohmann::json::array();
  for (const sim::KernelFit& fit : calibration.kernels) {
    nlohmann::json sizes = nlohmann::json::array();
    for (const sim::FittedSize& size : fit.sizes)
      sizes.push_back({{"size", size.size},
                       {"samples", size.samples},
                       {"measured_seconds", size.seconds},
                       {"ratio", size.ratio},
                       {"error", size.before},
                       {"corrected_error", size.after},
                       {"left_out_error", or_null(size.left_out)},
                       {"not_used", size.left}});
    kernels.push_back({{"family", sim::name_of(fit.family)},
                       {"dtype", name_of(fit.precision)},
                       {"not_corrected", fit.refused},
                       {"sizes", sizes}});
  }
  nlohmann::json collectives = nlohmann::json::array();
  for (const sim::CollectiveFit& fit : calibration.collectives)
    collectives.push_back({{"collective", fit.curve.collective},
                           {"ranks", fit.curve.ranks},
                           {"probes", fit.measurements},
                           {"error", or_null(fit.before)},
                           {"corrected_error", fit.after},
                           {"left_out_error", or_null(fit.left_out)},
                           {"not_corrected", fit.refused}});
  return {{"machine", machine.name},
          {"runs", calibration.found.runs},
          {"kernels", kernels},
          {"collectives", collectives},
          {"notes", calibration.found.notes}};
}

}  // namespace shardlab
