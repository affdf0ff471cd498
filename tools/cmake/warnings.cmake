# shardlab_warnings: linked privately by every target of the project.
add_library(shardlab_warnings INTERFACE)
target_compile_options(shardlab_warnings INTERFACE -Wall -Wextra)
if(SHARDLAB_WERROR)
  target_compile_options(shardlab_warnings INTERFACE -Werror)
endif()
