#if defined(__linux__) && !defined(_GNU_SOURCE)
#    define _GNU_SOURCE 1 /* for mremap */
#endif
#include "os/revocable_mapping.h"

#ifdef MICA_CHECKED
#    ifdef __linux__

#        include <pthread.h>
#        include <signal.h>
#        include <stdint.h>
#        include <sys/mman.h>

#        ifndef MREMAP_MAYMOVE /* a program that includes this file included a system header without _GNU_SOURCE before */
#            define MREMAP_MAYMOVE 1
#            define MREMAP_FIXED 2
void *mremap(void *old_address, size_t old_bytes, size_t new_bytes, int flags, ...);
#        endif

enum {
    LEASE_TERMS = 32,  /* windows of one lease, used in turn */
    LEASES_GONE = 64,  /* entries in use before entries of released pages are reused */
    LEASES_MAX = 1024, /* of a process; beyond it nothing is leased */
};

/* A range of addresses with one window per term. At most one window is mapped to the pages. */
typedef struct micap_revocable_address {
    const void *owner;
    char *pages; /* NULL: they were released; stale pointers into the windows still fault */
    size_t bytes;
    char *windows;
    uint32_t term;
    bool is_open;
} lease;

static lease leases[LEASES_MAX];
static uint32_t lease_count, next_gone;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*told)(const void *owner, const void *address);
static struct sigaction before;

static char *window_of(const lease *lease)
{
    return lease->windows + (size_t)lease->term * lease->bytes;
}

static void end_term(lease *lease)
{
    if (lease->is_open) /* where that fails, a mistake goes unseen */
        (void)mmap(window_of(lease), lease->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                   -1, 0);
    lease->is_open = false;
    lease->term = (lease->term + 1) % LEASE_TERMS;
}

static lease *find(const void *pages)
{
    for (uint32_t i = 0; i < lease_count; ++i)
        if (leases[i].pages == pages)
            return &leases[i];
    return NULL;
}

/* An entry for a lease: one of released pages if there are many, else a new one. */
static lease *location(void)
{
    for (uint32_t i = 0; lease_count >= LEASES_GONE && i < lease_count; ++i) {
        lease *old = &leases[next_gone++ % lease_count];
        if (old->pages || old->is_open)
            continue;
        munmap(old->windows, old->bytes * LEASE_TERMS);
        return old;
    }
    return lease_count < LEASES_MAX ? &leases[lease_count++] : NULL;
}

static lease *make(const void *owner, char *pages, size_t bytes)
{
    char *windows = mmap(NULL, bytes * LEASE_TERMS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (windows == MAP_FAILED)
        return NULL;
    lease *fresh = location();
    if (!fresh) {
        munmap(windows, bytes * LEASE_TERMS);
        return NULL;
    }
    *fresh = (lease){.owner = owner, .pages = pages, .bytes = bytes, .windows = windows};
    return fresh;
}

/* An old size of zero makes a second mapping of shared memory. */
static bool open_window(lease *lease)
{
    if (!lease->is_open)
        lease->is_open =
            mremap(lease->pages, 0, lease->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, window_of(lease)) != MAP_FAILED;
    return lease->is_open;
}

void *micap_revocable_address(const void *owner, void *pages, size_t bytes, const void *pointer)
{
    pthread_mutex_lock(&lock);
    lease *found = find(pages);
    if (!found)
        found = make(owner, pages, bytes);
    const char *address = pointer;
    if (found && open_window(found))
        address = window_of(found) + (address - found->pages);
    pthread_mutex_unlock(&lock);
    return (void *)(uintptr_t)address;
}

void micap_revocable_revoke(const void *owner)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < lease_count; ++i)
        if (leases[i].owner == owner && leases[i].is_open)
            end_term(&leases[i]);
    pthread_mutex_unlock(&lock);
}

void micap_revocable_forget(const void *pages)
{
    pthread_mutex_lock(&lock);
    lease *found = find(pages);
    if (found)
        found->pages = NULL; /* the window keeps the memory until it ends */
    pthread_mutex_unlock(&lock);
}

void micap_revocable_drop(const void *owner)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = lease_count; i-- > 0;) {
        if (leases[i].owner != owner)
            continue;
        munmap(leases[i].windows, leases[i].bytes * LEASE_TERMS);
        leases[i] = leases[--lease_count];
    }
    pthread_mutex_unlock(&lock);
}

/* Runs in the thread that used the address, which holds no lock of ours. */
static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    const char *address = info->si_addr;
    for (uint32_t i = 0; i < lease_count; ++i)
        if (address >= leases[i].windows && address < leases[i].windows + leases[i].bytes * LEASE_TERMS)
            told(leases[i].owner, address);
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(signal_number, info, context);
        return;
    }
    sigaction(signal_number, &before, NULL); /* the fault comes again, and finds no handler of ours */
}

void micap_revocable_on_fault(void (*fn)(const void *owner, const void *address))
{
    pthread_mutex_lock(&lock);
    if (!told) {
        told = fn;
        struct sigaction action = {.sa_flags = SA_SIGINFO | SA_NODEFER};
        action.sa_sigaction = on_fault;
        sigemptyset(&action.sa_mask);
        sigaction(SIGSEGV, &action, &before);
    }
    pthread_mutex_unlock(&lock);
}

#    else

void *micap_revocable_address(const void *owner, void *pages, size_t bytes, const void *pointer)
{
    (void)owner, (void)pages, (void)bytes;
    return (void *)pointer;
}

void micap_revocable_revoke(const void *owner)
{
    (void)owner;
}

void micap_revocable_forget(const void *pages)
{
    (void)pages;
}

void micap_revocable_drop(const void *owner)
{
    (void)owner;
}

void micap_revocable_on_fault(void (*fn)(const void *owner, const void *address))
{
    (void)fn;
}

#    endif
#else

typedef int micap_nothing_to_lease; /* a file must have something in it */

#endif
