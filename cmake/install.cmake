include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mica)

install(TARGETS mica mica_module EXPORT mica-targets)
install(DIRECTORY include/mica TYPE INCLUDE)
install(EXPORT mica-targets NAMESPACE mica:: DESTINATION ${package_dir})
# In a separate file: programs that use only the core do not need the libraries that modules depend on.
if(mica_modules)
    install(TARGETS ${mica_modules} EXPORT mica-modules)
    install(EXPORT mica-modules NAMESPACE mica:: DESTINATION ${package_dir})
    if(TARGET mica_tool)
        install(TARGETS mica_tool)
        install(FILES docs/mica.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
        install(FILES tools/completion/mica DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    endif()
endif()

configure_package_config_file(cmake/mica-config.cmake.in mica-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(mica-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mica-config.cmake ${PROJECT_BINARY_DIR}/mica-config-version.cmake cmake/export_to_modules.cmake
        DESTINATION ${package_dir})

# The same definitions for pkg-config. A static library cannot declare that it needs threads.
set(pkg_config_flags)
set(pkg_config_libraries)
if(MICA_CHECKED)
    string(APPEND pkg_config_flags " -DMICA_CHECKED=1")
endif()
if(BUILD_SHARED_LIBS)
    string(APPEND pkg_config_flags " -DMICA_SHARED")
else()
    string(APPEND pkg_config_libraries " -pthread")
endif()
# Relative to the file itself, so that the tree can be installed elsewhere (cmake --install --prefix) or moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
           OUTPUT_VARIABLE pkg_config_up)
foreach(kind LIB INCLUDE)
    cmake_path(APPEND pkg_config_${kind} "\${prefix}" "${CMAKE_INSTALL_${kind}DIR}")
endforeach()
foreach(library mica ${mica_modules})
    configure_file(cmake/${library}.pc.in ${library}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
install(FILES LICENSE TYPE DOC)
install(FILES tools/debugger/mica-gdb.py tools/debugger/mica.natvis DESTINATION ${CMAKE_INSTALL_DATADIR}/mica)
