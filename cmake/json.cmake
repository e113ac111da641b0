# Resources from JSON, and the tool.
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)

function(mica_json_library target resource)
    mica_module(${target} json)
    target_link_libraries(${target} PUBLIC ${resource} PRIVATE PkgConfig::JANSSON m)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL SHARED_LIBRARY)
        target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/resource/format/scalar_fields.c
                       ${PROJECT_SOURCE_DIR}/src/type/value_bytes.c)
    endif()
endfunction()

add_library(mica_json)
add_library(mica::json ALIAS mica_json)
mica_json_library(mica_json mica_resource)
add_library(mica_json_shared SHARED EXCLUDE_FROM_ALL)
mica_json_library(mica_json_shared mica_resource_shared)

list(APPEND mica_modules mica_json)

# The tool uses what is inside the modules: it is linked with them statically, or it would not find it.
if(NOT BUILD_SHARED_LIBS)
    file(GLOB tool_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cli/*.c)
    if(NOT MICA_SQL)
        list(FILTER tool_sources EXCLUDE REGEX "/(sql_command|sweep_[a-z]*)\\.c$")
    endif()
    if(MICA_INSPECT)
        # The page is built by `make inspect`, which needs Node.js. Without it the tool is complete except for the page.
        set(inspector_page ${PROJECT_SOURCE_DIR}/inspect/dist/index.html)
        if(NOT EXISTS ${inspector_page})
            set(inspector_page ${PROJECT_SOURCE_DIR}/inspect/missing.html)
        endif()
        set(inspector_source ${PROJECT_BINARY_DIR}/inspector_page.c)
        add_custom_command(
            OUTPUT ${inspector_source}
            COMMAND ${CMAKE_COMMAND} -DINPUT=${inspector_page} -DOUTPUT=${inspector_source}
                    -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
            DEPENDS ${inspector_page} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
        list(APPEND tool_sources ${inspector_source})
    else()
        list(FILTER tool_sources EXCLUDE REGEX "/inspector_")
    endif()
    add_executable(mica_tool ${tool_sources})
    set_target_properties(mica_tool PROPERTIES OUTPUT_NAME mica)
    target_include_directories(mica_tool PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(mica_tool PRIVATE MICA_VERSION="${PROJECT_VERSION}"
                               PROJECT_MAJOR=${PROJECT_VERSION_MAJOR} PROJECT_MINOR=${PROJECT_VERSION_MINOR})
    # mica run: modules use the Mica in the tool, all of it, wherever they were built. What is not mica_... stays hidden.
    if(MICA_CLUSTER) # before mica::resource, which it needs: a whole archive can be linked only once
        target_compile_definitions(mica_tool PRIVATE MICA_WITH_CLUSTER)
        target_link_libraries(mica_tool PRIVATE mica::cluster)
    endif()
    target_link_libraries(mica_tool PRIVATE mica::json mica::resource Threads::Threads)
    if(MICA_INSPECT)
        target_compile_definitions(mica_tool PRIVATE MICA_WITH_INSPECT)
        target_link_libraries(mica_tool PRIVATE mica::inspect)
    endif()
    if(MICA_ARROW)
        target_compile_definitions(mica_tool PRIVATE MICA_WITH_ARROW)
        target_link_libraries(mica_tool PRIVATE mica::arrow)
    endif()
    if(MICA_SQL)
        target_compile_definitions(mica_tool PRIVATE MICA_WITH_SQL)
        target_link_libraries(mica_tool PRIVATE mica::sql PkgConfig::SQLITE)
    endif()
    set_target_properties(mica_tool PROPERTIES
        LINK_LIBRARY_OVERRIDE WHOLE_ARCHIVE,mica,mica_resource,mica_json,mica_cluster
        ENABLE_EXPORTS ON
        C_VISIBILITY_PRESET hidden)
    mica_compile_options(mica_tool)
endif()
