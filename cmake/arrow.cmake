# Queries as Apache Arrow. Needs nothing but Mica.
function(mica_arrow_library target core)
    mica_module(${target} arrow)
    target_link_libraries(${target} PUBLIC ${core})
endfunction()

add_library(mica_arrow)
add_library(mica::arrow ALIAS mica_arrow)
mica_arrow_library(mica_arrow mica)
add_library(mica_arrow_shared SHARED EXCLUDE_FROM_ALL)
mica_arrow_library(mica_arrow_shared mica_shared)

list(APPEND mica_modules mica_arrow)
