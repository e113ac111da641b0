/* The buffer of a pool, and its rows. */
#include "pool/pool.h"

#include "base/assert.h"
#include "base/bits.h"
#include "os/pages.h"
#include "pool/pool_edge_table.h"

enum { ROWS_MIN = 16, LANES_MAX = MICAP_LEAVES_MAX + MICAP_POOL_EXTRA_COLUMNS };

static uint32_t slice_count(uint64_t rows)
{
    return (uint32_t)((rows + MICA_SLICE_ROWS - 1) / MICA_SLICE_ROWS);
}

static void add_lane(mica_pool *pool, uint32_t bytes, uint32_t alignment, uint32_t from)
{
    pool->lanes[pool->lane_count++] = (micap_pool_column){.bytes = bytes, .alignment = alignment, .from = from};
}

static void plan_lanes(mica_pool *pool)
{
    const micap_type *type = pool->type;
    add_lane(pool, sizeof(mica_entity), _Alignof(mica_entity), 0);
    for (uint32_t i = 0; i < type->leaf_count; ++i)
        add_lane(pool, type->leaves[i].bytes, type->leaves[i].element_bytes, type->leaves[i].offset);
    if (!type->leaves)
        add_lane(pool, type->type.size_bytes, type->type.alignment, 0);
    pool->data_lane_count = pool->lane_count - 1;
    pool->stamp_count = pool->lane_count + type->type.track_changed;
    if (type->type.many) {
        add_lane(pool, sizeof(uint32_t), sizeof(uint32_t), 0);
        add_lane(pool, sizeof(uint32_t), sizeof(uint32_t), 0);
    }
    if (type->type.relation)
        add_lane(pool, sizeof(micap_edge_links), _Alignof(micap_edge_links), 0);
    for (int i = type->type.track_added + type->type.track_changed; i; --i)
        add_lane(pool, sizeof(mica_version), sizeof(mica_version), 0);
    if (type->type.toggle)
        add_lane(pool, 1, 1, 0);
}

static uint32_t lane_room(const micap_type *type)
{
    return MICAP_POOL_EXTRA_COLUMNS + (type->leaf_count ? type->leaf_count : 1);
}

mica_pool *micap_pool_create(mica_world *world, micap_arena *arena, micap_undo_logs *undo, const micap_type *type)
{
    micap_memory *memory = arena->memory;
    mica_pool *pool = micap_allocate_zeroed(memory, sizeof *pool, MICAP_CACHE_LINE);
    if (!pool)
        return NULL;
    pool->world = world;
    pool->memory = memory;
    pool->index.arena = arena;
    pool->undo = pool->index.undo = undo;
    pool->index.keep_kind = MICAP_UNDO_MAP;
    pool->index.keep_place = (uint64_t)type->id << 32;
    pool->type = type;
    pool->kind = type->type.size_bytes ? (micap_pool_kind)type->type.index : MICAP_POOL_TAG;
    pool->value_bytes = type->type.size_bytes;
    pool->stamp = 1;
    if (pool->kind == MICAP_POOL_TAG)
        return pool;
    pool->lanes = micap_allocate_zeroed(memory, lane_room(type) * sizeof *pool->lanes, MICAP_ARRAY_ALIGNMENT);
    if (pool->lanes && !type->trivial)
        pool->scratch = micap_allocate(memory, type->type.size_bytes, type->type.alignment);
    if (!pool->lanes || (!pool->scratch && !type->trivial) || (type->type.relation && !micap_edges_create(pool))) {
        micap_pool_free(pool);
        return NULL;
    }
    plan_lanes(pool);
    return pool;
}

/* Buffers are powers of two and hold as many rows as fit. Growing through fresh memory costs more than adding rows to it
 * (a page fault for each 340 rows of 12 bytes; pool_add_remove_100k 44 ns against 30): buffers are blocks of the arena, which uses huge
 * pages, and the largest are huge pages of their own. */
static bool is_in_arena(size_t bytes)
{
    return bytes < MICAP_HUGE_PAGE_BYTES;
}

static char *allocate_buffer(const mica_pool *pool, size_t bytes)
{
    return is_in_arena(bytes) ? micap_arena_allocate(pool->index.arena, bytes)
                              : micap_allocate(pool->memory, bytes, MICAP_HUGE_PAGE_BYTES);
}

static void release_buffer(const mica_pool *pool)
{
    if (pool->buffer && is_in_arena(pool->buffer_bytes))
        micap_arena_release(pool->index.arena, pool->buffer, pool->buffer_bytes);
    else
        micap_release(pool->memory, pool->buffer, pool->buffer_bytes, MICAP_HUGE_PAGE_BYTES);
}

void micap_pool_free(mica_pool *pool)
{
    micap_memory *memory = pool->memory;
    MICAP_ASSERT(!pool->count, "values are destroyed before their pool");
    release_buffer(pool);
    micap_index_free(&pool->index);
    micap_edges_free(pool);
    if (pool->lanes)
        micap_release(memory, pool->lanes, lane_room(pool->type) * sizeof *pool->lanes, MICAP_ARRAY_ALIGNMENT);
    micap_release(memory, pool->scratch, pool->type->type.size_bytes, pool->type->type.alignment);
    MICAP_RELEASE_ARRAY(memory, pool->present, pool->present_words);
    micap_release(memory, pool, sizeof *pool, MICAP_CACHE_LINE);
}

/* Where each lane begins in a buffer for that many rows, and the stamps, which are first: at the end they would have a huge page of
 * their own, far from what is used of the last lane. Returns the bytes of the whole. */
static size_t lay_out(const mica_pool *pool, uint64_t rows, size_t *offsets)
{
    size_t at = (size_t)slice_count(rows) * pool->stamp_count * sizeof(mica_version);
    offsets[pool->lane_count] = 0;
    for (uint32_t i = 0; i < pool->lane_count; ++i) {
        const micap_pool_column *lane = &pool->lanes[i];
        at = micap_align_up(at, lane->alignment > MICAP_CACHE_LINE ? lane->alignment : MICAP_CACHE_LINE);
        offsets[i] = at;
        at += rows * lane->bytes;
    }
    return at;
}

/* Points the named pointers at their lanes. */
static void name_lanes(mica_pool *pool)
{
    const micap_pool_column *lane = pool->lanes;
    pool->owners = (mica_entity *)(void *)lane->data;
    pool->values = pool->type->leaves ? NULL : lane[1].data;
    lane += 1 + pool->data_lane_count;
    if (pool->type->type.many) {
        pool->next = (uint32_t *)(void *)lane++->data;
        pool->previous = (uint32_t *)(void *)lane++->data;
    }
    if (pool->type->type.relation)
        pool->links = (micap_edge_links *)(void *)lane++->data;
    if (pool->type->type.track_added)
        pool->added = (uint64_t *)(void *)lane++->data;
    if (pool->type->type.track_changed)
        pool->changed = (mica_version *)(void *)lane++->data;
    if (pool->type->type.toggle)
        pool->enabled = (uint8_t *)lane->data;
}

/* Moves what lies in a lane to its new place. Values that can't be copied as bytes are moved run by run. */
static void move_lane(mica_pool *pool, uint32_t lane, char *to)
{
    const micap_pool_column *from = &pool->lanes[lane];
    if (!pool->row_limit)
        return;
    if (lane != 1 || pool->type->trivial) {
        memcpy(to, from->data, (size_t)pool->row_limit * from->bytes);
        return;
    }
    for (uint32_t row = micap_pool_next_used(pool, 0), end; row < pool->row_limit;
         row = micap_pool_next_used(pool, end)) {
        end = micap_pool_run_end(pool, row);
        micap_values_move(pool->type, to + (size_t)row * from->bytes, from->data + (size_t)row * from->bytes,
                          end - row);
    }
}

static size_t bytes_for(const mica_pool *pool, uint64_t rows)
{
    size_t offsets[LANES_MAX + 1];
    size_t bytes = lay_out(pool, rows < ROWS_MIN ? ROWS_MIN : rows, offsets);
    return micap_power_of_two_at_least(bytes < MICAP_BLOCK_BYTES_MIN ? MICAP_BLOCK_BYTES_MIN : bytes);
}

/* As many rows as a buffer holds, at least as many as it was made for. */
static uint64_t rows_in(const mica_pool *pool, size_t bytes, uint64_t rows)
{
    size_t offsets[LANES_MAX + 1];
    for (uint64_t more = UINT32_MAX / 2; more; more /= 2)
        while (rows + more < UINT32_MAX && lay_out(pool, rows + more, offsets) <= bytes)
            rows += more;
    return rows;
}

/* The stamps of slices that have no rows yet. */
static void init_stamps(const mica_pool *pool, char *stamps, size_t bytes)
{
    memset(stamps, 0, bytes);
    mica_version *at = (mica_version *)(void *)stamps, *end = (mica_version *)(void *)(stamps + bytes);
    for (; pool->type->type.track_changed && at < end; at += pool->stamp_count)
        for (uint32_t i = 1; i <= pool->data_lane_count; ++i)
            at[i] = MICAP_STAMP_TRACKED;
}

/* A buffer for that many rows, into which everything moves, column by column. */
static bool resize(mica_pool *pool, uint64_t rows)
{
    size_t offsets[LANES_MAX + 1] = {0};
    if (rows > UINT32_MAX - 1 || rows > SIZE_MAX / 64 / pool->value_bytes)
        return false;
    size_t bytes = bytes_for(pool, rows);
    rows = rows_in(pool, bytes, rows);
    lay_out(pool, rows, offsets);
    uint32_t words = pool->kind == MICAP_POOL_DIRECT ? (uint32_t)(rows / 64 + 1) : 0;
    uint64_t *present = NULL;
    if (words && !(present = micap_allocate_zeroed(pool->memory, words * sizeof *present, MICAP_ARRAY_ALIGNMENT)))
        return false;
    char *buffer = allocate_buffer(pool, bytes);
    if (!buffer) {
        MICAP_RELEASE_ARRAY(pool->memory, present, words);
        return false;
    }
    for (uint32_t i = 0; i < pool->lane_count; ++i) {
        move_lane(pool, i, buffer + offsets[i]);
        pool->lanes[i].data = buffer + offsets[i];
    }
    size_t stamps_bytes = (size_t)slice_count(rows) * pool->stamp_count * sizeof *pool->stamps;
    size_t kept_bytes = (size_t)slice_count(pool->row_limit) * pool->stamp_count * sizeof *pool->stamps;
    char *stamps = buffer + offsets[pool->lane_count];
    if (kept_bytes)
        memcpy(stamps, pool->stamps, kept_bytes);
    init_stamps(pool, stamps + kept_bytes, stamps_bytes - kept_bytes);
    release_buffer(pool);
    pool->stamps = (mica_version *)(void *)stamps;
    pool->buffer = buffer;
    pool->buffer_bytes = bytes;
    pool->capacity = (uint32_t)rows;
    pool->stamp += pool->edges != NULL; /* iterations over edges have pointers to columns */
    name_lanes(pool);
    if (words) {
        uint32_t kept = (pool->row_limit + 63) / 64;
        if (kept)
            memcpy(present, pool->present, kept * sizeof *present);
        MICAP_RELEASE_ARRAY(pool->memory, pool->present, pool->present_words);
        pool->present = present;
        pool->present_words = words;
        memset(pool->owners + pool->row_limit, 0, (pool->capacity - pool->row_limit) * sizeof *pool->owners);
    }
    return true;
}

static bool reserve_capacity(mica_pool *pool, uint64_t rows)
{
    return rows <= pool->capacity || resize(pool, rows);
}

bool micap_pool_reserve_rows(mica_pool *pool, uint64_t more)
{
    if (pool->kind == MICAP_POOL_TAG || pool->kind == MICAP_POOL_DIRECT)
        return true;
    if (pool->kind == MICAP_POOL_HASH && !micap_hash_reserve(&pool->index, pool->index.used + more))
        return false;
    if (pool->edges && !micap_edge_table_reserve(pool, more))
        return false;
    return reserve_capacity(pool, pool->row_limit + more);
}

static bool reserve_bits(mica_pool *pool, uint32_t entity_index)
{
    uint32_t words = pool->present_words;
    if (entity_index / 64 < words)
        return true;
    if (!MICAP_RESERVE(pool->memory, pool->present, &pool->present_words, (uint64_t)entity_index / 64 + 1))
        return false;
    memset(pool->present + words, 0, (pool->present_words - words) * sizeof *pool->present);
    return true;
}

bool micap_pool_reserve_entity(mica_pool *pool, uint32_t entity_index)
{
    switch (pool->kind) {
    case MICAP_POOL_MAP: return micap_map_reserve(&pool->index, entity_index);
    case MICAP_POOL_DIRECT: return reserve_capacity(pool, (uint64_t)entity_index + 1);
    case MICAP_POOL_TAG: return reserve_bits(pool, entity_index);
    case MICAP_POOL_HASH: break;
    }
    return true;
}

uint32_t micap_pool_row_at(const mica_pool *pool, uint32_t entity_index)
{
    switch (pool->kind) {
    case MICAP_POOL_MAP: return micap_map_row_at(&pool->index, entity_index);
    case MICAP_POOL_HASH: return micap_hash_find(&pool->index, entity_index);
    case MICAP_POOL_DIRECT:
        return entity_index < pool->row_limit && micap_bit(pool->present, entity_index) ? entity_index : MICAP_ROW_NONE;
    case MICAP_POOL_TAG: break;
    }
    return micap_pool_row(pool, (mica_entity){entity_index, 0});
}

micap_pool_column *micap_pool_column_at(const mica_pool *pool, size_t offset)
{
    for (uint32_t i = 1; pool->type->leaves && i <= pool->data_lane_count; ++i)
        if (pool->lanes[i].from == offset)
            return &pool->lanes[i];
    return NULL;
}

bool micap_pool_slice_changed(const mica_pool *pool, uint32_t row, mica_version since)
{
    const mica_version *stamps = micap_pool_stamps(pool, row);
    for (uint32_t i = 0; i <= pool->data_lane_count; ++i)
        if (micap_stamp_version(MICAP_LOAD(&stamps[i], MICAP_RELAXED)) > since)
            return true;
    return false;
}

/* The first row from `row` on whose bit is as wanted; the limit when there is none. */
static uint32_t find_bit(const mica_pool *pool, uint32_t row, uint32_t limit, bool wanted)
{
    while (row < limit) {
        uint64_t word = pool->present[row / 64];
        word = (wanted ? word : ~word) >> row % 64;
        if (word) {
            row += (uint32_t)MICAP_TRAILING_ZEROS(word);
            break;
        }
        row = (row / 64 + 1) * 64;
    }
    return row < limit ? row : limit;
}

static uint32_t limit_of(const mica_pool *pool)
{
    return pool->kind == MICAP_POOL_TAG ? pool->present_words * 64 : pool->row_limit;
}

uint32_t micap_pool_next_used(const mica_pool *pool, uint32_t row)
{
    return pool->present ? find_bit(pool, row, limit_of(pool), true) : row;
}

uint32_t micap_pool_run_end(const mica_pool *pool, uint32_t row)
{
    return pool->present ? find_bit(pool, row, limit_of(pool), false) : pool->row_limit;
}

/* A pool without rows needs no buffer; nothing points to it any more. */
static void give_buffer_back(mica_pool *pool)
{
    release_buffer(pool);
    MICAP_RELEASE_ARRAY(pool->memory, pool->present, pool->present_words);
    pool->buffer = NULL;
    pool->buffer_bytes = 0;
    pool->present = NULL;
    pool->stamps = NULL;
    pool->present_words = pool->capacity = 0;
    for (uint32_t i = 0; i < pool->lane_count; ++i)
        pool->lanes[i].data = NULL;
    pool->stamp += pool->edges != NULL;
    name_lanes(pool);
}

/* Frees the words after the last bit of a pool of tags. */
static void trim_bits(mica_pool *pool)
{
    uint32_t words = pool->present_words;
    while (words && !pool->present[words - 1])
        --words;
    if (words == pool->present_words)
        return;
    uint64_t *kept = words ? micap_allocate(pool->memory, words * sizeof *kept, MICAP_ARRAY_ALIGNMENT) : NULL;
    if (words && !kept)
        return;
    if (words)
        memcpy(kept, pool->present, words * sizeof *kept);
    MICAP_RELEASE_ARRAY(pool->memory, pool->present, pool->present_words);
    pool->present = kept;
    pool->present_words = words;
}

/* Gives the memory of rows that are not in use back to the system. */
static void discard_unused(const mica_pool *pool)
{
    bool is_in_region = is_in_arena(pool->buffer_bytes);
    bool is_pages = is_in_region || micap_memory_is_pages(pool->memory, pool->buffer_bytes, MICAP_HUGE_PAGE_BYTES);
    for (uint32_t i = 0; is_pages && i < pool->lane_count; ++i) {
        const micap_pool_column *lane = &pool->lanes[i];
        char *unused = lane->data + (size_t)pool->row_limit * lane->bytes;
        size_t bytes = (size_t)(pool->capacity - pool->row_limit) * lane->bytes;
        if (is_in_region)
            micap_arena_discard(pool->index.arena, unused, bytes);
        else
            micap_pages_discard(unused, bytes);
    }
}

/* When memory is short for what is smaller, it stays as it is. */
size_t micap_pool_trim(mica_pool *pool)
{
    size_t before = micap_pool_bytes(pool);
    micap_map_trim(&pool->index);
    micap_hash_trim(&pool->index);
    if (pool->edges)
        micap_edges_trim(pool);
    if (pool->kind == MICAP_POOL_TAG) {
        trim_bits(pool);
    } else if (!pool->row_limit) {
        give_buffer_back(pool);
    } else {
        if (bytes_for(pool, pool->row_limit) < pool->buffer_bytes)
            resize(pool, pool->row_limit);
        if (!pool->undo->before)
            discard_unused(pool);
    }
    return before - micap_pool_bytes(pool);
}

size_t micap_pool_bytes(const mica_pool *pool)
{
    return pool->buffer_bytes + micap_index_bytes(&pool->index) + pool->present_words * sizeof *pool->present +
           (pool->edges ? micap_edges_bytes(pool) : 0);
}
