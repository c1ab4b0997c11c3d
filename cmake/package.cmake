# The files by which other projects find an installed memprof: the CMake package, and memprof.pc.
#
# Nothing in it names the prefix, so an installation may be moved as a whole.
include(CMakePackageConfigHelpers)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/memprof)
configure_package_config_file(cmake/memprofConfig.cmake.in ${PROJECT_BINARY_DIR}/memprofConfig.cmake
  INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/memprofConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(EXPORT memprofTargets NAMESPACE memprof:: DESTINATION ${package_directory})
install(FILES
  ${PROJECT_BINARY_DIR}/memprofConfig.cmake ${PROJECT_BINARY_DIR}/memprofConfigVersion.cmake
  cmake/memprofTests.cmake
  DESTINATION ${package_directory})

set(pkgconfig_directory ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(prefix_from_pkgconfig /prefix)
cmake_path(ABSOLUTE_PATH pkgconfig_directory BASE_DIRECTORY /prefix OUTPUT_VARIABLE from)
cmake_path(RELATIVE_PATH prefix_from_pkgconfig BASE_DIRECTORY ${from})
configure_file(cmake/memprof.pc.in ${PROJECT_BINARY_DIR}/memprof.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/memprof.pc DESTINATION ${pkgconfig_directory})

install(FILES THIRD_PARTY_NOTICES.md TYPE DOC)
if(NOT MEMPROF_DEBIAN)  # which has it in its copyright page
  install(FILES LICENSE TYPE DOC)
endif()
