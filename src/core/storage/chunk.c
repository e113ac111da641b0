#include "core/storage/chunk.h"

#include "base/assert.h"
#include "base/bits.h"
#include "core/storage/column_table.h"
#include "core/world/world.h"

/* Cache coloring: the blocks of large chunks begin at multiples of 2 MiB, so their headers would map to the same few cache sets. Each
 * chunk begins a different number of cache lines after the start of its block. */
enum { COLORS = 16, COLOR_BYTES = 3 * MICAP_CACHE_LINE, COLORED_BYTES_MIN = 64 << 10 };

static uint32_t color_bytes_of(uint32_t number, uint64_t bytes)
{
    return bytes < COLORED_BYTES_MIN ? 0 : number % COLORS * COLOR_BYTES;
}

static uint32_t finder_count(const micap_archetype *archetype)
{
    return (uint32_t)micap_power_of_two_at_least(archetype->column_count + archetype->column_count / 2 + 1);
}

static size_t header_bytes(const micap_archetype *archetype)
{
    return micap_align_up(sizeof(micap_chunk) + sizeof(micap_finder) * finder_count(archetype) +
                              sizeof(micap_column_data) * archetype->column_count,
                          sizeof(mica_version));
}

uint32_t micap_column_offset(const micap_archetype *archetype, uint32_t column)
{
    return (uint32_t)(sizeof(micap_chunk) + finder_count(archetype) * sizeof(micap_finder) +
                      column * sizeof(micap_column_data));
}

static uint32_t slices_of(uint32_t rows)
{
    return (rows + MICA_SLICE_ROWS - 1) / MICA_SLICE_ROWS;
}

static size_t column_alignment(const micap_column *column)
{
    uint32_t alignment = column->type->type.alignment;
    return alignment > MICAP_CACHE_LINE ? alignment : MICAP_CACHE_LINE;
}

/* Computes the layout of a chunk with that many rows that begins `color_bytes` after the start of its block. Returns its size and, if
 * `chunk` is not NULL, writes the offsets. Columns are aligned within the block, so the layout depends on the color. */
static uint64_t walk_layout(const micap_archetype *archetype, uint32_t rows, uint32_t color_bytes, micap_chunk *chunk)
{
    uint64_t at = header_bytes(archetype);
    if (chunk)
        chunk->stamps_offset = (uint32_t)at;
    at += (uint64_t)slices_of(rows) * (1 + archetype->column_count) * sizeof(mica_version);
    at = micap_align_up(at, MICAP_CACHE_LINE);
    if (chunk)
        chunk->entities_offset = (uint32_t)at;
    at += (uint64_t)rows * sizeof(mica_entity);
    for (uint32_t i = 0; i < archetype->column_count; ++i) {
        at = micap_align_up(at + color_bytes, column_alignment(&archetype->columns[i])) - color_bytes;
        if (chunk)
            micap_chunk_columns(chunk)[i] = (micap_column_data){(char *)chunk + at, archetype->columns[i].bytes};
        at += (uint64_t)rows * archetype->columns[i].bytes;
    }
    return at;
}

/* Whether the layout depends on the color: colors are multiples of a cache line. */
static bool is_aligned_beyond_lines(const micap_archetype *archetype)
{
    for (uint32_t i = 0; i < archetype->column_count; ++i)
        if (column_alignment(&archetype->columns[i]) > MICAP_CACHE_LINE)
            return true;
    return false;
}

/* The bytes of a chunk of the worst color. */
static uint64_t bytes_at_most(const micap_archetype *archetype, uint32_t rows, uint64_t block_bytes)
{
    uint64_t worst = 0;
    uint32_t colors = block_bytes < COLORED_BYTES_MIN ? 1 : COLORS;
    for (uint32_t color = is_aligned_beyond_lines(archetype) ? 0 : colors - 1; color < colors; ++color) {
        uint64_t bytes = (uint64_t)color * COLOR_BYTES + walk_layout(archetype, rows, color * COLOR_BYTES, NULL);
        if (bytes > worst)
            worst = bytes;
    }
    return worst;
}

uint32_t micap_chunk_capacity(const micap_archetype *archetype, uint64_t bytes)
{
    uint64_t rows = bytes / archetype->row_bytes;
    if (rows > MICAP_CHUNK_ROWS_MAX)
        rows = MICAP_CHUNK_ROWS_MAX;
    while (rows > 0) {
        uint64_t needed = bytes_at_most(archetype, (uint32_t)rows, bytes);
        if (needed <= bytes)
            break;
        uint64_t excess = (needed - bytes + archetype->row_bytes - 1) / archetype->row_bytes;
        rows = excess < rows ? rows - excess : 0;
    }
    return (uint32_t)rows;
}

static void fill_finders(micap_chunk *chunk)
{
    const micap_archetype *archetype = chunk->archetype;
    memset(chunk->finders, 0, (chunk->finder_mask + (size_t)1) * sizeof *chunk->finders);
    for (uint32_t column = 0; column < archetype->column_count; ++column) {
        mica_component component = archetype->columns[column].component;
        uint32_t at = component;
        while (chunk->finders[at & chunk->finder_mask].component)
            ++at;
        const micap_column_data *lane = &micap_chunk_columns(chunk)[column];
        chunk->finders[at & chunk->finder_mask] =
            (micap_finder){(uint16_t)component, (uint16_t)column, (uint32_t)lane->bytes, lane->values};
    }
}

void micap_chunk_lay_out(micap_chunk *chunk, micap_archetype *archetype, uint32_t order, uint32_t capacity)
{
    chunk->archetype = archetype;
    chunk->count = 0;
    chunk->capacity = capacity;
    chunk->stride = (uint16_t)(1 + archetype->column_count);
    chunk->finder_mask = finder_count(archetype) - 1;
    chunk->lanes_offset = micap_column_offset(archetype, 0);
    chunk->order = (uint8_t)order;
    uint64_t bytes = walk_layout(archetype, capacity, (uint32_t)chunk->color_lines * MICAP_CACHE_LINE, chunk);
    MICAP_ASSERT((uint64_t)chunk->color_lines * MICAP_CACHE_LINE + bytes <= (uint64_t)1 << order,
                 "a chunk ends within its block");
    (void)bytes;
    fill_finders(chunk);
    memset((char *)chunk + chunk->stamps_offset, 0, (size_t)slices_of(capacity) * chunk->stride * sizeof(mica_version));
    for (uint32_t column = 0; column < archetype->column_count; ++column)
        for (uint32_t row = 0; archetype->columns[column].changed != MICAP_COLUMN_NONE && row < capacity;
             row += MICA_SLICE_ROWS)
            micap_chunk_stamps(chunk, row)[1 + column] = MICAP_STAMP_TRACKED;
}

/* The two chunks that no entity is in. They belong to the archetype without components, but are not in its list. */
enum { DUMMY_BYTES = sizeof(micap_chunk) + sizeof(micap_finder), NUMBERS_MIN = 64 };

static bool create_dummy(mica_world *world, uint32_t number)
{
    micap_chunk *chunk = micap_allocate_zeroed(&world->memory, DUMMY_BYTES, MICAP_CACHE_LINE);
    if (!chunk)
        return false;
    chunk->archetype = world->archetypes.by_id[0];
    chunk->number = number;
    chunk->stride = 1;
    world->chunks.by_number[number] = chunk;
    return true;
}

/* Makes sure that there is room for a chunk of this number. */
static bool reserve_number(mica_world *world, uint32_t number)
{
    micap_chunks *chunks = &world->chunks;
    bool done = MICAP_RESERVE(&world->memory, chunks->by_number, &chunks->capacity, (uint64_t)number + 1) &&
                micap_column_table_reserve(world, chunks->capacity);
    world->lookup.chunks = (const mica_private_chunk *const *)(void *)chunks->by_number;
    return done;
}

bool micap_chunks_init(mica_world *world)
{
    micap_chunks *chunks = &world->chunks;
    if (!reserve_number(world, NUMBERS_MIN - 1))
        return false;
    chunks->by_number[MICAP_CHUNK_NONE] = chunks->by_number[MICAP_CHUNK_PENDING] = NULL;
    chunks->limit = MICAP_CHUNK_PENDING + 1;
    chunks->epoch = 1;
    return create_dummy(world, MICAP_CHUNK_NONE) && create_dummy(world, MICAP_CHUNK_PENDING);
}

void micap_chunks_free(mica_world *world)
{
    micap_chunks *chunks = &world->chunks;
    for (uint32_t number = 0; number < chunks->limit && number <= MICAP_CHUNK_PENDING; ++number)
        micap_release(&world->memory, chunks->by_number[number], DUMMY_BYTES, MICAP_CACHE_LINE);
    micap_column_table_free(world);
    MICAP_RELEASE_ARRAY(&world->memory, chunks->by_number, chunks->capacity);
    MICAP_RELEASE_ARRAY(&world->memory, chunks->retired, chunks->retired_capacity);
}

micap_chunk *micap_chunk_create(mica_world *world, micap_archetype *archetype, uint32_t order)
{
    micap_chunks *chunks = &world->chunks;
    if (!chunks->first_free && (chunks->limit == MICAP_CHUNKS_MAX || !reserve_number(world, chunks->limit)))
        return NULL;
    if (world->undo.before &&
        !MICAP_RESERVE(&world->memory, chunks->retired, &chunks->retired_capacity, (uint64_t)chunks->count + 1))
        return NULL;
    size_t bytes = (size_t)1 << order;
    char *block = micap_arena_allocate(&world->arena, bytes);
    if (!block)
        return NULL;
    uint32_t number = chunks->first_free;
    if (number)
        chunks->first_free = (uint32_t)((uintptr_t)chunks->by_number[number] >> 1);
    else
        number = chunks->limit++;
    uint32_t color_bytes = color_bytes_of(number, bytes);
    micap_chunk *chunk = (micap_chunk *)(void *)(block + color_bytes);
    chunk->number = number;
    chunk->color_lines = (uint8_t)(color_bytes / MICAP_CACHE_LINE);
    chunk->born = (uint32_t)world->undo.serial;
    chunks->by_number[number] = chunk;
    ++chunks->count;
    chunks->bytes += bytes;
    micap_chunk_lay_out(chunk, archetype, order, micap_chunk_capacity(archetype, bytes));
    MICAP_ASSERT(chunk->capacity > 0, "a chunk has room for a row");
    micap_column_table_add(world, chunk);
    return chunk;
}

static void destroy(mica_world *world, micap_chunk *chunk)
{
    MICAP_ASSERT(chunk->count == 0, "a chunk that goes is empty");
    micap_chunks *chunks = &world->chunks;
    size_t bytes = (size_t)1 << chunk->order;
    micap_column_table_remove(world, chunk);
    chunks->by_number[chunk->number] = (micap_chunk *)(((uintptr_t)chunks->first_free << 1) | 1);
    chunks->first_free = chunk->number;
    --chunks->count;
    chunks->bytes -= bytes;
    micap_arena_release(&world->arena, (char *)chunk - (size_t)chunk->color_lines * MICAP_CACHE_LINE, bytes);
}

void micap_chunk_discard_unused(const mica_world *world, const micap_chunk *chunk)
{
    size_t rows = chunk->capacity - chunk->count;
    micap_arena_discard(&world->arena, micap_chunk_entities(chunk) + chunk->count, rows * sizeof(mica_entity));
    for (uint32_t column = 0; column < chunk->archetype->column_count; ++column)
        micap_arena_discard(&world->arena, micap_chunk_value(chunk, column, chunk->count),
                            rows * micap_chunk_columns(chunk)[column].bytes);
}

const micap_chunk *micap_chunk_in_use(const mica_world *world, uint32_t number)
{
    const micap_chunk *chunk = world->chunks.by_number[number];
    bool is_chunk = !((uintptr_t)chunk & 1); /* else it links free numbers */
    bool is_used =
        is_chunk && chunk->index < chunk->archetype->chunk_count && chunk->archetype->chunks[chunk->index] == chunk;
    return is_used ? chunk : NULL;
}

void micap_chunk_retire(mica_world *world, micap_chunk *chunk)
{
    micap_chunks *chunks = &world->chunks;
    MICAP_ASSERT(chunks->retired_count < chunks->retired_capacity, "there is room for all chunks");
    chunk->count = 0;
    chunks->retired[chunks->retired_count++] = (struct micap_retired){chunk, world->undo.serial};
}

void micap_chunk_revive(mica_world *world, const micap_chunk *chunk)
{
    micap_chunks *chunks = &world->chunks;
    for (uint32_t i = 0; i < chunks->retired_count; ++i)
        if (chunks->retired[i].chunk == chunk) {
            chunks->retired[i] = chunks->retired[--chunks->retired_count];
            return;
        }
}

/* Whether some snapshot was taken while the chunk was in use. */
static bool is_needed(const mica_world *world, const struct micap_retired *retired)
{
    const micap_undo_log *log = world->undo.newest;
    while (log && log->serial >= retired->died)
        log = log->older;
    return log && (uint32_t)log->serial >= retired->chunk->born;
}

void micap_chunks_sweep(mica_world *world)
{
    micap_chunks *chunks = &world->chunks;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < chunks->retired_count; ++i)
        if (is_needed(world, &chunks->retired[i]))
            chunks->retired[kept++] = chunks->retired[i];
        else
            destroy(world, chunks->retired[i].chunk);
    if (kept < chunks->retired_count) /* their numbers may be reused and must be distinguishable */
        ++world->undo.serial;
    chunks->retired_count = kept;
}

bool micap_chunks_reserve_outgrown(mica_world *world)
{
    micap_chunks *chunks = &world->chunks;
    if (chunks->outgrown_structure != world->structure)
        micap_chunks_sweep(world);
    return MICAP_RESERVE(&world->memory, chunks->retired, &chunks->retired_capacity,
                         (uint64_t)chunks->retired_count + 1);
}

void micap_chunks_swap_numbers(mica_world *world, micap_chunk *a, micap_chunk *b)
{
    uint32_t number = a->number;
    micap_column_table_remove(world, a);
    micap_column_table_remove(world, b);
    a->number = b->number;
    b->number = number;
    world->chunks.by_number[a->number] = a;
    world->chunks.by_number[b->number] = b;
    micap_column_table_add(world, a);
    micap_column_table_add(world, b);
}

void micap_chunk_copy_stamps(micap_chunk *to, const micap_chunk *from)
{
    memcpy((char *)to + to->stamps_offset, (const char *)from + from->stamps_offset,
           (size_t)slices_of(from->count) * from->stride * sizeof(mica_version));
}

void micap_chunk_release(mica_world *world, micap_chunk *chunk)
{
    if (world->undo.before)
        micap_chunk_retire(world, chunk);
    else
        destroy(world, chunk);
}
