/* Whether a file is a terminal, for progress output of the tool. */
#ifndef MICAP_OS_TERMINAL_H
#define MICAP_OS_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

bool micap_is_terminal(FILE *stream);

#endif
