/* Archetypes, chunks and rows of a world that is restored, and their stamps. */
#include "core/state/resume_rows.h"

#include "core/state/state_records.h"
#include "core/storage/component_set.h"
#include "base/handle_range.h"
#include "core/storage/rows.h"

/* The archetype that bytes describe. NULL without `failed` if this world does not know one of its components. */
static micap_archetype *take_archetype(mica_world *world, micap_reader *reader, bool *out_failed)
{
    uint64_t count = micap_reader_take_up_to(reader, micap_reader_left(reader) / 8);
    micap_set set;
    uint32_t room = 0;
    bool is_known = true;
    micap_reader ahead = *reader;
    for (uint64_t i = 0; i < count; ++i) {
        const micap_type *type = micap_state_find_type(world, micap_reader_take64(&ahead));
        is_known = is_known && type && !micap_is_pooled(type->id) && type->type.storage != MICA_STORAGE_SINGLETON;
        room += is_known ? micap_set_room(type->id) : 0;
    }
    *out_failed = reader->failed || !micap_set_init(&set, world, world->archetypes.by_id[0], room);
    if (*out_failed)
        return NULL;
    for (uint64_t i = 0; i < count; ++i) {
        uint64_t name_hash = micap_reader_take64(reader);
        if (is_known)
            micap_set_insert(&set, micap_state_find_type(world, name_hash));
    }
    micap_archetype *archetype = is_known ? micap_archetype_of_set(world, set.ids, set.count) : NULL;
    *out_failed = is_known && !archetype;
    micap_set_free(&set);
    return archetype;
}

/* One more chunk of an archetype, of that order. */
static bool add_chunk(mica_world *world, micap_archetype *archetype, uint32_t order)
{
    if (!MICAP_RESERVE(&world->memory, archetype->chunks, &archetype->chunk_capacity,
                       (uint64_t)archetype->chunk_count + 1))
        return false;
    micap_chunk *chunk = micap_chunk_create(world, archetype, order);
    if (!chunk)
        return false;
    chunk->index = archetype->chunk_count;
    archetype->chunks[archetype->chunk_count++] = chunk;
    micap_rows_update_open(archetype);
    return true;
}

/* What bytes say about one archetype. */
typedef struct saved_archetype {
    micap_archetype *archetype; /* NULL: not known here */
    micap_reader orders;        /* of chunks */
    uint64_t chunk_count;
    micap_reader rows;
    uint64_t row_count;
    uint64_t stamp_count; /* columns with stamps, which follow */
} saved_archetype;

/* Whether chunks of these sizes are what that many rows need, with room to grow: bytes could ask for any amount of memory. */
static bool is_reasonable(const saved_archetype *saved)
{
    uint64_t bytes = 0, rows = saved->row_count + MICA_SLICE_ROWS;
    micap_reader orders = saved->orders;
    for (uint64_t i = 0; i < saved->chunk_count; ++i) {
        uint64_t order = micap_reader_take_number(&orders);
        if (order < 8 || order > 30 || !micap_chunk_capacity(saved->archetype, (uint64_t)1 << order))
            return false;
        bytes += (uint64_t)1 << order;
    }
    return bytes <= 4 * rows * (saved->archetype->row_bytes + 64) + ((uint64_t)4 << 20);
}

/* Reads up to the stamps. False if the bytes are invalid or memory is short. */
static bool take_rows(mica_world *world, micap_reader *reader, saved_archetype *out)
{
    bool failed;
    out->archetype = take_archetype(world, reader, &failed);
    if (failed)
        return false;
    out->chunk_count = micap_reader_take_up_to(reader, micap_reader_left(reader));
    out->orders = *reader;
    for (uint64_t i = 0; i < out->chunk_count; ++i)
        micap_reader_take_number(reader);
    out->row_count = micap_reader_take_up_to(reader, UINT32_MAX);
    out->rows = *reader;
    for (uint64_t left = out->row_count; left && !reader->failed;) {
        micap_handle_runs run = {.end = 1}; /* whole runs, wherever they begin */
        run.count = (uint32_t)micap_reader_take_up_to(reader, left);
        micap_reader_take_number(reader);
        micap_reader_take_number(reader);
        reader->failed |= !run.count;
        left -= run.count;
    }
    out->stamp_count = micap_reader_take_up_to(reader, MICAP_IDS);
    if (out->archetype && !reader->failed && !is_reasonable(out))
        out->archetype = NULL;
    return !reader->failed;
}

/* Passes over the stamps of an archetype. */
static bool skip_stamps(micap_reader *reader, uint64_t count)
{
    for (uint64_t i = 0; i < count; ++i) {
        micap_reader_take64(reader);
        micap_reader_take(reader, micap_reader_take32(reader));
    }
    return !reader->failed;
}

/* Creates archetypes in their order, and the chunks that the rows of the batch will lie in. */
bool micap_resume_read_archetypes(mica_world *world, micap_reader *reader)
{
    micap_reader at = *reader;
    uint64_t count = micap_reader_take_number(&at);
    for (uint64_t i = 0; i < count; ++i) {
        saved_archetype saved;
        if (!take_rows(world, &at, &saved) || !skip_stamps(&at, saved.stamp_count))
            return false;
        if (!saved.archetype || saved.archetype->chunk_count) /* the second is only there twice in invalid bytes */
            continue;
        for (uint64_t k = 0; k < saved.chunk_count; ++k)
            if (!add_chunk(world, saved.archetype, (uint32_t)micap_reader_take_number(&saved.orders)))
                return false;
    }
    return !at.failed;
}

/* Whether the next entities of runs are those of a list. */
static bool are_next(micap_handle_runs *runs, micap_reader *reader, const mica_entity *list, uint32_t count)
{
    for (uint32_t i = 0, here; i < count; i += here) {
        mica_entity first = micap_handle_runs_take(runs, reader);
        uint32_t left = count - i - 1, more = runs->count < left ? runs->count : left;
        here = 1 + more;
        if (micap_range_length(list + i, micap_handle_number(first), micap_handle_step, here) < here)
            return false;
        runs->next.index += more;
        runs->count -= more;
    }
    return true;
}

/* Whether the rows lie in the order and in chunks of the sizes that bytes say. */
static bool is_arranged(saved_archetype saved)
{
    const micap_archetype *archetype = saved.archetype;
    micap_handle_runs runs = {0};
    bool is_same = archetype->chunk_count == saved.chunk_count && archetype->row_count == saved.row_count;
    for (uint32_t i = 0; is_same && i < archetype->chunk_count; ++i)
        is_same = archetype->chunks[i]->order == micap_reader_take_number(&saved.orders);
    for (uint32_t i = 0; is_same && i < archetype->chunk_count; ++i)
        is_same = are_next(&runs, &saved.rows, micap_chunk_entities(archetype->chunks[i]), archetype->chunks[i]->count);
    return is_same;
}

/* Where a row is among all rows of its archetype. */
static uint64_t row_number(micap_row spot)
{
    uint64_t number = spot.row;
    for (uint32_t i = 0; i < spot.chunk->index; ++i)
        number += spot.chunk->archetype->chunks[i]->count;
    return number;
}

/* Whether the archetype has the entities that bytes say, each once, and no others, and chunks of those sizes hold them. A hook may
 * have changed what was created. */
static bool fits(const mica_world *world, saved_archetype saved, uint64_t *seen)
{
    const micap_archetype *archetype = saved.archetype;
    micap_handle_runs runs = {0};
    uint64_t room = 0;
    for (uint64_t i = 0; i < saved.chunk_count; ++i)
        room += micap_chunk_capacity(archetype, (uint64_t)1 << micap_reader_take_number(&saved.orders));
    if (archetype->row_count != saved.row_count || room < saved.row_count)
        return false;
    for (uint64_t i = 0; i < saved.row_count; ++i) {
        micap_row spot = micap_locate(world, micap_handle_runs_take(&runs, &saved.rows));
        if (!micap_is_row(spot) || spot.chunk->archetype != archetype)
            return false;
        uint64_t row = row_number(spot);
        if (seen[row / 64] >> row % 64 & 1)
            return false;
        seen[row / 64] |= (uint64_t)1 << row % 64;
    }
    return true;
}

/* Moves the rows into new chunks, in their order. */
static void move_rows(mica_world *world, micap_archetype *archetype, uint32_t first_chunk, saved_archetype saved)
{
    micap_handle_runs runs = {0};
    uint32_t chunk = first_chunk;
    for (uint64_t i = 0; i < saved.row_count; ++i) {
        mica_entity entity = micap_handle_runs_take(&runs, &saved.rows);
        while (archetype->chunks[chunk]->count == archetype->chunks[chunk]->capacity)
            ++chunk;
        micap_row to = {archetype->chunks[chunk], archetype->chunks[chunk]->count++};
        micap_row_move(micap_locate(world, entity), to);
        micap_row_own(to, entity, micap_record_at(&world->entities, entity.index));
        micap_stamp_row(world, to.chunk, to.row); /* until stamps are loaded, unless memory runs out before */
    }
}

static bool rebuild(mica_world *world, saved_archetype saved)
{
    micap_archetype *archetype = saved.archetype;
    uint32_t old_count = archetype->chunk_count;
    bool fine = true;
    micap_reader orders = saved.orders;
    for (uint64_t i = 0; fine && i < saved.chunk_count; ++i)
        fine = add_chunk(world, archetype, (uint32_t)micap_reader_take_number(&orders));
    if (!fine) {
        micap_rows_shrink(world, archetype, 0);
        return false;
    }
    move_rows(world, archetype, old_count, saved);
    for (uint32_t i = 0; i < old_count; ++i) {
        archetype->chunks[i]->count = 0;
        micap_chunk_release(world, archetype->chunks[i]);
    }
    archetype->chunk_count -= old_count;
    memmove(archetype->chunks, archetype->chunks + old_count, archetype->chunk_count * sizeof *archetype->chunks);
    for (uint32_t i = 0; i < archetype->chunk_count; ++i) {
        archetype->chunks[i]->index = i;
        if (archetype->chunks[i]->count)
            archetype->tail = i;
    }
    micap_rows_update_open(archetype);
    return true;
}

/* Brings the rows of an archetype into their order, if the entities are those that bytes say. False if memory is short. */
static bool arrange(mica_world *world, saved_archetype saved)
{
    if (!saved.archetype || is_arranged(saved))
        return true;
    size_t bytes = (size_t)(saved.archetype->row_count / 64 + 1) * sizeof(uint64_t);
    uint64_t *seen = micap_allocate_zeroed(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    bool fine = seen && (!fits(world, saved, seen) || rebuild(world, saved));
    micap_release(&world->memory, seen, bytes, MICAP_ARRAY_ALIGNMENT);
    return fine;
}

bool micap_resume_arrange_rows(mica_world *world, micap_reader reader)
{
    uint64_t count = micap_reader_take_number(&reader);
    bool fine = true;
    saved_archetype saved;
    for (uint64_t i = 0; fine && i < count; ++i)
        fine = take_rows(world, &reader, &saved) && skip_stamps(&reader, saved.stamp_count) && arrange(world, saved);
    return fine;
}

void micap_resume_forget_archetypes(mica_world *world, uint32_t count)
{
    for (uint32_t i = count; i < world->archetypes.count; ++i)
        if (world->archetypes.by_id[i]->row_count) /* of a hook */
            return;
    for (uint32_t i = count; i < world->archetypes.count; ++i)
        micap_rows_shrink(world, world->archetypes.by_id[i], 0);
    micap_archetypes_forget(world, count);
}

static uint32_t find_stamp(const micap_archetype *archetype, uint64_t hash)
{
    for (uint32_t i = 0; i < archetype->column_count; ++i)
        if (micap_state_column_hash(&archetype->columns[i]) == hash)
            return i + 1;
    return 0;
}

static void load_stamps(const micap_archetype *archetype, uint32_t stamp, micap_reader reader, mica_version version)
{
    micap_number_runs runs = {0};
    for (uint32_t i = 0; i < archetype->chunk_count; ++i)
        for (uint32_t row = 0; row < archetype->chunks[i]->count; row += MICA_SLICE_ROWS) {
            mica_version *to = &micap_chunk_stamps(archetype->chunks[i], row)[stamp];
            *to = micap_stamp_of(*to, micap_number_runs_take_version(&runs, &reader, version));
        }
    if (!stamp || !micap_holds_versions(archetype->columns[stamp - 1].companion))
        return;
    for (uint32_t i = 0; i < archetype->chunk_count; ++i) {
        mica_version *versions = micap_chunk_column(archetype->chunks[i], stamp - 1);
        for (uint32_t row = 0; row < archetype->chunks[i]->count; ++row)
            versions[row] = micap_number_runs_take_version(&runs, &reader, version);
    }
}

/* Bytes could say that a row was written after its slice, which queries would not find then. */
static void cover_rows(const micap_archetype *archetype)
{
    for (uint32_t column = 0; column < archetype->column_count; ++column)
        for (uint32_t i = 0;
             archetype->columns[column].companion == MICAP_COMPANION_CHANGED && i < archetype->chunk_count; ++i) {
            const micap_chunk *chunk = archetype->chunks[i];
            const mica_version *versions = micap_chunk_column(chunk, column);
            for (uint32_t row = 0; row < chunk->count; ++row)
                if (versions[row] > micap_chunk_stamps(chunk, row)[0])
                    micap_stamp_newest(&micap_chunk_stamps(chunk, row)[1 + column], versions[row]);
        }
}

/* Rows were created at the version that the world had until now, which may be higher. What the state says nothing about counts as
 * changed at its last version. */
static void bound_stamps(const micap_archetype *archetype, mica_version version)
{
    for (uint32_t i = 0; i < archetype->chunk_count; ++i) {
        const micap_chunk *chunk = archetype->chunks[i];
        for (uint32_t row = 0; row < chunk->capacity; row += MICA_SLICE_ROWS)
            for (uint32_t k = 0; k < chunk->stride; ++k)
                micap_stamp_bound(&micap_chunk_stamps(chunk, row)[k], version);
        for (uint32_t column = 0; column < archetype->column_count; ++column) {
            bool holds_versions = micap_holds_versions(archetype->columns[column].companion);
            mica_version *versions = micap_chunk_column(chunk, column);
            for (uint32_t row = 0; holds_versions && row < chunk->count; ++row)
                micap_stamp_bound(&versions[row], version);
        }
    }
}

void micap_resume_load_stamps(mica_world *world, micap_reader reader, mica_version version)
{
    for (uint32_t i = 0; i < world->archetypes.count; ++i)
        bound_stamps(world->archetypes.by_id[i], version);
    uint64_t count = micap_reader_take_number(&reader);
    saved_archetype saved;
    for (uint64_t i = 0; i < count && take_rows(world, &reader, &saved); ++i) {
        bool is_same = saved.archetype && is_arranged(saved);
        for (uint64_t k = 0; k < saved.stamp_count; ++k) {
            uint64_t hash = micap_reader_take64(&reader);
            uint32_t bytes = micap_reader_take32(&reader);
            const char *begin = micap_reader_take(&reader, bytes);
            uint32_t stamp = is_same && hash ? find_stamp(saved.archetype, hash) : 0;
            if (begin && is_same && (stamp || !hash))
                load_stamps(saved.archetype, stamp, (micap_reader){begin, begin, begin + bytes, false}, version);
        }
        if (is_same)
            cover_rows(saved.archetype);
    }
}
