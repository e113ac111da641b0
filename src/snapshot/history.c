#include "snapshot/history.h"

#include "base/argument.h"
#include "base/assert.h"
#include "core/world/report.h"
#include "snapshot/snapshot.h"

typedef struct micap_moment {
    uint64_t tick;
    mica_snapshot snapshot;
} moment;

struct mica_history {
    mica_world *world;
    mica_history *next; /* of the world's */
    moment *moments;    /* a ring: `count` of them from `first` on */
    uint32_t capacity;
    uint32_t first;
    uint32_t count;
};

static moment *moment_at(const mica_history *history, uint32_t at)
{
    MICAP_ASSERT(history->capacity, "a ring has room for one");
    return &history->moments[(history->first + at) % history->capacity];
}

mica_history *mica_history_create(mica_world *world, uint32_t capacity)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    micap_snapshots *snapshots = micap_snapshots_of(world);
    if (!snapshots)
        return NULL;
    capacity = capacity ? capacity : 1;
    mica_history *history = micap_allocate_zeroed(&world->memory, sizeof *history, MICAP_ARRAY_ALIGNMENT);
    moment *moments = micap_allocate(&world->memory, capacity * sizeof *moments, MICAP_ARRAY_ALIGNMENT);
    if (!history || !moments) {
        micap_release(&world->memory, history, sizeof *history, MICAP_ARRAY_ALIGNMENT);
        MICAP_RELEASE_ARRAY(&world->memory, moments, capacity);
        micap_fail_memory(world, "history");
        return NULL;
    }
    *history = (mica_history){.world = world, .next = snapshots->histories, .moments = moments, .capacity = capacity};
    snapshots->histories = history;
    return history;
}

mica_history *micap_history_free(mica_history *history)
{
    mica_history *next = history->next;
    micap_memory *memory = &history->world->memory;
    MICAP_RELEASE_ARRAY(memory, history->moments, history->capacity);
    micap_release(memory, history, sizeof *history, MICAP_ARRAY_ALIGNMENT);
    return next;
}

void mica_history_destroy(mica_history *history)
{
    if (!history || micap_refuse_inside(history->world, "history_destroy") != MICA_OK)
        return;
    for (uint32_t i = 0; i < history->count; ++i)
        mica_snapshot_drop(history->world, moment_at(history, i)->snapshot);
    mica_history **link = &micap_snapshots_of(history->world)->histories;
    while (*link != history)
        link = &(*link)->next;
    *link = micap_history_free(history);
}

mica_result mica_history_take(mica_history *history, uint64_t tick)
{
    if (MICAP_MISSING(NULL, history))
        return MICA_ERROR_INVALID;
    if (history->count && tick <= mica_history_last(history))
        return micap_fail(history->world, MICA_ERROR_INVALID, (mica_location){0},
                          "history_take: tick %llu is not after the last one, %llu", (unsigned long long)tick,
                          (unsigned long long)mica_history_last(history));
    mica_snapshot snapshot = mica_snapshot_take(history->world);
    if (!snapshot.id)
        return micap_failure(history->world);
    if (history->count == history->capacity) {
        mica_snapshot_drop(history->world, moment_at(history, 0)->snapshot);
        history->first = (history->first + 1) % history->capacity;
        --history->count;
    }
    *moment_at(history, history->count++) = (moment){tick, snapshot};
    return MICA_OK;
}

/* The place of a tick, or `count`. Ticks rise. */
static uint32_t place_of(const mica_history *history, uint64_t tick)
{
    uint32_t low = 0, high = history->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (moment_at(history, middle)->tick < tick)
            low = middle + 1;
        else
            high = middle;
    }
    return low < history->count && moment_at(history, low)->tick == tick ? low : history->count;
}

mica_result mica_history_restore(mica_history *history, uint64_t tick)
{
    if (MICAP_MISSING(NULL, history))
        return MICA_ERROR_INVALID;
    uint32_t location = place_of(history, tick);
    if (location == history->count)
        return micap_fail(history->world, MICA_ERROR_UNKNOWN, (mica_location){0},
                          "history_restore: tick %llu is not kept", (unsigned long long)tick);
    mica_snapshot snapshot = moment_at(history, location)->snapshot;
    uint32_t later = history->count - 1 - location;
    bool are_all_ours = micap_snapshot_newer_count(history->world, snapshot) == later;
    mica_result result = are_all_ours ? micap_snapshot_roll_back(history->world, snapshot)
                                      : mica_snapshot_restore(history->world, snapshot);
    if (result != MICA_OK)
        return result;
    for (uint32_t i = location + 1; !are_all_ours && i < history->count; ++i)
        mica_snapshot_drop(history->world, moment_at(history, i)->snapshot);
    history->count = location + 1;
    return MICA_OK;
}

bool mica_history_has(const mica_history *history, uint64_t tick)
{
    if (MICAP_MISSING(NULL, history))
        return false;
    return place_of(history, tick) < history->count;
}

uint32_t mica_history_count(const mica_history *history)
{
    if (MICAP_MISSING(NULL, history))
        return 0;
    return history->count;
}

uint64_t mica_history_first(const mica_history *history)
{
    if (MICAP_MISSING(NULL, history))
        return 0;
    return history->count ? moment_at(history, 0)->tick : 0;
}

uint64_t mica_history_last(const mica_history *history)
{
    if (MICAP_MISSING(NULL, history))
        return 0;
    return history->count ? moment_at(history, history->count - 1)->tick : 0;
}

size_t mica_history_bytes(const mica_history *history)
{
    if (MICAP_MISSING(NULL, history))
        return 0;
    size_t bytes = 0;
    for (uint32_t i = 0; i < history->count; ++i)
        bytes += mica_snapshot_bytes(history->world, moment_at(history, i)->snapshot);
    return bytes;
}
