# Runs PROGRAM with ARGUMENTS and fails unless its standard output is, byte for byte, the file EXPECTED.
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} OUTPUT_FILE ${OUTPUT} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ended with ${status}")
endif()
execute_process(COMMAND diff -u ${EXPECTED} ${OUTPUT} RESULT_VARIABLE differs)
if(differs)
    message(FATAL_ERROR "the output of ${PROGRAM} is not ${EXPECTED}")
endif()
