# require(PACKAGE DEBIAN_PACKAGE): finds a library that every build needs, or stops naming the
# package that brings it. Versions end up in the global property SHARDLAB_LIBRARIES.
macro(require package debian_package)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} not found: install ${debian_package} "
                        "(tools/install-packages installs all of tools/packages)")
  endif()
  if(NOT "${package}" MATCHES "^(Threads|OpenMP)$")
    set_property(GLOBAL APPEND PROPERTY SHARDLAB_LIBRARIES "${package}=${${package}_VERSION}")
  endif()
endmacro()
