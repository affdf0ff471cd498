#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/core/scenario.h"
#include "results/page.h"
#include "results/plot_scaling.h"
#include "results/reader.h"
#include "results/run.h"

namespace shardlab {

/// What a report shows of a database.
struct ReportChoice {
  std::string series;  ///< Words that the title or the parameters of a problem hold; empty: all.
  bool published = false;  ///< Published problems also where no run is of them.
  int detailed = 12;       ///< Problems with timelines and waterfalls, the newest.
};

/// Everything that plots are made of.
class ReportData {
 public:
  ReportData(const Scenarios& scenarios, const results::Reader& reader, const ReportChoice& choice);

  /// The newest first.
  [[nodiscard]] const std::vector<results::Problem>& problems() const { return problems_; }

  /// Runs of a problem with a timeline: of measured ones that of most ranks, and of predicted ones.
  [[nodiscard]] std::vector<results::RunId> traced(const results::Problem& problem) const;

  [[nodiscard]] std::optional<results::Plot> scaling(const results::Problem& problem) const;
  [[nodiscard]] std::optional<results::Plot> memory(const results::Problem& problem) const;

  /// A table of what runs hold that timed no step, such as those of `gate-test`.
  [[nodiscard]] std::optional<results::Plot> metrics(const results::Problem& problem) const;
  [[nodiscard]] std::optional<results::Plot> timeline(results::RunId run) const;

  /// Errors   Error{unsupported}: no run on one rank to compare with.
  [[nodiscard]] results::Plot waterfall(results::RunId run) const;

  [[nodiscard]] results::Page page(const std::string& title) const;

 private:
  const results::Reader& reader_;
  ReportChoice choice_;
  std::vector<results::Curve> curves_;
  std::vector<results::Problem> problems_;
};

}  // namespace shardlab
