#if defined(__linux__) && !defined(_DEFAULT_SOURCE)
#    define _DEFAULT_SOURCE 1 /* for fileno and isatty, which strict C17 hides */
#endif
#include "os/terminal.h"

#if defined(__linux__) || defined(__APPLE__)
#    include <sys/stat.h>
#    include <unistd.h>

bool micap_is_terminal(FILE *stream)
{
    return isatty(fileno(stream)) == 1;
}

uint64_t micap_file_time(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return 0;
#    if defined(__APPLE__)
    return (uint64_t)about.st_mtimespec.tv_sec * 1000000000u + (uint64_t)about.st_mtimespec.tv_nsec;
#    else
    return (uint64_t)about.st_mtim.tv_sec * 1000000000u + (uint64_t)about.st_mtim.tv_nsec;
#    endif
}

#else

bool micap_is_terminal(FILE *stream)
{
    (void)stream;
    return false;
}

uint64_t micap_file_time(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file)
        fclose(file);
    return file ? 1 : 0;
}
#endif
