# embed_machines(SOURCE_VARIABLE): a source that defines shardlab::sim::built_in_machines() with the
# text of every machines/*.toml beside this file.
function(embed_machines source_variable)
  set(folder "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/machines")
  file(GLOB files CONFIGURE_DEPENDS "${folder}/*.toml")
  set(machines "")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME_WE)
    file(READ "${file}" text)
    string(APPEND machines "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  endforeach()
  set(source "${PROJECT_BINARY_DIR}/generated/built_in_machines.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"#include \"engine/sim/machines.h\"

namespace shardlab::sim {
namespace {

constexpr BuiltInMachine all[] = {
@machines@};

}  // namespace

std::span<const BuiltInMachine> built_in_machines() { return all; }

}  // namespace shardlab::sim
")
  set(${source_variable} "${source}" PARENT_SCOPE)
endfunction()
