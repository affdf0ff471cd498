#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/comparison.h"
#include "results/plot.h"

namespace shardlab::results {

/// Plots under one title.
struct Section {
  std::string title = {};
  std::string about = {};  ///< One line under it.
  std::vector<Plot> plots = {};
};

/// What a report holds.
struct Page {
  std::string title = {};
  std::vector<std::pair<std::string, std::string>> facts = {};
  std::optional<Comparison> comparison = {};
  std::vector<Section> sections = {};
  Twin runs = {};  ///< All of them, below the sections.
};

/// Most bytes of a page; sections that do not fit keep their tables only, then not even these, and
/// the page says so.
inline constexpr std::size_t most_page = 4'800'000;

/// A page in one file that needs no other, no script and no network; every text of it is escaped.
[[nodiscard]] std::string page_of(const Page& page);

}  // namespace shardlab::results
