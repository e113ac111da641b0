/* Systems with POSIX; windows.c has the others. */
#if !defined(_WIN32) && !defined(_DEFAULT_SOURCE)
#    define _DEFAULT_SOURCE 1 /* for fileno and isatty, which strict C17 hides */
#endif
#include "os/terminal.h"

#ifndef _WIN32
#    include <unistd.h>

bool micap_is_terminal(FILE *stream)
{
    return isatty(fileno(stream)) == 1;
}

#endif
