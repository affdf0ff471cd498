#include "tools/probe_store.h"

#include <filesystem>

#include "engine/core/check.h"
#include "engine/sim/machine_toml.h"
#include "results/query.h"
#include "results/store.h"
#include "tools/build_info.h"
#include "tools/environment.h"

namespace shardlab {
namespace {

constexpr const char* scenario = "probe";

}  // namespace

void store_probe(const Probed& probed, const std::string& database, const std::string& command) {
  const BuildInfo build = build_info();
  results::RunHeader header;
  header.series.scenario = scenario;
  header.environment = this_environment();
  header.commit = build.commit;
  header.dirty = build.dirty;
  header.command = command;
  header.variables = this_variables();
  header.layouts = sim::to_toml(probed.machine);
  results::Store store(database);
  const results::RunId run = store.start_run(header);
  store.finish_run(run, results::RunStatus::complete);
}

sim::Machine newest_probe(const std::string& database) {
  const std::string processor = this_environment().processor;
  if (std::filesystem::exists(database)) {
    const results::Reader reader = results::open_for_reading(database);
    results::RunFilter filter;
    filter.scenario = scenario;
    for (const results::RunInfo& info : results::list_runs(reader, filter)) {
      if (info.status != results::RunStatus::complete) continue;
      const results::StoredRun run = results::read_run(reader, info.id);
      if (run.header.environment.processor != processor) continue;
      return sim::read_machine(
          {"this-cpu", fmt::format("{}, run {}", database, info.id.value), run.header.layouts});
    }
  }
  fail(Fault::unsupported, "this-cpu: {} holds no probe of {}: run `shardlab probe --db {}`",
       database, processor, database);
}

}  // namespace shardlab
