#pragma once

#include <string>

#include "results/comparison.h"

namespace shardlab::results {

/// What no face may let through as it is.
inline const std::string hostile = "<script>alert('x')</script>|a\nb`c`\"d\" @team #12 *e*";

inline Finding finding_of(Verdict verdict, const Metric& metric, double base, double next) {
  Finding finding;
  finding.series = {.scenario = "vit", .mesh = "domain=2"};
  finding.metric = metric;
  finding.verdict = verdict;
  finding.reason = "because";
  finding.base =
      Evidence{.runs = {"0a1b"}, .commit = "c0ffee", .samples = 20, .median = base, .interval = {}};
  finding.next =
      Evidence{.runs = {"2c3d"}, .commit = "decade", .samples = 21, .median = next, .interval = {}};
  finding.ratio = next / base;
  return finding;
}

/// Every verdict once, the worst with all numbers and hostile texts, and `same` twice.
inline Comparison sample_comparison() {
  Comparison all;
  all.base = "main " + hostile;
  all.next = "HEAD";
  Finding worst = finding_of(Verdict::worse, step_seconds(), 0.020, 0.021);
  worst.series.scenario = hostile;
  worst.series.parameters = R"({"size":"<b>|8x8"})";
  worst.reason = "slower, " + hostile;
  worst.ratio_interval = Interval{1.03, 1.07};
  worst.p = 0.0123;
  worst.detectable = 0.034;
  worst.causes = {"matmul grew, " + hostile};
  all.findings.push_back(worst);
  Finding vanished = finding_of(Verdict::vanished, flop(), 1234, 0);
  vanished.next.reset();
  vanished.ratio.reset();
  all.findings.push_back(vanished);
  Finding environments = finding_of(Verdict::not_comparable, step_seconds(), 0.5, 0.7);
  environments.differing = {"processor", "compiler"};
  all.findings.push_back(environments);
  all.findings.push_back(finding_of(Verdict::not_enough, step_seconds(), 0.25, 0.26));
  all.findings.push_back(finding_of(Verdict::undecided, step_seconds(), 0.125, 0.126));
  all.findings.push_back(finding_of(Verdict::better, bytes_sent(), 4096, 4032));
  Finding added = finding_of(Verdict::added, collectives(), 0, 77);
  added.base.reset();
  added.ratio.reset();
  all.findings.push_back(added);
  all.findings.push_back(finding_of(Verdict::same, peak_bytes("activation"), 512, 512));
  all.findings.push_back(finding_of(Verdict::same, dispatches(), 333, 333));
  all.notes = {"1 run was left out, " + hostile};
  return all;
}

}  // namespace shardlab::results
