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

pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)

function(mica_json_library target resource)
    mica_module(${target} json)
    target_link_libraries(${target} PUBLIC ${resource} PRIVATE PkgConfig::JANSSON m)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL SHARED_LIBRARY)
        target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/resource/leaves.c)
    endif()
endfunction()

add_library(mica_json)
add_library(mica::json ALIAS mica_json)
mica_json_library(mica_json mica_resource)
add_library(mica_json_shared SHARED EXCLUDE_FROM_ALL)
mica_json_library(mica_json_shared mica_resource_shared)

set(mica_modules mica_resource mica_json)

# The tool uses what is inside the modules: it is linked with them statically, or it would not find it.
if(NOT BUILD_SHARED_LIBS)
    file(GLOB tool_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cli/*.c)
    add_executable(mica_tool ${tool_sources})
    set_target_properties(mica_tool PROPERTIES OUTPUT_NAME mica)
    target_include_directories(mica_tool PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(mica_tool PRIVATE MICA_VERSION="${PROJECT_VERSION}"
                               PROJECT_MAJOR=${PROJECT_VERSION_MAJOR} PROJECT_MINOR=${PROJECT_VERSION_MINOR})
    # mica run: modules use the Mica in the tool, all of it, wherever they were built. What is not mica_... stays hidden.
    target_link_libraries(mica_tool PRIVATE mica::json mica::resource Threads::Threads ${CMAKE_DL_LIBS})
    set_target_properties(mica_tool PROPERTIES
        LINK_LIBRARY_OVERRIDE WHOLE_ARCHIVE,mica,mica_resource,mica_json
        ENABLE_EXPORTS ON
        C_VISIBILITY_PRESET hidden)
    mica_compile_options(mica_tool)
endif()
