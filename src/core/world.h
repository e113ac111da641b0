/* The world ties the parts together. Each part is a struct of its own with functions of its own. */
#ifndef MICAP_CORE_WORLD_H
#define MICAP_CORE_WORLD_H

#include "base/arena.h"
#include "base/assert.h"
#include "base/memory.h"
#include "core/archetype.h"
#include "core/commands.h"
#include "core/component.h"
#include "core/entities.h"
#include "core/names.h"
#include "core/query.h"
#include "core/rows.h"
#include "mica/world.h"

enum { MICAP_SHAPE_COMPONENTS = 8, MICAP_SHAPES = 64 };

/* What mica_create did last for a list of values: from the list as the caller writes it straight to the columns. Only
 * for lists that fill every column of a plain archetype: then a row is nothing but copies. */
typedef struct micap_shape {
    micap_archetype *archetype; /* NULL: unused */
    uint32_t count;
    struct micap_shape_item {
        mica_component component;
        uint32_t size_bytes; /* as the caller gives it */
        uint32_t column;
        uint32_t bytes; /* 0 for a tag */
    } items[MICAP_SHAPE_COMPONENTS];
} micap_shape;

struct mica_world {
    /* Hot: what looking up an entity reads. */
    micap_entities entities;
    micap_chunks chunks;
    _Atomic mica_version version; /* stamped on what changes; raised by mica_world_mark */
    uint64_t structure;           /* raised by every change after which pointers are void */

    micap_components components;
    micap_archetypes archetypes;
    micap_queries queries;
    micap_names names;
    micap_shape shapes[MICAP_SHAPES];

    mica_commands deferred;        /* what the world records by itself */
    mica_commands *first_commands; /* the buffers, in order of creation; the first is `deferred` */
    mica_commands *last_commands;
    uint32_t recording_depth; /* of mica_defer and of hooks: changes are recorded while it is not 0 */
    uint32_t hook_depth;
    bool flushing;
    micap_flush flush;
    micap_hook destroy_hook;

    micap_memory memory;
    micap_arena arena;
    mica_world_def def;
    _Atomic(mica_result) last_error;
};

static inline mica_version micap_version(const mica_world *world)
{
    return atomic_load_explicit(&world->version, memory_order_relaxed);
}

/* Frees the handle of a living or pending entity, and its name. */
static inline void micap_entity_forget(mica_world *world, mica_entity entity)
{
    micap_entity_give(&world->entities, entity);
    if (MICAP_UNLIKELY(world->names.count))
        micap_name_forget(world, entity);
}

/* How many entities live. */
uint64_t micap_entity_count(const mica_world *world);

/* Where the row of an entity is; a chunk without components when it is not alive. */
static inline micap_spot micap_locate(const mica_world *world, mica_entity entity)
{
    uint64_t record = micap_record_of(&world->entities, entity);
    return (micap_spot){world->chunks.by_number[micap_record_chunk(record)], micap_record_row(record)};
}

/* Whether the spot is a row: not that of a dead or pending entity. */
static inline bool micap_is_row(micap_spot spot)
{
    return spot.chunk->number > MICAP_CHUNK_PENDING;
}

/* Makes the row at micap_rows_next exist and belong to the entity, whose record is given. */
static inline void micap_rows_commit_record(mica_world *world, micap_spot spot, mica_entity entity, uint64_t *record)
{
    MICAP_ASSERT_HOT(spot.row == spot.chunk->count && spot.row < spot.chunk->capacity, "a row is added at the end");
    micap_chunk_entities(spot.chunk)[spot.row] = entity;
    micap_chunk_stamps(spot.chunk, spot.row)[0] = micap_version(world);
    *record = micap_record_pack(entity.generation, spot.chunk->number, spot.row);
    micap_rows_count_up(spot, 1);
}

static inline void micap_rows_commit(mica_world *world, micap_spot spot, mica_entity entity)
{
    micap_rows_commit_record(world, spot, entity, micap_record_at(&world->entities, entity.index));
}

/* Notes the error and reports it; returns the result for the caller to pass on. The text is built with printf. */
mica_result micap_fail(const mica_world *world, mica_result result, mica_place place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
mica_result micap_fail_memory(const mica_world *world, const char *what);
mica_result micap_fail_dead(const mica_world *world, mica_entity entity, const char *what);

/* Hands a report to the handler of the def, or prints it. */
void micap_report_to(const mica_world_def *def, const mica_report *report);

/* MICA_OK, or a report that the operation can't be recorded. */
mica_result micap_refuse_while_recording(const mica_world *world, const char *what);

/* Hooks of a run of rows in one chunk. The world records while they run; micap_hooks_end applies that. */
void micap_hooks_run(mica_world *world, mica_event_kind kind, mica_component component, micap_spot spot,
                     uint32_t count);
/* How many of these living entities, from the first on, lie one after the other in one chunk. */
uint32_t micap_run_of(const mica_world *world, const mica_entity *entities, uint32_t count);
/* The same for entities in any places: called with runs of those that lie one after the other. */
void micap_hooks_run_many(mica_world *world, mica_event_kind kind, mica_component component,
                          const mica_entity *entities, uint32_t count);
/* The add hook for each component of the row's archetype that `from` (NULL: the empty set) does not have. */
void micap_hooks_added(mica_world *world, const micap_archetype *from, micap_spot spot, uint32_t count);
/* The remove hook for each component that `to` (NULL: none, with the destroy hook) will not have. */
void micap_hooks_removing(mica_world *world, const micap_archetype *to, micap_spot spot, uint32_t count);
/* Applies what hooks recorded, unless something outside records or flushes. */
static inline void micap_hooks_end(mica_world *world)
{
    if (MICAP_UNLIKELY(world->deferred.recording.target_count) && !world->recording_depth && !world->flushing)
        micap_flush_own(world);
}

/* Whether any of the archetype's components has one of these hooks: bits 1 << kind. */
static inline bool micap_has_hooks(const micap_archetype *archetype, uint32_t mask)
{
    return (archetype->hook_mask & mask) != 0;
}

/* Destroys the entity of a row; its hooks are run by the caller, or with the second. */
void micap_destroy_row(mica_world *world, micap_spot spot);
void micap_destroy_row_with_hooks(mica_world *world, micap_spot spot);

/* The archetype of a list of values in any order, with companions. NULL with a report: a component twice, a size that
 * disagrees, a singleton, memory. */
micap_archetype *micap_archetype_of_values(mica_world *world, const mica_value *values, uint32_t count);

/* Fills the raw columns of `count` rows that lie in one chunk: from the values' data, element `first` on, or with
 * defaults. Companions too. False with a report when a value can't be made: all is raw again. */
bool micap_rows_fill(mica_world *world, micap_spot spot, uint32_t count, const mica_value *values, uint32_t value_count,
                     uint64_t first);

/* Runs the add and set hooks of rows that were just created from values. */
void micap_hooks_created(mica_world *world, micap_spot spot, uint32_t count, const mica_value *values,
                         uint32_t value_count);

#endif
