/* All of src/os on Windows. Paths are UTF-8 here as everywhere. */
#include "os/clock.h"
#include "os/file.h"
#include "os/pages.h"
#include "os/terminal.h"

#ifdef _WIN32
#    include <errno.h>
#    include <io.h>
#    include <stdatomic.h>
#    include <stdio.h>
#    include <stdlib.h>
#    include <wchar.h>
#    define WIN32_LEAN_AND_MEAN
#    include <windows.h>

uint64_t micap_clock_ns(void)
{
    LARGE_INTEGER now, per_second;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&per_second);
    uint64_t ticks = (uint64_t)now.QuadPart, frequency = (uint64_t)per_second.QuadPart;
    return ticks / frequency * 1000000000u + ticks % frequency * 1000000000u / frequency;
}

uint64_t micap_processor_ns(void)
{
    FILETIME created, ended, kernel, user;
    if (!GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user))
        return 0;
    uint64_t system = (uint64_t)kernel.dwHighDateTime << 32 | kernel.dwLowDateTime;
    uint64_t own = (uint64_t)user.dwHighDateTime << 32 | user.dwLowDateTime;
    return (system + own) * 100;
}

void micap_sleep_ns(uint64_t ns)
{
    Sleep((DWORD)(ns / 1000000u));
}

uint32_t micap_core_count(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwNumberOfProcessors ? info.dwNumberOfProcessors : 1;
}

void micap_yield(void)
{
    SwitchToThread();
}

bool micap_is_terminal(FILE *stream)
{
    return _isatty(_fileno(stream)) != 0;
}

/* Reservations begin at multiples of 64 KiB. More is reserved where that is not enough, which costs addresses and no memory:
 * pages are there once they are committed. Large pages need a right that users don't have. */
void *micap_pages_allocate(size_t bytes, size_t alignment)
{
    size_t slack = alignment > 65536 ? alignment : 0;
    if (bytes > SIZE_MAX - slack)
        return NULL;
    char *reserved = VirtualAlloc(NULL, bytes + slack, MEM_RESERVE, PAGE_READWRITE);
    if (!reserved)
        return NULL;
    char *aligned = (char *)(((uintptr_t)reserved + alignment - 1) & ~(uintptr_t)(alignment - 1));
    void *pages = VirtualAlloc(aligned, bytes, MEM_COMMIT, PAGE_READWRITE);
    if (!pages)
        VirtualFree(reserved, 0, MEM_RELEASE);
    return pages;
}

void micap_pages_release(void *pages, size_t bytes)
{
    (void)bytes;
    MEMORY_BASIC_INFORMATION about;
    if (VirtualQuery(pages, &about, sizeof about))
        VirtualFree(about.AllocationBase, 0, MEM_RELEASE);
}

void micap_pages_discard(void *part, size_t bytes)
{
    (void)part;
    (void)bytes;
}

static int last_problem(void)
{
    switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME: return ENOENT;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_USER_MAPPED_FILE: return EACCES;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: return EEXIST;
    case ERROR_NOT_ENOUGH_MEMORY: return ENOMEM;
    case ERROR_DISK_FULL: return ENOSPC;
    default: return EIO;
    }
}

/* Returns a copy that the caller frees; NULL if memory is short or the text is not valid UTF-8. */
static wchar_t *wide(const char *path)
{
    int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
    wchar_t *text = length > 0 ? malloc((size_t)length * sizeof *text) : NULL;
    if (text)
        MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, text, length);
    return text;
}

static int map_handle(HANDLE file, micap_mapping *out_mapping)
{
    LARGE_INTEGER size;
    if (!GetFileSizeEx(file, &size))
        return last_problem();
    if (size.QuadPart == 0)
        return 0;
    HANDLE section = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
    void *bytes = section ? MapViewOfFile(section, FILE_MAP_READ, 0, 0, 0) : NULL;
    int problem = bytes ? 0 : last_problem();
    if (section)
        CloseHandle(section);
    if (bytes)
        *out_mapping = (micap_mapping){bytes, (size_t)size.QuadPart};
    return problem;
}

int micap_file_map(const char *path, micap_mapping *out_mapping)
{
    *out_mapping = (micap_mapping){0};
    wchar_t *name = wide(path);
    if (!name)
        return ENOENT;
    DWORD attributes = GetFileAttributesW(name);
    int problem = attributes != INVALID_FILE_ATTRIBUTES && attributes & FILE_ATTRIBUTE_DIRECTORY ? EISDIR : 0;
    if (!problem) {
        HANDLE file = CreateFileW(name, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                  OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
        problem = file == INVALID_HANDLE_VALUE ? last_problem() : map_handle(file, out_mapping);
        if (file != INVALID_HANDLE_VALUE)
            CloseHandle(file);
    }
    free(name);
    return problem;
}

void micap_file_unmap(micap_mapping *mapping)
{
    if (mapping->bytes)
        UnmapViewOfFile(mapping->bytes);
    *mapping = (micap_mapping){0};
}

micap_file_stamp micap_file_look(const char *path)
{
    micap_file_stamp stamp = {0};
    wchar_t *name = wide(path);
    HANDLE file = name ? CreateFileW(name, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                     OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL)
                       : INVALID_HANDLE_VALUE;
    BY_HANDLE_FILE_INFORMATION about;
    if (file != INVALID_HANDLE_VALUE && GetFileInformationByHandle(file, &about)) {
        /* In units of 100 ns since 1601. */
        uint64_t time = (uint64_t)about.ftLastWriteTime.dwHighDateTime << 32 | about.ftLastWriteTime.dwLowDateTime;
        stamp.seconds = time / 10000000 - 11644473600u;
        stamp.nanoseconds = time % 10000000 * 100;
        stamp.byte_count = (uint64_t)about.nFileSizeHigh << 32 | about.nFileSizeLow;
        stamp.identity = (uint64_t)about.nFileIndexHigh << 32 | about.nFileIndexLow;
    }
    if (file != INVALID_HANDLE_VALUE)
        CloseHandle(file);
    free(name);
    return stamp;
}

/* Creates a new file next to the target, with a name derived from it. */
static HANDLE create_beside(const wchar_t *path, wchar_t *out_temporary, size_t capacity)
{
    static atomic_uint next;
    for (uint32_t tries = 0; tries < 1000; ++tries) {
        unsigned number = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
        swprintf(out_temporary, capacity, L"%ls.%lx-%x", path, GetCurrentProcessId(), number);
        HANDLE file = CreateFileW(out_temporary, GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
        if (file != INVALID_HANDLE_VALUE || GetLastError() != ERROR_FILE_EXISTS)
            return file;
    }
    return INVALID_HANDLE_VALUE;
}

void micap_file_remove_leftovers(const char *path, micap_file_rest_fn is_chosen, const void *context)
{
    (void)path, (void)is_chosen, (void)context; /* mica::cluster, which needs it, does not run on Windows */
}

int micap_replacement_begin(micap_replacement *replacement, const char *path, uint64_t byte_count)
{
    (void)byte_count;
    wchar_t *name = wide(path);
    size_t capacity = name ? wcslen(name) + sizeof ".01234567-01234567" : 0;
    wchar_t *temporary = name ? malloc(capacity * sizeof *temporary) : NULL;
    HANDLE file = temporary ? create_beside(name, temporary, capacity) : INVALID_HANDLE_VALUE;
    int problem = !temporary ? ENOMEM : file == INVALID_HANDLE_VALUE ? last_problem() : 0;
    *replacement = (micap_replacement){(char *)name, (char *)temporary, (intptr_t)file};
    if (problem) {
        free(temporary);
        free(name);
    }
    return problem;
}

int micap_replacement_write(micap_replacement *replacement, uint64_t offset, const void *bytes, size_t byte_count)
{
    const char *at = bytes;
    while (byte_count) {
        DWORD written, piece = byte_count > 1u << 30 ? 1u << 30 : (DWORD)byte_count;
        OVERLAPPED location = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)};
        if (!WriteFile((HANDLE)replacement->file, at, piece, &written, &location))
            return last_problem();
        at += written;
        offset += written;
        byte_count -= written;
    }
    return 0;
}

int micap_replacement_end(micap_replacement *replacement, int problem)
{
    wchar_t *name = (wchar_t *)(void *)replacement->path, *temporary = (wchar_t *)(void *)replacement->temporary;
    if (!problem && !FlushFileBuffers((HANDLE)replacement->file))
        problem = last_problem();
    CloseHandle((HANDLE)replacement->file);
    if (!problem && !MoveFileExW(temporary, name, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
        problem = last_problem();
    if (problem)
        DeleteFileW(temporary);
    free(temporary);
    free(name);
    return problem;
}

#endif
