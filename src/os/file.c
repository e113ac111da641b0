/* Systems with POSIX; windows.c has the others. */
#if !defined(_WIN32) && !defined(_DEFAULT_SOURCE)
#    define _DEFAULT_SOURCE 1 /* for fsync and pwrite, which strict C17 hides */
#endif
#include "os/file.h"

#ifndef _WIN32
#    include <dirent.h>
#    include <errno.h>
#    include <fcntl.h>
#    include <stdatomic.h>
#    include <stdio.h>
#    include <stdlib.h>
#    include <string.h>
#    include <sys/mman.h>
#    include <sys/stat.h>
#    ifdef __linux__
#        include <sys/syscall.h>
#    endif
#    include <unistd.h>

int micap_file_map(const char *path, micap_mapping *out_mapping)
{
    *out_mapping = (micap_mapping){0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno;
    struct stat about;
    int problem = fstat(file, &about) ? errno : S_ISDIR(about.st_mode) ? EISDIR : 0;
    if (!problem && about.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes == MAP_FAILED)
            problem = errno;
        else
            *out_mapping = (micap_mapping){bytes, (size_t)about.st_size};
    }
    close(file);
    return problem;
}

micap_file_stamp micap_file_look(const char *path)
{
    struct stat about;
    if (stat(path, &about))
        return (micap_file_stamp){0};
#    ifdef __APPLE__
    struct timespec time = about.st_mtimespec;
#    else
    struct timespec time = about.st_mtim;
#    endif
    return (micap_file_stamp){(uint64_t)time.tv_sec, (uint64_t)time.tv_nsec, (uint64_t)about.st_size,
                              (uint64_t)about.st_ino};
}

void micap_file_unmap(micap_mapping *mapping)
{
    if (mapping->bytes)
        munmap(mapping->bytes, mapping->byte_count);
    *mapping = (micap_mapping){0};
}

static int sync_file(int file)
{
    while (fsync(file))
        if (errno != EINTR)
            return errno;
    return 0;
}

/* The rename is durable only after the folder is synced. It is not an error if the folder cannot be opened or the file system does
 * not sync folders; an I/O error is. */
static int sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    const char *folder = ".";
    if (slash) {
        slash[slash == path ? 1 : 0] = 0;
        folder = path;
    }
    int file = open(folder, O_RDONLY | O_CLOEXEC);
    int problem = file < 0 ? errno : sync_file(file);
    if (file >= 0)
        close(file);
    return problem == EIO || problem == ENOSPC || problem == EDQUOT ? problem : 0;
}

/* Creates a new file next to the target, with a name derived from it. mkstemp would create it with mode 0600, and reading the umask to
 * correct that needs a change of the umask of the whole process. */
static int create_beside(const char *path, char *out_temporary, size_t capacity)
{
    static atomic_uint next;
    for (uint32_t tries = 0; tries < 1000; ++tries) {
        unsigned number = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
        snprintf(out_temporary, capacity, "%s.%lx-%x", path, (unsigned long)getpid(), number);
        int file = open(out_temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 || errno != EEXIST)
            return file;
    }
    return -1;
}

/* Whether a name is one that create_beside gives to a file for the target, or for one of its numbered parts. */
static bool is_temporary(const char *rest)
{
    const char *last = strrchr(rest, '.');
    if (!last || strspn(rest, ".0123456789") < (size_t)(last - rest))
        return false;
    size_t process = strspn(last + 1, "0123456789abcdef");
    if (!process || last[1 + process] != '-')
        return false;
    const char *number = last + process + 2;
    return *number && !number[strspn(number, "0123456789abcdef")];
}

void micap_file_remove_leftovers(const char *path, micap_file_rest_fn is_chosen, const void *context)
{
    const char *slash = strrchr(path, '/');
    size_t folder_bytes = slash ? (size_t)(slash - path) + 1 : 0;
    char *folder = malloc(folder_bytes + 2);
    if (!folder)
        return;
    memcpy(folder, path, folder_bytes);
    memcpy(folder + folder_bytes, ".", 2);
    DIR *entries = opendir(folder);
    size_t name_bytes = strlen(path + folder_bytes);
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        const char *rest = entry->d_name + name_bytes;
        if (!strncmp(entry->d_name, path + folder_bytes, name_bytes) &&
            (is_temporary(rest) || (is_chosen && is_chosen(rest, context))))
            unlinkat(dirfd(entries), entry->d_name, 0);
    }
    if (entries)
        closedir(entries);
    free(folder);
}

/* Asks for room for a large file. If there is none, writing reports it, and most file systems that do not support this refuse at once: a
 * function of libc would write zeros there. */
static void reserve(int file, uint64_t byte_count)
{
#    if defined(__linux__) && defined(__LP64__)
    enum { RESERVED_BYTES_MIN = 1 << 20 };
    if (byte_count >= RESERVED_BYTES_MIN)
        (void)syscall(SYS_fallocate, file, 0, (off_t)0, (off_t)byte_count);
#    else
    (void)file;
    (void)byte_count;
#    endif
}

int micap_replacement_begin(micap_replacement *replacement, const char *path, uint64_t byte_count)
{
    size_t path_bytes = strlen(path) + 1, capacity = path_bytes + sizeof ".0123456789abcdef-01234567";
    *replacement = (micap_replacement){.path = malloc(path_bytes + capacity)};
    if (!replacement->path)
        return ENOMEM;
    memcpy(replacement->path, path, path_bytes);
    replacement->temporary = replacement->path + path_bytes;
    int file = create_beside(path, replacement->temporary, capacity);
    if (file < 0) {
        int problem = errno;
        free(replacement->path);
        return problem;
    }
    replacement->file = file;
    reserve(file, byte_count);
    return 0;
}

int micap_replacement_write(micap_replacement *replacement, uint64_t offset, const void *bytes, size_t byte_count)
{
    const char *at = bytes;
    while (byte_count) {
        ssize_t written = pwrite((int)replacement->file, at, byte_count, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : EIO;
        at += written;
        offset += (uint64_t)written;
        byte_count -= (size_t)written;
    }
    return 0;
}

int micap_replacement_end(micap_replacement *replacement, int problem)
{
    int file = (int)replacement->file;
    if (!problem)
        problem = sync_file(file);
    if (close(file) && !problem)
        problem = errno;
    if (!problem && rename(replacement->temporary, replacement->path))
        problem = errno;
    if (problem)
        unlink(replacement->temporary);
    else
        problem = sync_folder(replacement->temporary);
    free(replacement->path);
    return problem;
}

#endif
