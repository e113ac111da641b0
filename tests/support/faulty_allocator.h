/* An allocator that counts, checks and, when told so, fails: the k-th allocation from now returns NULL, or every one
 * from the k-th on. Each block carries its size and alignment, so a release that disagrees with its allocation is
 * caught on the spot. Callable from any thread. */
#ifndef MICA_TESTS_SUPPORT_FAULTY_ALLOCATOR_H
#define MICA_TESTS_SUPPORT_FAULTY_ALLOCATOR_H

#include "mica/base.h"

#include <pthread.h>

typedef struct faulty_allocator {
    pthread_mutex_t lock;
    uint64_t countdown; /* 1: the next allocation fails; 0: none does */
    bool keep_failing;  /* after the countdown, fail until told otherwise */
    uint64_t failures;
    uint64_t allocations;
    size_t live_blocks;
    size_t live_bytes;
    size_t peak_bytes;
} faulty_allocator;

void faulty_allocator_init(faulty_allocator *faulty);
void faulty_allocator_free(faulty_allocator *faulty);

/* Lets the k-th allocation from now fail, once or from there on; 0 lets everything succeed. */
void faulty_allocator_fail_at(faulty_allocator *faulty, uint64_t k, bool keep_failing);

mica_allocator faulty_allocator_interface(faulty_allocator *faulty);

#endif
