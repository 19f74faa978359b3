# What the project's own programs use; nothing here reaches a user of muster::muster.
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)

add_library(muster_dev INTERFACE)
target_compile_options(muster_dev INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(muster_dev INTERFACE -Wno-restrict) # g++ 12 warns of "a" + std::string itself (PR 105651)
endif()

# The optional packages that the headers of include/muster/ext/ include.
add_library(muster_ext INTERFACE)
target_link_libraries(muster_ext INTERFACE muster::muster fmt::fmt yaml-cpp nlohmann_json::nlohmann_json ZLIB::ZLIB)

# The build preset `headers` compiles each header alone, under the project's warnings: the core with what muster::muster
# gives, `ext/` with its optional packages too.
function(muster_verify_headers name library)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${library} muster_dev)
    target_sources(${name} INTERFACE FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${ARGN})
    set_target_properties(${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
endfunction()
muster_verify_headers(muster_core_headers muster::muster ${muster_headers})
muster_verify_headers(muster_ext_headers muster_ext ${muster_ext_headers})

# Adds a program built with the project's warnings.
function(muster_program name)
    cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} muster_dev)
    set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()
