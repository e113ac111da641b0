# Modules that need third-party libraries: each is a library of its own, so that the core needs none.
find_package(PkgConfig REQUIRED)
pkg_check_modules(XXHASH REQUIRED libxxhash) # a header only: it is compiled in
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)

function(mica_module target folder)
    file(GLOB module_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.c)
    target_sources(${target} PRIVATE ${module_sources})
    mica_library(${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${folder})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL SHARED_LIBRARY)
        # A shared libmica hides its lower layers. They hold no state: a second copy of them is fine.
        file(GLOB lower_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/os/*.c ${PROJECT_SOURCE_DIR}/src/base/*.c)
        target_sources(${target} PRIVATE ${lower_sources})
    endif()
endfunction()

function(mica_resource_library target core)
    mica_module(${target} resource)
    target_include_directories(${target} PRIVATE ${XXHASH_INCLUDE_DIRS})
    target_link_libraries(${target} PUBLIC ${core} PRIVATE PkgConfig::ZSTD)
endfunction()

add_library(mica_resource)
add_library(mica::resource ALIAS mica_resource)
mica_resource_library(mica_resource mica)

# For the symbol check, as mica_shared.
add_library(mica_resource_shared SHARED EXCLUDE_FROM_ALL)
mica_resource_library(mica_resource_shared mica_shared)
set(mica_modules mica_resource)

if(MICA_JSON)
    include(cmake/json.cmake)
endif()
