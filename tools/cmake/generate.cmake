# Sources written by CMake itself, all below ${PROJECT_BINARY_DIR}/generated.
set(SHARDLAB_GENERATED "${PROJECT_BINARY_DIR}/generated")

# embed_text(SOURCE_VARIABLE FILE NAMESPACE NAME): a source that defines
# `extern const char* const NAMESPACE::NAME` with the text of FILE.
function(embed_text source_variable file namespace name)
  set(source "${SHARDLAB_GENERATED}/${name}.cpp")
  file(READ "${file}" text)
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"namespace @namespace@ {
extern const char* const @name@;
const char* const @name@ = R\"embedded(@text@)embedded\";
}  // namespace @namespace@
")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  set(${source_variable} "${source}" PARENT_SCOPE)
endfunction()

# embed_files(SOURCE_VARIABLE HEADER NAMESPACE TYPE FUNCTION FILES...): a source that defines
# `std::span<const NAMESPACE::TYPE> NAMESPACE::FUNCTION()` of HEADER, a row {name, text} a file.
function(embed_files source_variable header namespace type function)
  foreach(file IN LISTS ARGN)
    get_filename_component(name "${file}" NAME_WE)
    file(READ "${file}" text)
    string(APPEND rows "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  endforeach()
  set(source "${SHARDLAB_GENERATED}/${function}.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"#include \"@header@\"

namespace @namespace@ {
namespace {

constexpr @type@ all[] = {
@rows@};

}  // namespace

std::span<const @type@> @function@() { return all; }

}  // namespace @namespace@
")
  set(${source_variable} "${source}" PARENT_SCOPE)
endfunction()

# list_scenarios(SOURCE_VARIABLE): a source whose add_all_scenarios calls add_NAME for every
# NAME.cpp of the calling folder.
function(list_scenarios source_variable)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "*.cpp")
  foreach(file IN LISTS files)
    string(REGEX REPLACE "\\.cpp$" "" name "${file}")
    string(APPEND declarations "void add_${name}(Scenarios& scenarios);\n")
    string(APPEND calls "  add_${name}(scenarios);\n")
  endforeach()
  set(source "${SHARDLAB_GENERATED}/all_scenarios.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"#include \"scenarios/all.h\"

namespace shardlab {

@declarations@
void add_all_scenarios([[maybe_unused]] Scenarios& scenarios) {
@calls@}

}  // namespace shardlab
")
  set(${source_variable} "${source}" PARENT_SCOPE)
endfunction()

# describe_build(SOURCE_VARIABLE): a source that defines build_info(). The commit is looked up at
# every build and only a changed commit compiles anything.
function(describe_build source_variable)
  get_property(libraries GLOBAL PROPERTY SHARDLAB_LIBRARIES)
  foreach(library IN LISTS libraries)
    string(REGEX REPLACE "^(.*)=(.*)$" "    {\"\\1\", \"\\2\"},\n" row "${library}")
    string(APPEND library_rows "${row}")
  endforeach()
  set(source "${SHARDLAB_GENERATED}/build_info.cpp")
  configure_file("${PROJECT_SOURCE_DIR}/tools/cmake/build_info.cpp.in" "${source}" @ONLY)
  set(header "${SHARDLAB_GENERATED}/commit.h")
  add_custom_target(shardlab_commit BYPRODUCTS "${header}"
    COMMAND ${CMAKE_COMMAND} -D "SOURCE=${PROJECT_SOURCE_DIR}" -D "HEADER=${header}"
            -P "${PROJECT_SOURCE_DIR}/tools/cmake/commit.cmake"
    COMMENT "Looking up the commit")
  set_source_files_properties("${source}" PROPERTIES OBJECT_DEPENDS "${header}")
  set(${source_variable} "${source}" PARENT_SCOPE)
endfunction()
