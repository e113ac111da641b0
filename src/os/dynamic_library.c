#if !defined(_WIN32) && !defined(_GNU_SOURCE)
#    define _GNU_SOURCE 1 /* for dladdr and RTLD_DEFAULT, which are not in POSIX */
#endif
#include "os/dynamic_library.h"

#include <stdio.h>

#if !defined(_WIN32) && !defined(__EMSCRIPTEN__)
#    include <dlfcn.h>
#    include <errno.h>
#    include <fcntl.h>
#    include <stdint.h>
#    include <stdlib.h>
#    include <string.h>
#    include <sys/stat.h>
#    include <unistd.h>
#    ifdef __linux__
#        include <link.h>
#    endif

/* Returns 0 or an errno. The file is read, not mapped: a compiler may truncate it. */
static int copy_file(const char *path, int to)
{
    char bytes[1 << 14];
    int from = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = from < 0 ? -1 : 1, written = count;
    while (count > 0 && written == count) {
        count = read(from, bytes, sizeof bytes);
        written = count > 0 ? write(to, bytes, (size_t)count) : count;
    }
    int problem = count < 0 || written < 0 ? errno : written < count ? ENOSPC : 0;
    if (from >= 0)
        close(from);
    return problem;
}

/* The system maps a library that is not complete, and ends the program when it reads what is missing. */
static bool is_complete(int file)
{
#    ifdef __linux__
    struct stat about;
    ElfW(Ehdr) header;
    ElfW(Phdr) segment;
    if (fstat(file, &about) || pread(file, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    uint64_t bytes = (uint64_t)about.st_size;
    bool fits = header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize <= bytes;
    for (unsigned i = 0; fits && i < header.e_phnum; ++i) {
        ssize_t count = pread(file, &segment, sizeof segment, (off_t)(header.e_phoff + i * sizeof segment));
        fits = count == (ssize_t)sizeof segment && segment.p_offset + segment.p_filesz <= bytes;
    }
    return fits;
#    else
    (void)file;
    return true;
#    endif
}

/* The reason that the system gives, without the name of the copy, which changes every time. */
static const char *reason_without(const char *name)
{
    const char *reason = dlerror();
    size_t length = strlen(name);
    return strncmp(reason, name, length) == 0 && strncmp(reason + length, ": ", 2) == 0 ? reason + length + 2 : reason;
}

/* The system would return the library that it loaded from this path before, and a compiler overwrites the file while it is mapped. So
 * a copy is loaded, whose name is not needed afterwards. */
static void *open_copy(const char *path, char *out_reason, size_t reason_bytes)
{
    char name[4096];
    const char *folder = getenv("TMPDIR");
    snprintf(name, sizeof name, "%s/mica_module_XXXXXX", folder && *folder ? folder : "/tmp");
    int file = mkstemp(name);
    if (file < 0) {
        snprintf(out_reason, reason_bytes, "a copy can't be written: %s: %s", name, strerror(errno));
        return NULL;
    }
    int problem = copy_file(path, file);
    bool complete = !problem && is_complete(file);
    close(file);
    void *library = complete ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        snprintf(out_reason, reason_bytes, "%s",
                 problem     ? strerror(problem)
                 : !complete ? "the file is not a shared library, or not complete"
                             : reason_without(name));
    unlink(name);
    return library;
}

void *micap_dynamic_library_open(const char *path, bool as_copy, char *out_reason, size_t reason_bytes)
{
    char here[4096];
    if (as_copy)
        return open_copy(path, out_reason, reason_bytes);
    /* Without a slash, the system would search its library folders. */
    if (!strchr(path, '/') && snprintf(here, sizeof here, "./%s", path) < (int)sizeof here)
        path = here;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        snprintf(out_reason, reason_bytes, "%s", dlerror());
    return library;
}

void micap_dynamic_library_close(void *library)
{
    dlclose(library);
}

void *micap_dynamic_library_find(void *library, const char *name)
{
    return dlsym(library ? library : RTLD_DEFAULT, name);
}

const void *micap_dynamic_library_base(const void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}
#else
void *micap_dynamic_library_open(const char *path, bool as_copy, char *out_reason, size_t reason_bytes)
{
    (void)path;
    (void)as_copy;
    snprintf(out_reason, reason_bytes, "this system can't load modules");
    return NULL;
}

void micap_dynamic_library_close(void *library)
{
    (void)library;
}

void *micap_dynamic_library_find(void *library, const char *name)
{
    (void)library;
    (void)name;
    return NULL;
}

const void *micap_dynamic_library_base(const void *address)
{
    (void)address;
    return NULL;
}
#endif
