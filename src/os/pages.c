/* Systems with POSIX; windows.c has the others. */
#if !defined(_WIN32) && !defined(_DEFAULT_SOURCE)
#    define _DEFAULT_SOURCE 1 /* for MAP_ANONYMOUS and madvise, which strict C17 hides */
#endif
#include "os/pages.h"

#include "os/revocable_mapping.h"

#include <stdint.h>

#if !defined(_WIN32) && !defined(__EMSCRIPTEN__)
#    include <sys/mman.h>
#    include <unistd.h>

#    if defined(MICA_CHECKED) && defined(__linux__)
enum { KIND = MAP_SHARED }; /* what is leased is mapped twice */
#    else
enum { KIND = MAP_PRIVATE };
#    endif

void *micap_pages_allocate(size_t bytes, size_t alignment)
{
    if (bytes > SIZE_MAX - alignment)
        return NULL;
    /* Map more than needed, then unmap the parts before and after the aligned range. */
    size_t slack = alignment > MICAP_PAGE_BYTES ? alignment : 0;
    char *raw = mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE, KIND | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED)
        return NULL;
    size_t before = slack ? (alignment - ((uintptr_t)raw & (alignment - 1))) & (alignment - 1) : 0;
    char *pages = raw + before;
    if (before)
        munmap(raw, before);
    if (slack > before)
        munmap(pages + bytes, slack - before);
#    ifdef MADV_HUGEPAGE
    if (bytes >= MICAP_HUGE_PAGE_BYTES)
        madvise(pages, bytes, MADV_HUGEPAGE); /* a wish: refusal only costs speed */
#    endif
    return pages;
}

void micap_pages_release(void *pages, size_t bytes)
{
#    ifdef MICA_CHECKED
    micap_revocable_forget(pages);
#    endif
    munmap(pages, bytes);
}

void micap_pages_discard(void *part, size_t bytes)
{
#    ifndef MICA_CHECKED
    /* In checked builds, pages are mapped twice. */
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE); /* madvise rounds up to it, and it may be larger than ours */
    uintptr_t begin = ((uintptr_t)part + page - 1) & ~(page - 1), end = ((uintptr_t)part + bytes) & ~(page - 1);
    if (begin < end)
        madvise((char *)part + (begin - (uintptr_t)part), end - begin, MADV_DONTNEED);
#    else
    (void)part;
    (void)bytes;
#    endif
}

#elif !defined(_WIN32)
/* No virtual memory, as in WebAssembly: the heap's. */
#    include <stdlib.h>
#    include <string.h>

void *micap_pages_allocate(size_t bytes, size_t alignment)
{
    void *pages = aligned_alloc(alignment, bytes);
    if (pages)
        memset(pages, 0, bytes);
    return pages;
}

void micap_pages_release(void *pages, size_t bytes)
{
    (void)bytes;
    free(pages);
}

void micap_pages_discard(void *part, size_t bytes)
{
    (void)part;
    (void)bytes;
}
#endif
