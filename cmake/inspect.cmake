# The server for `mica inspect`.
find_path(CIVETWEB_INCLUDE civetweb.h REQUIRED)
find_library(CIVETWEB_LIBRARY civetweb REQUIRED)

function(mica_inspect_library target core)
    mica_module(${target} inspect)
    target_include_directories(${target} PRIVATE ${CIVETWEB_INCLUDE})
    target_link_libraries(${target} PUBLIC ${core} PRIVATE civetweb)
endfunction()

add_library(mica_inspect)
add_library(mica::inspect ALIAS mica_inspect)
mica_inspect_library(mica_inspect mica)
add_library(mica_inspect_shared SHARED EXCLUDE_FROM_ALL)
mica_inspect_library(mica_inspect_shared mica_shared)

list(APPEND mica_modules mica_inspect)
