# The Debian package, by CPack: preset "package" builds it with /usr as the prefix, `./dev package`
# checks it. The same sources give the same bytes wherever they are built, if SOURCE_DATE_EPOCH is
# set (./dev does, from the changelog).
set(packaging_directory ${CMAKE_CURRENT_LIST_DIR})

file(STRINGS ${packaging_directory}/changelog changelog_head LIMIT_COUNT 1)
if(NOT changelog_head MATCHES "^memprof \\(${PROJECT_VERSION}\\) ")
  message(FATAL_ERROR "packaging/changelog begins with another version than ${PROJECT_VERSION}.")
endif()
file(STRINGS ${packaging_directory}/changelog changelog_signature LIMIT_COUNT 1 REGEX "^ -- ")
string(REGEX REPLACE "^ -- (.*>)  .*" "\\1" maintainer "${changelog_signature}")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME memprof)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "${maintainer}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS libdebuginfod1)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "exact heap profiler with tiny captures")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"memprof runs a dynamically linked program under a preloaded tracker and leaves
a capture of kilobytes: for every place that allocated, what was live when the
heap was highest, what was never freed, and how much was allocated in all. The
capture is complete however the program ends.

Reports: text, tables, trees, flame graphs as one HTML file, differences,
growth over time, budgets for nightly jobs and tests, and the formats of other
tools.")
set(CPACK_PRE_BUILD_SCRIPTS ${packaging_directory}/debian_files.cmake)
set(CPACK_MEMPROF_PACKAGING_DIRECTORY ${packaging_directory})
include(CPack)
