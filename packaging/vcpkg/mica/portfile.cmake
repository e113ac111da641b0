# An overlay port of the repository that this folder is in: vcpkg install mica --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS feature_options FEATURES
    checked MICA_CHECKED
    resource MICA_RESOURCE
    json MICA_JSON
    sql MICA_SQL)
set(part_options)
foreach(part INSPECT CLUSTER LUA PYTHON TESTS CONFORMANCE EXAMPLES BENCH)
    list(APPEND part_options -DMICA_${part}=OFF)
endforeach()
vcpkg_find_acquire_program(PKGCONFIG)

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS ${feature_options} ${part_options} "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME mica CONFIG_PATH lib/cmake/mica)
vcpkg_fixup_pkgconfig()
if("json" IN_LIST FEATURES AND VCPKG_LIBRARY_LINKAGE STREQUAL "static")
    vcpkg_copy_tools(TOOL_NAMES mica AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
