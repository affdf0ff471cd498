#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "engine/backends/cpu/isa.h"
#include "engine/launch/launch.h"
#include "tools/build_info.h"
#include "tools/environment.h"
#include "tools/request.h"
#include "tools/table.h"

namespace shardlab {
namespace {

/// Whether a shared library can be found where programs look for it.
bool loads(const char* library) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

}  // namespace

Exit doctor_verb(const Request& /*request*/) {
  const BuildInfo build = build_info();
  Table machine({"what", "found"});
  machine.row({"processor", processor_name()});
  machine.row({"usable cores", std::to_string(usable_cores())});
  machine.row({"instruction level picked", cpu::isa_level_name()});
  machine.row({"levels of this machine", fmt::format("{}", fmt::join(cpu::isa_levels(), ", "))});
  machine.row({"float32", "oneDNN and own kernels"});
  machine.row({"float64", "own kernels"});
  machine.row({"bfloat16, float16, tf32", "not on cpu yet: such runs are stored as skipped"});
  fmt::print("{}\n", machine.text());
  Table program({"program", "version"});
  program.row({"shardlab", build.version + ", commit " + build.commit.substr(0, 10) +
                               (build.dirty ? " with changes" : "")});
  program.row({"build", build.build_type + ", sanitizer " + build.sanitizer});
  program.row({"compiler", build.compiler});
  for (const LibraryVersion& library : build.libraries)
    program.row({library.name, library.version});
  fmt::print("{}\n", program.text());
  Table parts({"part", "state", "what brings it"});
  parts.row({"cpu, rank threads", "built", ""});
  parts.row({"cpu, MPI processes", "not built", "comes with its own issue"});
  parts.row({"cuda", loads("libcuda.so.1") ? "driver found, backend not built" : "no driver",
             "comes with its own issue; needs the NVIDIA driver and CUDA 13"});
  parts.row({"predict, plan", "built", ""});
  parts.row({"viewer", "not built", "comes with its own issue"});
  fmt::print("{}", parts.text());
  return Exit::fine;
}

}  // namespace shardlab
