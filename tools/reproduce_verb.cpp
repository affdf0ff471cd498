#include "tools/reproduce_verb.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/core/check.h"
#include "tools/reproduce_collectives.h"
#include "tools/reproduce_text.h"

namespace shardlab {

results::PublishedRows published_named(const std::string& name) {
  std::vector<std::string> known;
  for (const results::PublishedFile& file : results::published_files()) {
    if (name == file.name)
      return results::read_published(file.text, fmt::format("{}.csv", file.name));
    known.emplace_back(file.name);
  }
  known.emplace_back(collectives_name);
  fail(Fault::invalid, "no published rows of '{}': did you mean '{}'?", name, nearest(name, known));
}

Exit reproduce_verb(const Scenarios& scenarios, const Request& request) {
  std::vector<std::string> names = request.names;
  if (names.empty() || names == std::vector<std::string>{"all"}) {
    names.clear();
    for (const results::PublishedFile& file : results::published_files())
      names.emplace_back(file.name);
    names.emplace_back(collectives_name);
  }
  nlohmann::json all = nlohmann::json::array();
  for (const std::string& name : names) {
    if (name == collectives_name) {
      const std::vector<sim::PublishedLog> logs = published_collectives();
      if (request.json)
        all.push_back(json_of(logs));
      else
        print(logs);
      continue;
    }
    const results::PublishedRows published = published_named(name);
    const Reproduction reproduction = reproduce(scenarios, published);
    const MeasuredRows measured(scenarios, published, request.database);
    if (request.json)
      all.push_back(json_of(reproduction, measured));
    else
      print(reproduction, measured);
  }
  if (request.json) fmt::print("{}\n", all.dump(2));
  return Exit::fine;
}

}  // namespace shardlab
