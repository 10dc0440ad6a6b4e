# What every target shares, and the functions behind the one-line CMakeLists.txt of each folder.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
if(FLOPWISE_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  include(GoogleTest)
endif()

add_library(flopwise_options INTERFACE)
target_include_directories(flopwise_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
# The compiled fmt: with fmt::fmt-header-only a source takes twice as long (g++ 12 on
# report/count_text.cc: 6.5 s against 3.6 s at -O2, 15.7 s against 7.7 s under the sanitizers).
target_link_libraries(flopwise_options INTERFACE fmt::fmt nlohmann_json::nlohmann_json)
target_compile_options(flopwise_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror
  # GCC 12 warns falsely about "literal" + std::string (GCC bug 105651), and about
  # uninitialized values in code that a sanitizer has instrumented.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(FLOPWISE_SANITIZE)
  # Without the checks of pointers: the address sanitizer stops at a bad one as well, and they are
  # a quarter of the compile time (g++ 12 on base/units.cc: 9.5 s with, 7.0 s without them).
  target_compile_options(flopwise_options INTERFACE
    -fsanitize=${FLOPWISE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    -fno-sanitize=null,alignment,vptr,object-size,nonnull-attribute,returns-nonnull-attribute
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_compile_definitions(flopwise_options INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(flopwise_options INTERFACE -fsanitize=${FLOPWISE_SANITIZE})
endif()
if(FLOPWISE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "FLOPWISE_FUZZ needs clang, got ${CMAKE_CXX_COMPILER_ID}")
  endif()
  # The counters by which libFuzzer sees what an input reached.
  target_compile_options(flopwise_options INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(flopwise_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# FLOPWISE_PCH: what nearly every source includes, parsed once, and the same for tests. The release
# build goes without, and so finds a source that forgets an include.
function(flopwise_pch name)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.cc CONTENT "")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE flopwise_options)
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()
if(FLOPWISE_PCH)
  set(common_headers <algorithm> <functional> <map> <optional> <set> <string> <utility> <variant>
    <vector> <fmt/format.h>)
  flopwise_pch(flopwise_pch ${common_headers})
endif()
function(flopwise_precompiled target pch)
  if(FLOPWISE_PCH)
    target_precompile_headers(${target} REUSE_FROM ${pch})
  endif()
endfunction()

# How a test is compiled: it runs briefly and is slow to compile (RapidCheck's templates), so -O0;
# what it tests is -O1.
function(flopwise_compile_as_test target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-O0>)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})  # "tests/helper.h"
  target_compile_definitions(${target} PRIVATE
    FLOPWISE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" FLOPWISE_PROGRAM="${PROJECT_BINARY_DIR}/flopwise")
endfunction()
if(FLOPWISE_PCH AND FLOPWISE_TESTS)
  flopwise_pch(flopwise_test_pch ${common_headers} <gmock/gmock.h> <gtest/gtest.h>
    <rapidcheck/gtest.h> <rapidcheck.h>)
  target_link_libraries(flopwise_test_pch PRIVATE rapidcheck GTest::gmock)
  flopwise_compile_as_test(flopwise_test_pch)
endif()

# Sources of the current folder and below, tests apart: sets `sources` and `test_sources`.
macro(flopwise_glob)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cc)
  set(test_sources ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER test_sources INCLUDE REGEX "_test\\.cc$")
endmacro()

# flopwise_layer(NAME [DEPENDS LAYER...] [TEST_DEPENDS LAYER...] [LIBRARIES TARGET...])
# The folder's sources as library flopwise_NAME, and its *_test.cc as the program NAME_test.
# TEST_DEPENDS: layers that only the tests use, such as model in the tests of cost.
function(flopwise_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;TEST_DEPENDS;LIBRARIES")
  list(TRANSFORM arg_DEPENDS PREPEND flopwise_)
  list(TRANSFORM arg_TEST_DEPENDS PREPEND flopwise_)
  flopwise_glob()
  if(sources)
    add_library(flopwise_${name} STATIC ${sources})
    target_link_libraries(flopwise_${name} PUBLIC flopwise_options ${arg_DEPENDS} ${arg_LIBRARIES})
    flopwise_precompiled(flopwise_${name} flopwise_pch)
  else()
    add_library(flopwise_${name} INTERFACE)
    target_link_libraries(flopwise_${name} INTERFACE flopwise_options ${arg_DEPENDS} ${arg_LIBRARIES})
  endif()
  flopwise_test(${name}_test "${test_sources}" flopwise_${name} ${arg_TEST_DEPENDS})
endfunction()

# flopwise_test(PROGRAM SOURCES TARGET...): one GoogleTest program; every TEST in it is a ctest test.
function(flopwise_test program sources)
  if(NOT FLOPWISE_TESTS OR NOT sources)
    return()
  endif()
  add_executable(${program} ${sources})
  target_link_libraries(${program} PRIVATE ${ARGN} rapidcheck GTest::gmock GTest::gtest_main)
  flopwise_compile_as_test(${program})
  flopwise_precompiled(${program} flopwise_test_pch)
  gtest_discover_tests(${program} TEST_PREFIX "${program}." DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 900)
endfunction()

# flopwise_part(OPTION FOLDER): a part that its option switches on; says so where it is not there.
function(flopwise_part option folder)
  if(NOT ${option})
    return()
  endif()
  if(EXISTS ${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt)
    add_subdirectory(${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_BINARY_DIR}/${folder})
  else()
    message(STATUS "${option} is on, but this tree has no ${folder}: nothing more is built")
  endif()
endfunction()
