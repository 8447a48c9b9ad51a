# SPDX-License-Identifier: Apache-2.0

# What `cmake --install` puts where: libraries, headers, the CMake package with its components, pkg-config files and
# the program. The installed tree may be moved as a whole.
include(CMakePackageConfigHelpers)

set(pinwarden_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/pinwarden)
set(pinwarden_components)

# What a program must be linked with besides a static Pinwarden; a shared one brings it along.
get_target_property(pinwarden_type pinwarden TYPE)
set(pinwarden_static_libraries)
set(pinwarden_needs_cuda FALSE)
if(pinwarden_type STREQUAL "STATIC_LIBRARY")
  set(pinwarden_static_libraries -pthread -ldl)
  if(TARGET pinwarden_cuda)
    set(pinwarden_needs_cuda TRUE)
    list(PREPEND pinwarden_static_libraries "${CUDA_cudart_static_LIBRARY}" -ldl -lrt)
  endif()
endif()

# Installs a library and its headers as one component of the package, with a pkg-config file of the library's name; of a
# LISTENER the source instead, which only CMake knows how to make a part of a program.
function(pinwarden_install_component component target)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "DESCRIPTION;REQUIRES;LISTENER" "")
  install(
    TARGETS ${target}
    EXPORT pinwarden-${component}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(
    EXPORT pinwarden-${component}
    NAMESPACE pinwarden::
    DESTINATION ${pinwarden_package_folder})

  set(pinwarden_components ${pinwarden_components} ${component} PARENT_SCOPE)
  if(arg_LISTENER)
    install(FILES ${arg_LISTENER} DESTINATION ${CMAKE_INSTALL_DATADIR}/pinwarden/listeners)
    return()
  endif()
  set(libraries)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    set(libraries "-l${target}")
  endif()
  if(target STREQUAL "pinwarden")
    list(APPEND libraries ${pinwarden_static_libraries})
  elseif(target STREQUAL "pinwarden_mpi" AND type STREQUAL "STATIC_LIBRARY")
    list(APPEND libraries ${pinwarden_mpi_libraries})
  endif()
  list(JOIN libraries " " libraries)
  set(description "${arg_DESCRIPTION}")
  set(requires "${arg_REQUIRES}")
  # Relative to the file itself, so that the tree can be moved; folders given as absolute paths stay where they are.
  set(prefix "${CMAKE_INSTALL_PREFIX}")
  if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    file(RELATIVE_PATH to_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
    string(REGEX REPLACE "(.)/$" "\\1" to_prefix "${to_prefix}")
    set(prefix "\${pcfiledir}/${to_prefix}")
  endif()
  set(library_folder "\${prefix}")
  cmake_path(APPEND library_folder "${CMAKE_INSTALL_LIBDIR}")
  set(include_folder "\${prefix}")
  cmake_path(APPEND include_folder "${CMAKE_INSTALL_INCLUDEDIR}")
  configure_file(${PROJECT_SOURCE_DIR}/src/package/pinwarden.pc.in ${PROJECT_BINARY_DIR}/package/${target}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/${target}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

pinwarden_install_component(
  pinwarden pinwarden DESCRIPTION "Owned and audited page-locked host memory")
pinwarden_install_component(
  zero pinwarden_zero DESCRIPTION "A ZeRO training engine whose pinned memory is owned and audited" REQUIRES pinwarden)
if(TARGET pinwarden_cuda)
  set_target_properties(pinwarden_cuda PROPERTIES EXPORT_NAME cuda)
  pinwarden_install_component(
    cuda pinwarden_cuda DESCRIPTION "CUDA devices and host memory pinned by the CUDA runtime" REQUIRES pinwarden)
endif()
pinwarden_install_component(
  catch2 pinwarden_catch2 LISTENER ${PROJECT_SOURCE_DIR}/audit/listeners/catch2.cpp)
pinwarden_install_component(
  gtest pinwarden_gtest LISTENER ${PROJECT_SOURCE_DIR}/audit/listeners/gtest.cpp)

if(TARGET pinwarden_mpi)
  pinwarden_install_component(
    mpi pinwarden_mpi DESCRIPTION "Ranks of the ZeRO engine as processes of MPI" REQUIRES pinwarden_zero)
endif()

list(JOIN pinwarden_components " " pinwarden_component_names)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/src/package/pinwarden-config.cmake.in ${PROJECT_BINARY_DIR}/package/pinwarden-config.cmake
  INSTALL_DESTINATION ${pinwarden_package_folder}
  NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change what a program sees.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/package/pinwarden-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/pinwarden-config.cmake
              ${PROJECT_BINARY_DIR}/package/pinwarden-config-version.cmake
        DESTINATION ${pinwarden_package_folder})

if(TARGET pinwarden_command)
  # The program finds the libraries that are installed beside it, wherever that is.
  file(RELATIVE_PATH to_libraries "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(pinwarden_command PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
  install(TARGETS pinwarden_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(TARGET pinwarden_scan_file)
    # Where `pinwarden scan` looks for it: a program of the program's, not of its users.
    file(RELATIVE_PATH to_libraries "/prefix/libexec/pinwarden" "/prefix/${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(pinwarden_scan_file PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
    install(TARGETS pinwarden_scan_file RUNTIME DESTINATION libexec/pinwarden)
  endif()
endif()

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
