# The library: one INTERFACE target and what its core headers need.
find_package(Boost REQUIRED)
find_package(range-v3 REQUIRED)
find_package(tl-expected REQUIRED)

file(GLOB_RECURSE muster_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/muster/*.hpp)
set(muster_ext_headers ${muster_headers})
list(FILTER muster_ext_headers INCLUDE REGEX "/include/muster/ext/")
list(FILTER muster_headers EXCLUDE REGEX "/include/muster/ext/")

add_library(muster INTERFACE)
add_library(muster::muster ALIAS muster)
target_compile_features(muster INTERFACE cxx_std_20)
target_sources(muster INTERFACE
    FILE_SET core TYPE HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${muster_headers}
    FILE_SET ext TYPE HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${muster_ext_headers})
target_link_libraries(muster INTERFACE Boost::headers range-v3::range-v3 tl::expected)
