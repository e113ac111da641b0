# The extension module of Python: everything in one file, from the same sources. python/build_backend.py builds it.
find_program(MICA_PYTHON_PROGRAM NAMES python3 REQUIRED)
if(MICA_PYTHON_INCLUDE)
    set(python_include ${MICA_PYTHON_INCLUDE})
else()
    execute_process(COMMAND ${MICA_PYTHON_PROGRAM} -c "import sysconfig; print(sysconfig.get_paths()['include'], end='')"
                    OUTPUT_VARIABLE python_include COMMAND_ERROR_IS_FATAL ANY)
endif()
if(NOT EXISTS ${python_include}/Python.h)
    message(FATAL_ERROR "There is no Python.h in ${python_include}: install python3-dev")
endif()
set(native_source ${CMAKE_CURRENT_BINARY_DIR}/python/native_wrapper.c)
file(GLOB public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/mica/*.h)
add_custom_command(
    OUTPUT ${native_source}
    COMMAND ${MICA_PYTHON_PROGRAM} ${PROJECT_SOURCE_DIR}/python/native_build.py --compiler ${CMAKE_C_COMPILER}
            --include ${PROJECT_SOURCE_DIR}/include --output ${native_source}
    DEPENDS ${PROJECT_SOURCE_DIR}/python/native_build.py ${PROJECT_SOURCE_DIR}/python/native.h ${PROJECT_SOURCE_DIR}/python/views.h ${public_headers}
    VERBATIM)
add_library(mica_python MODULE EXCLUDE_FROM_ALL ${native_source} ${PROJECT_SOURCE_DIR}/python/native.c ${PROJECT_SOURCE_DIR}/python/views.c)
target_include_directories(mica_python PRIVATE ${PROJECT_SOURCE_DIR}/python)
target_include_directories(mica_python SYSTEM PRIVATE ${python_include})
target_link_libraries(mica_python PRIVATE mica::resource mica::sql mica::arrow PkgConfig::SQLITE Threads::Threads)
target_compile_features(mica_python PRIVATE c_std_17)
# Native modules use the Mica in this file, all of it. Its name ends as Python's stable interface requires.
set_target_properties(mica_python PROPERTIES
    PREFIX "" OUTPUT_NAME _native SUFFIX .abi3.so
    LINK_LIBRARY_OVERRIDE WHOLE_ARCHIVE,mica,mica_resource,mica_sql,mica_arrow
    C_VISIBILITY_PRESET hidden)
