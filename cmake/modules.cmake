# Modules that need third-party libraries: each is a library of its own, so that the core needs none.
find_package(PkgConfig REQUIRED)

function(mica_module target folder)
    file(GLOB_RECURSE module_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.c)
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

set(mica_modules)
foreach(module resource sql json)
    string(TOUPPER ${module} name)
    if(MICA_${name})
        include(cmake/${module}.cmake)
    endif()
endforeach()
