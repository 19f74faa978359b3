include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(muster_package_dir ${CMAKE_INSTALL_DATADIR}/cmake/muster)
install(TARGETS muster EXPORT muster_targets FILE_SET core FILE_SET ext)
install(EXPORT muster_targets NAMESPACE muster:: DESTINATION ${muster_package_dir} FILE muster-targets.cmake)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/muster-config.cmake.in muster-config.cmake
    INSTALL_DESTINATION ${muster_package_dir})
write_basic_package_version_file(muster-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/muster-config.cmake ${PROJECT_BINARY_DIR}/muster-config-version.cmake
    DESTINATION ${muster_package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
