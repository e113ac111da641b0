#include "faulty_allocator.h"
#include "require.h"

#include <stdlib.h>
#include <string.h>

/* Lies right before the memory that is handed out; the seal tells it from stray memory. */
typedef struct block_header {
    size_t bytes;
    size_t alignment;
    void *origin;
    uint64_t seal;
} block_header;

#define SEAL_LIVE 0x6d69636121616c76u
#define SEAL_DEAD 0x6d69636164656164u

void faulty_allocator_init(faulty_allocator *faulty)
{
    memset(faulty, 0, sizeof *faulty);
    pthread_mutex_init(&faulty->lock, NULL);
}

void faulty_allocator_free(faulty_allocator *faulty)
{
    REQUIRE_SAYING(faulty->live_blocks == 0 && faulty->live_bytes == 0, "%zu blocks with %zu bytes were never released",
                   faulty->live_blocks, faulty->live_bytes);
    pthread_mutex_destroy(&faulty->lock);
}

void faulty_allocator_fail_at(faulty_allocator *faulty, uint64_t k, bool keep_failing)
{
    pthread_mutex_lock(&faulty->lock);
    faulty->countdown = k;
    faulty->keep_failing = keep_failing;
    faulty->failures = 0;
    pthread_mutex_unlock(&faulty->lock);
}

static bool must_fail(faulty_allocator *faulty)
{
    if (faulty->countdown == 0)
        return false;
    if (faulty->countdown > 1) {
        --faulty->countdown;
        return false;
    }
    if (!faulty->keep_failing)
        faulty->countdown = 0;
    ++faulty->failures;
    return true;
}

static bool count_allocation(faulty_allocator *faulty, size_t bytes)
{
    pthread_mutex_lock(&faulty->lock);
    bool granted = !must_fail(faulty);
    if (granted) {
        ++faulty->allocations;
        ++faulty->live_blocks;
        faulty->live_bytes += bytes;
        if (faulty->live_bytes > faulty->peak_bytes)
            faulty->peak_bytes = faulty->live_bytes;
    }
    pthread_mutex_unlock(&faulty->lock);
    return granted;
}

static void count_release(faulty_allocator *faulty, size_t bytes)
{
    pthread_mutex_lock(&faulty->lock);
    --faulty->live_blocks;
    faulty->live_bytes -= bytes;
    pthread_mutex_unlock(&faulty->lock);
}

static void *faulty_allocate(size_t bytes, size_t alignment, void *context)
{
    faulty_allocator *faulty = context;
    REQUIRE(bytes > 0);
    REQUIRE_SAYING(alignment > 0 && (alignment & (alignment - 1)) == 0, "alignment %zu is no power of two", alignment);
    if (!count_allocation(faulty, bytes))
        return NULL;

    char *origin = malloc(sizeof(block_header) + alignment + bytes);
    REQUIRE(origin);
    uintptr_t first = (uintptr_t)(origin + sizeof(block_header));
    char *memory = origin + sizeof(block_header) + ((alignment - first % alignment) % alignment);
    block_header header = {bytes, alignment, origin, SEAL_LIVE};
    memcpy(memory - sizeof header, &header, sizeof header);
    /* Fills fresh memory, so that code that expects zeros fails. Of large blocks only the ends are filled, to save time. */
    memset(memory, 0xa5, bytes < 4096 ? bytes : 4096);
    memset(memory + bytes - (bytes < 64 ? bytes : 64), 0xa5, bytes < 64 ? bytes : 64);
    return memory;
}

static void faulty_release(void *memory, size_t bytes, size_t alignment, void *context)
{
    if (!memory)
        return;
    char *location = (char *)memory - sizeof(block_header);
    block_header header;
    memcpy(&header, location, sizeof header);
    REQUIRE_SAYING(header.seal == SEAL_LIVE, "released memory is %s",
                   header.seal == SEAL_DEAD ? "released already" : "not of this allocator");
    REQUIRE_SAYING(header.bytes == bytes && header.alignment == alignment,
                   "allocated %zu bytes aligned to %zu, released as %zu bytes aligned to %zu", header.bytes,
                   header.alignment, bytes, alignment);
    count_release(context, bytes);
    header.seal = SEAL_DEAD;
    memcpy(location, &header, sizeof header);
    memset(memory, 0xdd, bytes < 4096 ? bytes : 4096);
    free(header.origin);
}

mica_allocator faulty_allocator_interface(faulty_allocator *faulty)
{
    return (mica_allocator){faulty_allocate, faulty_release, faulty};
}
