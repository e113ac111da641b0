/* What a tool asks of the operating system: whether someone watches, and how old files are. */
#ifndef MICAP_OS_TERMINAL_H
#define MICAP_OS_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

bool micap_is_terminal(FILE *stream);

/* When a file was changed, in nanoseconds since 1970; 0 when there is none. */
uint64_t micap_file_time(const char *path);

#endif
