# Builds and runs the consumer: FROM=subdirectory uses the sources, FROM=installed what `cmake --install` gives.
#
# Packages that only muster's own programs use are made impossible to find, so asking for one is an error.
file(REMOVE_RECURSE ${scratch})
set(configure ${CMAKE_COMMAND} -G ${generator} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${scratch}/build
    -D CMAKE_CXX_COMPILER=${compiler})
foreach(package fmt yaml-cpp nlohmann_json CLI11 ZLIB doctest rapidcheck benchmark)
    list(APPEND configure -D CMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
endforeach()

function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "failed: ${ARGN}\n${output}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

if(FROM STREQUAL "subdirectory")
    list(APPEND configure -D muster_source=${source})
else()
    run(${CMAKE_COMMAND} --install ${build} --prefix ${scratch}/prefix)
    list(APPEND configure -D CMAKE_PREFIX_PATH=${scratch}/prefix -D muster_version=${version})
endif()
run(${configure})
run(${CMAKE_COMMAND} --build ${scratch}/build)
run(${scratch}/build/consumer)
message(STATUS "${output}")
file(REMOVE_RECURSE ${scratch})
