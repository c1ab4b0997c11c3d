# Tests that run a program under memprof.
#
#   memprof_add_budget_test(NAME parser_budget TARGET parser_soak BUDGET memprof.toml
#                           [BASELINE nightly.memprof] [ARGS …] [OUTPUT FILE]
#                           [RUN_OPTIONS …] [TIMEOUT SECONDS] [WORKING_DIRECTORY DIR])
#     A test that runs the target and fails with what is over the budget, or with the target's own
#     status. BUDGET and BASELINE are relative to the current source directory; BASELINE may be a
#     folder of kept captures, also an empty one. The capture is
#     OUTPUT, else NAME.memprof in the current binary directory; what it was before is overwritten.
#     RUN_OPTIONS are options of `memprof run`.
#
#   memprof_add_test(NAME parser_test TARGET parser_test [the same, without BUDGET and BASELINE])
#     The same without a budget: for tests that have limits in them (memprof/gtest.h). Without a
#     tracker these fail here (MEMPROF_REQUIRED).
#
# TIMEOUT is 300 seconds unless given.

function(memprof_add_budget_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "BUDGET" "")
  if(NOT arg_BUDGET)
    message(FATAL_ERROR "memprof_add_budget_test needs a BUDGET; without one use memprof_add_test.")
  endif()
  _memprof_add_test(memprof_add_budget_test ${ARGV})
endfunction()

function(memprof_add_test)
  _memprof_add_test(memprof_add_test ${ARGV})
endfunction()

function(_memprof_add_test function)
  cmake_parse_arguments(PARSE_ARGV 1 arg ""
    "NAME;TARGET;BUDGET;BASELINE;OUTPUT;TIMEOUT;WORKING_DIRECTORY" "ARGS;RUN_OPTIONS")
  foreach(needed NAME TARGET)
    if(NOT arg_${needed})
      message(FATAL_ERROR "${function} needs a ${needed}.")
    endif()
  endforeach()
  if(arg_UNPARSED_ARGUMENTS)
    list(JOIN arg_UNPARSED_ARGUMENTS " " words)
    message(FATAL_ERROR "${function}(NAME ${arg_NAME}): what is meant by '${words}'?")
  endif()
  if(NOT TARGET ${arg_TARGET})
    message(FATAL_ERROR "${function}(NAME ${arg_NAME}): there is no target '${arg_TARGET}'.")
  endif()

  if(NOT arg_OUTPUT)
    string(REGEX REPLACE "[^A-Za-z0-9_.-]" "_" arg_OUTPUT "${arg_NAME}.memprof")
  endif()
  cmake_path(ABSOLUTE_PATH arg_OUTPUT BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  set(options -f -o ${arg_OUTPUT})
  foreach(file BUDGET BASELINE)
    if(arg_${file})
      string(TOLOWER --${file} option)
      cmake_path(ABSOLUTE_PATH arg_${file} BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
      list(APPEND options ${option} ${arg_${file}})
    endif()
  endforeach()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(NOT arg_WORKING_DIRECTORY)
    set(arg_WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  endif()

  add_test(NAME ${arg_NAME} WORKING_DIRECTORY ${arg_WORKING_DIRECTORY}
    COMMAND memprof::tool run ${options} ${arg_RUN_OPTIONS} -- $<TARGET_FILE:${arg_TARGET}> ${arg_ARGS})
  set_tests_properties(${arg_NAME} PROPERTIES
    TIMEOUT ${arg_TIMEOUT} ENVIRONMENT MEMPROF_REQUIRED=1 ATTACHED_FILES_ON_FAIL ${arg_OUTPUT})
endfunction()
