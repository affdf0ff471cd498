#include <gtest/gtest.h>

#include "engine/core/check.h"
#include "engine/dispatch/worker.h"
#include "scenarios/all.h"
#include "tools/check.h"
#include "tools/executions.h"
#include "tools/measure.h"
#include "tools/trace_ranks.h"

namespace shardlab {
namespace {

/// The switches of vit.
struct Switches {
  std::string checkpoint = "none";
  std::string storage = "whole";
};

const std::vector<Switches> all_switches{
    {"none", "whole"}, {"none", "sharded"}, {"blocks", "whole"}, {"blocks", "sharded"}};

/// Images of six rows of patches: domain=4 and domain=5 cut them unevenly, and 10 ranks find
/// parameters of fewer elements.
const std::vector<std::string> meshes{"domain=1", "domain=2",        "domain=3",
                                      "domain=4", "data=2,domain=2", "data=2,domain=5"};

struct Vit {
  Vit() { add_all_scenarios(scenarios); }

  [[nodiscard]] const Scenario& scenario() const { return scenarios.find("vit"); }

  [[nodiscard]] Params tiny(const Switches& switches, Dtype dtype = Dtype::float64) const {
    Params params = scenario().preset("tiny");
    params.train = true;
    params.precision.dtype = dtype;
    params.set("checkpoint", switches.checkpoint);
    params.set("storage", switches.storage);
    return params;
  }

  [[nodiscard]] Measurement step(const Execution& execution, const Params& params,
                                 const std::string& mesh) const {
    MeasureOptions options;
    options.launch.mesh = Mesh::parse(mesh);
    options.launch.precision = params.precision;
    options.iterations = 1;
    options.timeline = true;
    options.values = execution.name == cpu_execution().name;
    return measure(execution, scenario(), params, options);
  }

  Scenarios scenarios;
};

TEST(VitSwitches, EqualOneRankWithoutThemOnEveryMesh) {
  const Vit vit;
  const auto one_rank = [&](Dtype dtype) {
    return one_rank_values(cpu_execution(), vit.scenario(), vit.tiny({}), dtype);
  };
  const std::vector<NamedValues> reference = one_rank(Dtype::float64);
  for (const Dtype dtype : {Dtype::float64, Dtype::float32}) {
    const std::vector<NamedValues> beside = one_rank(dtype);
    for (const std::string& mesh : meshes)
      for (const Switches& switches : all_switches) {
        const Measurement found = vit.step(cpu_execution(), vit.tiny(switches, dtype), mesh);
        for (const results::Check& check : compare_values(found.values, reference, beside, dtype))
          EXPECT_TRUE(check.passed())
              << mesh << ", " << name_of(dtype) << ", " << switches.checkpoint << ", "
              << switches.storage << ": " << check.name << " " << check.error;
      }
  }
}

TEST(VitSwitches, CheckpointsChangeNoBitOfOutputsLossesAndGradients) {
  const Vit vit;
  for (const std::string& mesh : meshes)
    for (const char* storage : {"whole", "sharded"}) {
      const auto step = [&](const char* checkpoint) {
        return vit.step(cpu_execution(), vit.tiny({checkpoint, storage}), mesh);
      };
      const Measurement none = step("none");
      const Measurement blocks = step("blocks");
      EXPECT_EQ(blocks.losses, none.losses) << mesh;
      ASSERT_EQ(blocks.values.size(), none.values.size());
      for (std::size_t i = 0; i < none.values.size(); ++i)
        EXPECT_EQ(blocks.values[i].values, none.values[i].values)
            << mesh << ", " << none.values[i].name;
    }
}

TEST(VitSwitches, TakeTheSameStepsAndBytesWithoutDataAsOnRealRanks) {
  const Vit vit;
  for (const std::string& mesh : meshes)
    for (const Switches& switches : all_switches) {
      SCOPED_TRACE(mesh + ", " + switches.checkpoint + ", " + switches.storage);
      const Params params = vit.tiny(switches, Dtype::float32);
      const Measurement real = vit.step(cpu_execution(), params, mesh);
      const Measurement meta = vit.step(meta_execution(), params, mesh);
      const TracedRanks folded = trace_ranks(vit.scenario(), params, Mesh::parse(mesh));
      for (std::size_t r = 0; r < real.ranks.size(); ++r) {
        EXPECT_EQ(to_text(meta.ranks[r].trace), to_text(real.ranks[r].trace)) << r;
        EXPECT_EQ(meta.ranks[r].at_peak, real.ranks[r].at_peak) << r;
        const RankMeasure& one = folded.classes[static_cast<std::size_t>(folded.of_rank[r])];
        const auto program = static_cast<std::size_t>(folded.program_of_rank[r]);
        EXPECT_EQ(to_text(sim::unfolded(folded.programs()[program])), to_text(real.ranks[r].trace))
            << r;
        EXPECT_EQ(one.peak_bytes, real.ranks[r].peak_bytes) << r;
        EXPECT_EQ(folded.bytes_received(Mesh::parse(mesh), static_cast<int>(r)),
                  real.ranks[r].totals.bytes_received)
            << r;
      }
    }
}

/// Flop of the forward pass of rank 0 with so many blocks.
std::int64_t forward_flop(const Vit& vit, const std::string& depth, const std::string& mesh) {
  Params params = vit.tiny({});
  params.train = false;
  params.set("depth", depth);
  return vit.step(meta_execution(), params, mesh).ranks[0].totals.flop;
}

TEST(VitSwitches, CheckpointsAddOneForwardPassOfTheBlocks) {
  const Vit vit;
  for (const char* mesh : {"domain=1", "domain=3", "data=2,domain=2"}) {
    const auto flop = [&](const char* checkpoint) {
      return vit.step(meta_execution(), vit.tiny({checkpoint, "whole"}), mesh).ranks[0].totals.flop;
    };
    EXPECT_EQ(flop("blocks") - flop("none"),
              forward_flop(vit, "2", mesh) - forward_flop(vit, "0", mesh))
        << mesh;
  }
}

/// Bytes that rank 0 keeps of parameters, their gradients and the moments of AdamW.
std::vector<std::int64_t> kept_with(const Vit& vit, const std::string& storage) {
  std::vector<std::int64_t> kept;
  LaunchOptions options;
  options.mesh = Mesh({{"domain", 2}});
  options.precision.dtype = Dtype::float64;
  launch(cpu_execution(), options, [&](Worker& worker, int rank) {
    const auto program = vit.scenario().start(worker, vit.tiny({"none", storage}));
    const std::vector<Named> results = program->step(true);
    if (rank != 0) return;
    const Ledger& ledger = worker.backend().ledger();
    for (const Category category : {Category::parameter, Category::gradient, Category::optimizer})
      kept.push_back(ledger.live(category));
  });
  return kept;
}

TEST(VitSwitches, ShardedStorageKeepsHalfOnTwoRanks) {
  const Vit vit;
  // float64, width 8, hidden 32, 12 numbers a patch, 24 tokens, 10 classes; every buffer counts as
  // multiples of 64 bytes. Whole: stem 768 + 64, norm 2 * 64, head 640 + 128; a block 4 * 64 of
  // norms, 1536 + 192 for q, k and v, 512 + 64, 2048 + 256 up, 2048 + 64 down. Positions are cut
  // along the tokens either way: 12 * 64 = 768.
  const std::int64_t whole = 768 + 64 + 2 * 64 + 640 + 128 + 768 +
                             2 * (4 * 64 + 1536 + 192 + 512 + 64 + 2048 + 256 + 2048 + 64);
  EXPECT_EQ(kept_with(vit, "whole"), (std::vector<std::int64_t>{whole, whole, 2 * whole}));
  // Halves; 32 bytes of a vector of 8 count as 64, 40 of the head's 10 as 64, 96 of 24 as 128.
  const std::int64_t half = 384 + 64 + 2 * 64 + 320 + 64 + 768 +
                            2 * (4 * 64 + 768 + 128 + 256 + 64 + 1024 + 128 + 1024 + 64);
  EXPECT_EQ(kept_with(vit, "sharded"), (std::vector<std::int64_t>{half, half, 2 * half}));
}

TEST(VitSwitches, ChangeNothingOfInferenceButGathers) {
  const Vit vit;
  const auto trace = [&](const Switches& switches) {
    Params params = vit.tiny(switches);
    params.train = false;
    return to_text(vit.step(meta_execution(), params, "domain=2").ranks[0].trace);
  };
  EXPECT_EQ(trace({"blocks", "whole"}), trace({}));
  EXPECT_EQ(trace({"blocks", "sharded"}), trace({"none", "sharded"}));
}

std::string refusal(const Switches& switches) {
  const Vit vit;
  try {
    (void)vit.step(meta_execution(), vit.tiny(switches), "domain=1");
  } catch (const Error& error) {
    return fmt::format("{}: {}", name_of(error.fault()), error.what());
  }
  return {};
}

TEST(VitSwitches, AnUnknownWordNamesTheKnownOnes) {
  EXPECT_EQ(refusal({"all", "whole"}),
            "invalid: rank 0: --checkpoint: expected none or blocks, found 'all'");
  EXPECT_EQ(refusal({"none", "shard"}),
            "invalid: rank 0: --storage: expected whole or sharded, found 'shard'");
}

}  // namespace
}  // namespace shardlab
