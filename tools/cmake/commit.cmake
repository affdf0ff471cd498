# cmake -D SOURCE=folder -D HEADER=file -P commit.cmake: writes the commit of SOURCE into HEADER,
# touching the file only when something changed. Without git or a clone the commit is "unknown".
cmake_minimum_required(VERSION 3.25)
set(commit "unknown")
set(dirty "false")
find_program(git git)
if(git AND EXISTS "${SOURCE}/.git")
  # A clone may belong to another user, as in a container.
  set(git_here "${git}" --no-optional-locks -c safe.directory=* -C "${SOURCE}")
  execute_process(COMMAND ${git_here} rev-parse --verify HEAD OUTPUT_VARIABLE head
                  RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed)
    set(commit "${head}")
    execute_process(COMMAND ${git_here} status --porcelain OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
      set(dirty "true")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT "${HEADER}" @ONLY CONTENT
"inline constexpr const char* commit = \"@commit@\";
inline constexpr bool dirty = @dirty@;
")
