#include <fmt/format.h>

#include <cmath>
#include <map>
#include <vector>

#include "results/escape.h"
#include "results/faces.h"
#include "results/finding_text.h"

namespace shardlab::results {
namespace {

enum class Outcome : std::uint8_t { passed, failed, skipped };

Outcome outcome_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::worse:
      return Outcome::failed;
    case Verdict::undecided:
    case Verdict::not_comparable:
    case Verdict::not_enough:
    case Verdict::vanished:
      return Outcome::skipped;
    case Verdict::same:
    case Verdict::better:
    case Verdict::added:
      break;
  }
  return Outcome::passed;
}

/// `peak_bytes.activation` belongs to `peak_bytes`.
std::string family_of(const Finding& finding) {
  return finding.metric.name.substr(0, finding.metric.name.find('.'));
}

class Properties {
 public:
  void add(const char* name, const std::string& value) {
    text_ +=
        fmt::format("        <property name=\"{}\" value=\"{}\"/>\n", name, markup_text(value));
  }
  void add(const char* name, const std::optional<double>& value) {
    if (value) add(name, fmt::format("{}", *value));
  }
  void add(const std::string& name, const std::optional<Interval>& interval) {
    if (!interval) return;
    add((name + "_low").c_str(), interval->low);
    add((name + "_high").c_str(), interval->high);
  }
  void add(const std::string& side, const std::optional<Evidence>& evidence) {
    if (!evidence) return;
    add((side + "_median").c_str(), evidence->median);
    add(side, evidence->interval);
    add((side + "_samples").c_str(), std::to_string(evidence->samples));
    if (!evidence->commit.empty()) add((side + "_commit").c_str(), evidence->commit);
    for (const std::string& run : evidence->runs) add((side + "_run").c_str(), run);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string case_of(const Finding& finding) {
  Properties properties;
  properties.add("verdict", std::string(name_of(finding.verdict)));
  properties.add("unit", finding.metric.unit);
  properties.add("base", finding.base);
  properties.add("new", finding.next);
  properties.add("ratio", finding.ratio);
  properties.add("ratio", finding.ratio_interval);
  properties.add("p", finding.p);
  properties.add("detectable", finding.detectable);
  for (const std::string& field : finding.differing) properties.add("differs_in", field);
  std::string text = fmt::format(
      "    <testcase classname=\"{}\" name=\"{}\">\n      <properties>\n{}      </properties>\n",
      markup_text(finding.series.scenario), markup_text(subject_text(finding)), properties.text());
  const std::string why =
      markup_text(fmt::format("{}: {}", name_of(finding.verdict), finding.reason));
  switch (outcome_of(finding.verdict)) {
    case Outcome::passed:
      break;
    case Outcome::failed: {
      std::string body;
      for (const std::string& line : evidence_text(finding)) body += line + "\n";
      text += fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
                          name_of(finding.verdict), why, markup_text(body));
      break;
    }
    case Outcome::skipped:
      text += fmt::format("      <skipped message=\"{}\"/>\n", why);
      break;
  }
  return text + "    </testcase>\n";
}

struct Suite {
  std::string cases;
  int tests = 0;
  int failures = 0;
  int skipped = 0;

  [[nodiscard]] std::string counts() const {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"", tests, failures,
                       skipped);
  }
};

}  // namespace

std::string junit_of(const Comparison& comparison) {
  std::map<std::string, Suite> suites;
  Suite all;
  for (const Finding& finding : comparison.findings) {
    const Outcome outcome = outcome_of(finding.verdict);
    for (Suite* suite : {&suites[family_of(finding)], &all}) {
      ++suite->tests;
      suite->failures += outcome == Outcome::failed ? 1 : 0;
      suite->skipped += outcome == Outcome::skipped ? 1 : 0;
    }
    suites[family_of(finding)].cases += case_of(finding);
  }
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" {}>\n",
      markup_text(fmt::format("shardlab: {} against {}", comparison.next, comparison.base)),
      all.counts());
  for (const auto& [family, suite] : suites)
    text += fmt::format("  <testsuite name=\"{}\" {}>\n{}  </testsuite>\n", markup_text(family),
                        suite.counts(), suite.cases);
  return text + "</testsuites>\n";
}

}  // namespace shardlab::results
