# Levels, prefabs and save games.
pkg_check_modules(XXHASH REQUIRED libxxhash) # a header only: it is compiled in
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)

function(mica_resource_library target core)
    mica_module(${target} resource)
    target_include_directories(${target} PRIVATE ${XXHASH_INCLUDE_DIRS})
    target_link_libraries(${target} PUBLIC ${core} PRIVATE PkgConfig::ZSTD ${CMAKE_DL_LIBS})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL SHARED_LIBRARY)
        target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/type/value_bytes.c)
    endif()
endfunction()

add_library(mica_resource)
add_library(mica::resource ALIAS mica_resource)
mica_resource_library(mica_resource mica)

# For the symbol check, as mica_shared.
add_library(mica_resource_shared SHARED EXCLUDE_FROM_ALL)
mica_resource_library(mica_resource_shared mica_shared)
list(APPEND mica_modules mica_resource)
