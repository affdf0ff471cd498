#pragma once

#include <string>

#include "tools/request.h"

namespace shardlab {

struct ReportOptions {
  std::string output;  ///< The page.
  std::string svg;     ///< Pictures of one plot.
  std::string png;
  std::string plot = "scaling";  ///< Which one.
  std::string series;            ///< Words of a problem; empty: all, or the newest.
  std::string run;               ///< Of the timeline or the waterfall.
  std::string compare;           ///< What the results file is held against; empty: nothing.
  bool published = false;
};

/// A page of everything in a results file, and pictures of single plots.
Exit report_verb(const Scenarios& scenarios, const Request& request, const ReportOptions& options);

}  // namespace shardlab
