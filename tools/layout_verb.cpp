#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/core/check.h"
#include "engine/core/scenario.h"
#include "tools/executions.h"
#include "tools/request.h"
#include "tools/table.h"

namespace shardlab {
namespace {

/// Largest and smallest part of a tensor over the ranks.
struct PerRank {
  std::int64_t most = 0;
  std::int64_t least = 0;
};

std::int64_t bytes_of(const Layout& layout, const Shape& shape, Dtype dtype, int rank) {
  return layout.local_shape(shape, layout.mesh().coordinates(rank)).count() * width_of(dtype);
}

PerRank per_rank(const Layout& layout, const Shape& shape, Dtype dtype) {
  PerRank result{0, std::numeric_limits<std::int64_t>::max()};
  for (int rank = 0; rank < layout.mesh().size(); ++rank) {
    const std::int64_t bytes = bytes_of(layout, shape, dtype, rank);
    result.most = std::max(result.most, bytes);
    result.least = std::min(result.least, bytes);
  }
  return result;
}

std::string placement_of(const Layout& layout) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (int d = 0; d < layout.ndim(); ++d)
    if (layout.dim(d).split != nullptr)
      add(fmt::format("dim {} over {}: {}", d, names_of(layout.mesh(), layout.dim(d).axes),
                      to_string(*layout.dim(d).split)));
  if (!layout.partial().empty())
    add(fmt::format("partial {} over {}", name_of(layout.reduction()),
                    names_of(layout.mesh(), layout.partial())));
  return text.empty() ? "replicated" : text;
}

std::vector<std::string> cells(const std::string& name, const Layout& layout, const Shape& shape,
                               Dtype dtype) {
  const PerRank bytes = per_rank(layout, shape, dtype);
  const auto least = static_cast<double>(bytes.least);
  const auto most = static_cast<double>(bytes.most);
  const std::string range =
      bytes.most == bytes.least ? show_bytes(most) : show_byte_range(least, most);
  return {name, to_string(shape), placement_of(layout), range};
}

/// Rows of one part of the model.
struct Part {
  std::string name;
  std::vector<std::vector<std::string>> rows;
  std::int64_t moved = 0;
};

std::vector<std::string> row_of(const Step& step) {
  if (step.kind == Step::Kind::start) {
    const Mesh& mesh = step.layout->mesh();
    return {fmt::format("-> {} over {}", step.op, names_of(mesh, step.axes)), to_string(step.shape),
            placement_of(*step.layout), "moves " + show_bytes(static_cast<double>(step.bytes))};
  }
  if (step.layout == nullptr)
    return {step.op, to_string(step.shape), "this rank's part, here rank 0's",
            show_bytes(static_cast<double>(step.shape.count() * width_of(step.dtype)))};
  return cells(step.op, *step.layout, step.shape, step.dtype);
}

std::vector<Part> parts_of(const Trace& trace, bool full) {
  std::vector<Part> parts;
  for (const Step& step : trace.steps()) {
    if (step.kind == Step::Kind::wait) continue;
    // Looks at memory hold nothing of their own.
    if (step.kind == Step::Kind::look && !full) continue;
    const std::string name = step.scope == nullptr ? "step" : *step.scope;
    if (parts.empty() || parts.back().name != name) parts.push_back({name, {}, 0});
    parts.back().rows.push_back(row_of(step));
    if (step.kind == Step::Kind::start) parts.back().moved += step.bytes;
  }
  return parts;
}

/// Parts in order, equal neighbours as one.
void print_parts(const char* title, const std::vector<Part>& parts, bool moving) {
  Table table({title, "shape", "placement", "bytes per rank"});
  for (std::size_t p = 0; p < parts.size();) {
    std::size_t same = p + 1;
    while (same < parts.size() && parts[same].rows == parts[p].rows) ++same;
    const std::string moved = parts[p].moved > 0
                                  ? "moves " + show_bytes(static_cast<double>(parts[p].moved))
                                  : "moves nothing";
    const std::string name =
        same == p + 1 ? parts[p].name
                      : fmt::format("{} .. {}, each", parts[p].name, parts[same - 1].name);
    table.row({name, "", "", moving ? moved : ""});
    for (const std::vector<std::string>& row : parts[p].rows) {
      std::vector<std::string> indented = row;
      indented[0] = "  " + indented[0];
      table.row(std::move(indented));
    }
    p = same;
  }
  fmt::print("{}\n", table.text());
}

void print_parameters(Worker& worker) {
  if (worker.parameters().empty()) return;
  std::vector<Part> parts;
  std::int64_t count = 0;
  std::vector<std::int64_t> bytes(static_cast<std::size_t>(worker.mesh().size()));
  for (const Tensor& parameter : worker.parameters()) {
    const std::string& name = parameter.state().parameter->name;
    const std::size_t dot = name.find('.');
    const std::string part = dot == std::string::npos ? "model" : name.substr(0, dot);
    if (parts.empty() || parts.back().name != part) parts.push_back({part, {}, 0});
    const Layout* used = parameter.state().parameter->used;
    parts.back().rows.push_back(cells(dot == std::string::npos ? name : name.substr(dot + 1),
                                      *parameter.layout(), parameter.shape(), parameter.dtype()));
    if (used != parameter.layout()) parts.back().rows.back()[2] += "; read " + placement_of(*used);
    count += parameter.shape().count();
    for (std::size_t r = 0; r < bytes.size(); ++r)
      bytes[r] +=
          bytes_of(*parameter.layout(), parameter.shape(), parameter.dtype(), static_cast<int>(r));
  }
  print_parts("parameter", parts, false);
  fmt::print("{} parameters, at most {} a rank\n\n", count,
             show_bytes(static_cast<double>(*std::max_element(bytes.begin(), bytes.end()))));
}

void print_layout(const Case& shown, bool full) {
  const Params& params = shown.params;
  fmt::print("{} ({} ranks)\n\n", shown.title(), shown.mesh.size());
  LaunchOptions options;
  options.mesh = shown.mesh;
  options.precision = params.precision;
  options.seed = params.seed;
  options.ranks = 1;
  launch(meta_execution(), options, [&](Worker& worker, int) {
    worker.trace().keep(true);
    const std::unique_ptr<Program> program = shown.scenario->start(worker, params);
    print_parameters(worker);
    worker.trace().clear();
    worker.backend().ledger().reset_peak();
    (void)program->step(false);
    print_parts("activation", parts_of(worker.trace(), full), true);
    for (const std::string& note : worker.notes()) fmt::print(stderr, "warning: {}\n", note);
    const Ledger& ledger = worker.backend().ledger();
    fmt::print("rank 0 holds {} at most and {} after the step; {} collectives a step\n",
               show_bytes(static_cast<double>(ledger.peak())),
               show_bytes(static_cast<double>(ledger.live())), worker.trace().totals().collectives);
  });
}

}  // namespace

Exit layout_verb(const Scenarios& scenarios, const Request& request) {
  for (const Case& each : sweep(scenarios, request)) print_layout(each, request.full);
  return Exit::fine;
}

}  // namespace shardlab
