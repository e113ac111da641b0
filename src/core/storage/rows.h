/* Rows of an archetype: reserving, appending, moving and removing them.
 *
 * chunk_write what every write to a chunk does first: copy-on-write for snapshots, and stamps
 * row_batch   moves several rows of a chunk along an edge at once
 * split_row   the columns of split components
 * chunk, archetype, archetype_graph   where rows are, and which archetype is next */
#ifndef MICAP_CORE_STORAGE_ROWS_H
#define MICAP_CORE_STORAGE_ROWS_H

#include "core/storage/chunk_write.h"

/* Where the row of an entity is; a chunk without components when it is not alive. */
static inline micap_row micap_locate(const mica_world *world, mica_entity entity)
{
    uint64_t record = micap_record_of(&world->entities, entity);
    return (micap_row){world->chunks.by_number[micap_record_chunk(record)], micap_record_row(record)};
}

/* The fast path: the row of an entity whose record is in the array. Returns false for those that are not, and for entities that are not
 * alive; then micap_locate has the answer. */
static inline bool micap_locate_row(const mica_world *world, mica_entity entity, micap_row *out_spot)
{
    const mica_private_lookup *lookup = &world->lookup;
    if (MICAP_UNLIKELY(entity.index >= lookup->record_count))
        return false;
    uint64_t record = mica_private_record(lookup, entity.index);
    uint64_t number = mica_private_chunk_number(record, entity.generation);
    if (MICAP_UNLIKELY(number - MICAP_CHUNK_PENDING - 1 >= lookup->chunk_capacity - MICAP_CHUNK_PENDING - 1))
        return false;
    *out_spot = (micap_row){world->chunks.by_number[number], micap_record_row(record)};
    return true;
}

/* Whether the spot is a row: not that of a dead or pending entity. */
static inline bool micap_is_row(micap_row spot)
{
    return spot.chunk->number > MICAP_CHUNK_PENDING;
}

/* Gives a row that was touched to an entity, whose record is given. */
static inline void micap_row_own(micap_row spot, mica_entity entity, uint64_t *record)
{
    micap_chunk_entities(spot.chunk)[spot.row] = entity;
    *record = micap_record_pack(entity.generation, spot.chunk->number, spot.row);
}

/* Makes room for that many rows without adding any, so that adding them can't fail. */
MICAP_COLD bool micap_rows_reserve(mica_world *world, micap_archetype *archetype, uint64_t count);

/* The same for one row: mostly there is room. */
static inline bool micap_rows_reserve_one(mica_world *world, micap_archetype *archetype)
{
    return archetype->open || micap_rows_reserve(world, archetype, 1);
}

/* The same for rows that lie in one chunk if they can. Compilers place whatever always calls a cold function beside the hot code. */
static inline bool micap_rows_reserve_many(mica_world *world, micap_archetype *archetype, uint64_t count)
{
    const micap_chunk *open = archetype->open;
    return (open && open->capacity - open->count >= count) || micap_rows_reserve(world, archetype, count);
}

/* The place of the next row, after a successful reserve; the row does not exist until it is committed. */
static inline micap_row micap_rows_next(const micap_archetype *archetype)
{
    return (micap_row){archetype->open, archetype->open->count};
}

/* Works out `open` after the first or last row of a chunk came or went. */
MICAP_COLD void micap_rows_update_open(micap_archetype *archetype);

/* As micap_rows_count_up, but leaves it to the caller to work out `open` when it returns that the chunk is full. */
static inline bool micap_rows_count(micap_row spot, uint32_t count)
{
    micap_chunk *chunk = spot.chunk;
    micap_archetype *archetype = chunk->archetype;
    if (MICAP_UNLIKELY(spot.row == 0) && archetype->row_count)
        ++archetype->tail;
    chunk->count = spot.row + count;
    archetype->row_count += count;
    return MICAP_UNLIKELY(chunk->count == chunk->capacity);
}

/* Makes `count` rows that begin at micap_rows_next and lie in its chunk exist, once entities and records name each
 * other. */
static inline void micap_rows_count_up(micap_row spot, uint32_t count)
{
    if (micap_rows_count(spot, count))
        micap_rows_update_open(spot.chunk->archetype);
}

/* Makes the row at micap_rows_next exist and belong to the entity, whose record is given. */
static inline void micap_rows_commit_record(mica_world *world, micap_row spot, mica_entity entity, uint64_t *record)
{
    MICAP_ASSERT_HOT(spot.row == spot.chunk->count && spot.row < spot.chunk->capacity, "a row is added at the end");
    micap_touch_row(world, spot.chunk, spot.row);
    micap_row_own(spot, entity, record);
    micap_rows_count_up(spot, 1);
}

static inline void micap_rows_commit(mica_world *world, micap_row spot, mica_entity entity)
{
    micap_rows_commit_record(world, spot, entity, micap_record_at(&world->entities, entity.index));
}

/* Notes that rows have moved, in a flush that may be applied by several threads: then it is noted afterwards. */
static inline void micap_rows_have_moved(mica_world *world)
{
    if (MICAP_LIKELY(!world->flush.is_shared))
        ++world->structure;
}

/* The primitive: moves the values of all columns that both rows' archetypes have, and destroys those that only `from`
 * has. Columns that only `to` has stay raw. Neither row's entity changes. */
void micap_row_move(micap_row from, micap_row to);

/* Swap-remove: moves the last row of the archetype into a row whose values were destroyed. Returns true, so that the caller can end
 * with a tail call. */
bool micap_row_fill_hole(mica_world *world, micap_row hole);
/* The same if the archetype moves as bytes and there is no snapshot, and if there are some. */
bool micap_row_fill_hole_fast(mica_world *world, micap_row hole);
bool micap_row_fill_hole_saving(mica_world *world, micap_row hole);

/* Drops the last rows of an archetype, whose entities have moved elsewhere; they lie in its last chunk. */
void micap_rows_drop_last(mica_world *world, micap_archetype *archetype, uint32_t count);

/* Removes rows of one chunk that lie one after the other from an archetype that moves as bytes, with the result of filling each hole
 * from the first to the last: the last row of the archetype is in the first hole afterwards. */
void micap_rows_remove(mica_world *world, micap_row first, uint32_t count);

/* Fills holes that lie one after the other in one chunk with the last rows of the archetype, in their order. */
void micap_rows_fill_holes(mica_world *world, micap_row hole, uint32_t count);

/* Moves an entity to a row of another archetype for which room is reserved; new columns are raw, companions set.
 * The hole is filled. Returns the new place. */
micap_row micap_row_change_archetype(mica_world *world, micap_row from, micap_archetype *to);

/* The same along an edge with the fast path, MICAP_EDGE_ADDS. Returns the value that was added, which is zero; micap_tag_value for
 * a tag. */
void *micap_row_step_add(mica_world *world, mica_entity entity, micap_row from, const micap_edge *edge);
/* The same with a copy of the bytes of a value; NULL is zero. Returns true. */
bool micap_row_step_set(mica_world *world, mica_entity entity, micap_row from, const micap_edge *edge,
                        const void *value);
/* The same for MICAP_EDGE_REMOVES. Returns true. */
bool micap_row_step_remove(mica_world *world, mica_entity entity, micap_row from, const micap_edge *edge);

/* What a pointer to a tag points to. */
extern char micap_tag_value;

/* Destroys the values of rows that lie one after the other, in the columns that own something. */
void micap_rows_destruct(mica_world *world, micap_row spot, uint32_t count);

/* Sets the companions among the columns that `to` has and `from` (NULL: the empty set) does not have; the leaves of split
 * components stay raw. */
void micap_row_init_companions(mica_world *world, const micap_archetype *from, micap_row to);

/* Frees empty chunks, except for `keep` of them. Returns how many. */
uint32_t micap_rows_shrink(mica_world *world, micap_archetype *archetype, uint32_t keep);

/* Moves the rows of an archetype with one chunk into the smallest chunk that holds them, if there is memory for it. */
void micap_rows_fit(mica_world *world, micap_archetype *archetype);

#endif
