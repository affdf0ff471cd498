# shardlab_library(NAME [PUBLIC targets...] [PRIVATE targets...] [GENERATED sources...]
#                  [OPTIONS compile options...])
# A static library of all .cpp files at or below the calling folder; a folder that has none yet
# becomes an INTERFACE library, so that others may link it already.
function(shardlab_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PUBLIC;PRIVATE;GENERATED;OPTIONS")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "*.cpp")
  list(APPEND sources ${arg_GENERATED})
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${name} INTERFACE ${arg_PUBLIC} ${arg_PRIVATE})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE} shardlab_warnings)
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
endfunction()
