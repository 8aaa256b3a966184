# SPDX-License-Identifier: Apache-2.0
# For microsoft/vcpkg: ports/strew/, beside vcpkg.json.
vcpkg_download_distfile(ARCHIVE
  URLS "https://strew.example/releases/strew-${VERSION}.tar.gz"
  FILENAME "strew-${VERSION}.tar.gz"
  SHA512 0)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${ARCHIVE}")

set(CLI disabled)
if("tool" IN_LIST FEATURES)
  set(CLI enabled)
endif()
vcpkg_configure_meson(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -Dcli=${CLI}
    -Dtests=disabled
    -Dbenchmarks=disabled
    -Ddocs=disabled
    -Donnxruntime=disabled)
vcpkg_install_meson()
vcpkg_copy_pdbs()
vcpkg_fixup_pkgconfig()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/strew)

# vcpkg builds one kind of library; strew makes both.
if(VCPKG_LIBRARY_LINKAGE STREQUAL "static")
  set(OTHER_KIND libstrew.so*)
  set(TARGET strew::static)
else()
  set(OTHER_KIND libstrew.a)
  set(TARGET strew::strew)
endif()
file(GLOB OTHERS
  "${CURRENT_PACKAGES_DIR}/lib/${OTHER_KIND}"
  "${CURRENT_PACKAGES_DIR}/debug/lib/${OTHER_KIND}")
if(OTHERS)
  file(REMOVE ${OTHERS})
endif()

# Debug builds of programs get the debug build.
if(NOT VCPKG_BUILD_TYPE)
  file(APPEND "${CURRENT_PACKAGES_DIR}/share/strew/strewConfig.cmake" "
get_target_property(_strew_file ${TARGET} IMPORTED_LOCATION)
string(REPLACE \"\${PACKAGE_PREFIX_DIR}/lib/\" \"\${PACKAGE_PREFIX_DIR}/debug/lib/\"
  _strew_file \"\${_strew_file}\")
set_target_properties(${TARGET} PROPERTIES IMPORTED_LOCATION_DEBUG \"\${_strew_file}\")
unset(_strew_file)
")
endif()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
if("tool" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES strew AUTO_CLEAN)
endif()
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
