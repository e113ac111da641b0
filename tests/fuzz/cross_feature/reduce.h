/* Programs that fail. */
#ifndef MICA_TESTS_FUZZ_REDUCE_H
#define MICA_TESTS_FUZZ_REDUCE_H

#include "program.h"

/* Runs a program in a process of its own. Returns whether all was well, and what failed otherwise. */
bool run_apart(const uint8_t *bytes, size_t byte_count, bool is_quiet, char *out_failure);

/* Leaves out steps, and sets arguments to 0, as long as the program fails in the same way. Returns the new length. */
size_t reduce(uint8_t *bytes, size_t byte_count);

#endif
