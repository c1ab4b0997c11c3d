# The two kinds of code and how a test is declared.
#
# memprof_options          every target: warnings, include root
# memprof_report_options   outside the profiled process: sanitizers allowed
# memprof_preload_options  inside it: no exceptions, no RTTI, nothing of libstdc++ at run time

add_library(memprof_options INTERFACE)
target_include_directories(memprof_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(memprof_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wundef
  -Wnon-virtual-dtor -Woverloaded-virtual
  # Code with a mutex is annotated (cli/basics/mutex.h).
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
  # Wrong about std::string in gcc 12 (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(MEMPROF_DEBIAN)  # the same bytes wherever the sources are
  target_compile_options(memprof_options INTERFACE -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
endif()
if(MEMPROF_WERROR)
  target_compile_options(memprof_options INTERFACE -Werror)
endif()
if(MEMPROF_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # It takes each file for a header then.
  target_compile_options(memprof_options INTERFACE -Wno-subobject-linkage)
endif()

add_library(memprof_report_options INTERFACE)
target_link_libraries(memprof_report_options INTERFACE memprof_options)
# CMake's -O3 takes half as long again to compile, and makes no report faster that was measured.
target_compile_options(memprof_report_options INTERFACE $<$<CONFIG:Release>:-O2>)
if(MEMPROF_SANITIZE)
  target_compile_options(memprof_report_options INTERFACE
    -fsanitize=${MEMPROF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(memprof_report_options INTERFACE -fsanitize=${MEMPROF_SANITIZE})
endif()

if(MEMPROF_COVERAGE)  # for tools/coverage.py
  set(coverage -fprofile-instr-generate -fcoverage-mapping)
  target_compile_options(memprof_report_options INTERFACE ${coverage})
  target_link_options(memprof_report_options INTERFACE ${coverage})
endif()
if(MEMPROF_UNOPTIMIZED)  # but for targets with the property MEMPROF_OPTIMIZED
  target_compile_options(memprof_report_options INTERFACE
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:MEMPROF_OPTIMIZED>>>:-O0$<SEMICOLON>-g1>)
endif()

add_library(memprof_preload_options INTERFACE)
target_link_libraries(memprof_preload_options INTERFACE memprof_options)
target_compile_options(memprof_preload_options INTERFACE
  -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-omit-frame-pointer
  -fvisibility=hidden -ftls-model=initial-exec -fno-stack-protector -mcx16 -fno-builtin-malloc
  # It calls libc's own functions by other names (aggregator/basics/bytes_and_strings.cc).
  -U_FORTIFY_SOURCE
  # Hooks jump to what they call last (hooks/hooks_c.cc).
  $<$<CONFIG:Debug>:-O2> -foptimize-sibling-calls)

# memprof_test(NAME [LABEL unit|e2e|…] SOURCES … [LIBRARIES …]): one GoogleTest program, one ctest
# entry a TEST.
function(memprof_test name)
  cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT arg_LABEL)
    set(arg_LABEL unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(MEMPROF_SANITIZE)  # without optimization, too
    math(EXPR arg_TIMEOUT "5 * ${arg_TIMEOUT}")
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE memprof_report_options ${arg_LIBRARIES}
                        GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(arg_LABEL STREQUAL unit)
    add_dependencies(unit_tests ${name})
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES
                       PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT}
                       # No test asks a server for debug info.
                       ENVIRONMENT_MODIFICATION DEBUGINFOD_URLS=unset:)
endfunction()
