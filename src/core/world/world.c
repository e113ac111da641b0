#include "base/argument.h"
#include "base/call_location.h"
#include "core/world/access_check.h"
#include "core/world/stale_pointers.h"
#include "core/world/world.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/block_heap.h"
#include "core/entity/create_plan.h"
#include "core/events/hooks.h"
#include "core/query/query.h"
#include "core/undo/copy_on_write.h"
#include "core/entity/destroy.h"
#include "core/world/report.h"
#include "core/storage/rows.h"

/* The memory of a world: parts that few files need follow the world itself, which points to them. */
typedef struct world_block {
    mica_world world;
    micap_queries queries;
} world_block;

mica_world_def mica_world_def_default(void)
{
    return (mica_world_def){.chunk_bytes_first = 2 << 10, .chunk_bytes_last = 2 << 20, .seed = 1};
}

/* The def with the defaults in place of zeros. */
static mica_world_def complete(const mica_world_def *def)
{
    mica_world_def standard = mica_world_def_default(), chosen = def ? *def : standard;
    if (!chosen.chunk_bytes_first)
        chosen.chunk_bytes_first = standard.chunk_bytes_first;
    if (!chosen.chunk_bytes_last)
        chosen.chunk_bytes_last = standard.chunk_bytes_last;
    if (!chosen.seed)
        chosen.seed = standard.seed;
    return chosen;
}

static bool is_sane(const mica_world_def *def)
{
    return micap_is_power_of_two(def->chunk_bytes_first) && micap_is_power_of_two(def->chunk_bytes_last) &&
           def->chunk_bytes_first >= 256 && def->chunk_bytes_first <= def->chunk_bytes_last &&
           def->chunk_bytes_last <= 1 << 30 && (uint32_t)def->dead_target <= MICA_DEAD_TARGET_ERROR &&
           def->handle_space <= MICAP_SPACE_MAX;
}

static void release(mica_world *world)
{
    micap_modules_free(world);
    micap_undo_logs_free(&world->undo);
    micap_queries_free(world);
    while (world->last_commands && world->last_commands != &world->deferred)
        mica_commands_destroy(world->last_commands);
    if (world->last_commands)
        micap_commands_free(&world->deferred);
    micap_flush_free(world);
    micap_names_free(world);
    micap_attachments_free(world);
    micap_create_plans_free(world);
    micap_archetypes_free(world);
    micap_pools_free(world);
    micap_components_free(world);
    micap_chunks_free(world);
    micap_entities_free(world);
    micap_arena_free(&world->arena);
    micap_memory memory = world->memory;
    micap_release(&memory, world, sizeof(world_block), MICAP_CACHE_LINE);
    MICAP_ASSERT(atomic_load(&memory.bytes) == 0, "a world releases all that it allocated");
}

mica_world *mica_world_create(const mica_world_def *def)
{
    mica_world_def chosen = complete(def);
    micap_memory memory;
    if (!is_sane(&chosen) || !micap_memory_init(&memory, chosen.allocator)) {
        micap_report_to(&chosen, &(mica_report){MICA_ERROR_INVALID,
                                                "world: invalid def: chunk sizes are powers of two from 256 bytes to 1 "
                                                "GiB, handle_space is at most 255, and the allocator is complete or "
                                                "zero",
                                                micap_noted_place()});
        return NULL;
    }
    world_block *block = micap_allocate_zeroed(&memory, sizeof *block, MICAP_CACHE_LINE);
    if (!block)
        return NULL;
    mica_world *world = &block->world;
    world->queries = &block->queries;
    micap_create_plans_init(world);
    world->memory = memory;
    world->def = chosen;
    world->pools.random_state = chosen.seed;
    world->pools.masks.arena = &world->pools.arena;
    world->pools.masks.undo = &world->undo;
    world->pools.masks.keep_kind = MICAP_UNDO_MASKS;
    atomic_store_explicit(&world->version, 1, memory_order_relaxed);
    static atomic_uint_fast64_t worlds; /* a mica_ref that is used with another world must notice it */
    world->structure = (atomic_fetch_add_explicit(&worlds, 1, memory_order_relaxed) + 1) << 40;
    micap_undo_logs_init(&world->undo, &world->memory, &micap_undo_ops_of_values);
    micap_arena_init(&world->arena, &world->memory);
    micap_arena_init(&world->pools.arena, &world->memory);
    if (!micap_entities_init(world) || !micap_archetypes_init(world) || !micap_chunks_init(world)) {
        release(world);
        return NULL;
    }
    micap_commands_init(&world->deferred, world);
    world->deferred.owned = true;
    world->refusing = (mica_commands){.world = world, .refusing = true};
    return world;
}

mica_world *mica_private_world_create(const mica_world_def *def)
{
    return mica_world_create(def);
}

/* Destroys the entities of the last chunk of an archetype, whose values are trivial. Slots become free in the same order as if rows were
 * destroyed one by one from the end. */
static void destroy_chunk(mica_world *world, micap_chunk *chunk)
{
    const mica_entity *entities = micap_chunk_entities(chunk);
    uint32_t count = chunk->count;
    micap_entities_give_many(&world->entities, entities, count);
    for (uint32_t row = count; world->attachments.word_count && row-- > 0;)
        if (micap_is_attached(&world->attachments, entities[row].index)) {
            micap_name_forget(world, entities[row]);
            micap_detach(world, entities[row].index);
        }
    micap_rows_drop_last(world, chunk->archetype, count);
    world->structure += count;
}

/* Last row first, so that nothing moves. */
static void destroy_all(mica_world *world)
{
    for (uint32_t i = 0; i < world->archetypes.count; ++i) {
        micap_archetype *archetype = world->archetypes.by_id[i];
        for (uint32_t chunk = 0; archetype->row_count && chunk <= archetype->tail; ++chunk)
            micap_hooks_removing(world, NULL, (micap_row){archetype->chunks[chunk], 0},
                                 archetype->chunks[chunk]->count);
        while (archetype->row_count) {
            micap_chunk *chunk = archetype->chunks[archetype->tail];
            if (archetype->trivial && !world->pools.count)
                destroy_chunk(world, chunk);
            else
                micap_destroy_row(world, (micap_row){chunk, chunk->count - 1});
        }
    }
    micap_pools_clear(world);
}

mica_result mica_world_clear(mica_world *world)
{
    MICAP_IMMEDIATE_CHANGE(world);
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    mica_result result = micap_refuse_while_recording(world, "clear");
    if (result != MICA_OK)
        return result;
    destroy_all(world);
    micap_hooks_end(world);
    return MICA_OK;
}

void mica_world_destroy(mica_world *world)
{
    if (!world)
        return;
    if (world->hook_depth || world->frame_depth || world->flushing) {
        micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
                   "world_destroy: refused inside a frame, a hook or a handler, which use the world afterwards");
        return;
    }
    world->flushing = true; /* changes that hooks record are dropped */
    micap_undo_logs_clear(&world->undo);
    micap_chunks_sweep(world);
    destroy_all(world);
    if (world->is_unsettled)
        world->settle(world);
    for (uint32_t i = 0; i < world->archetypes.count; ++i)
        micap_rows_shrink(world, world->archetypes.by_id[i], 0);
    micap_lend_drop(world);
    release(world);
}

/* All chunks but the last one are full. */
static void trim_rows(mica_world *world, micap_archetype *archetype)
{
    micap_rows_shrink(world, archetype, 0);
    micap_rows_fit(world, archetype);
    if (archetype->row_count && !world->undo.before)
        micap_chunk_discard_unused(world, archetype->chunks[archetype->tail]);
}

size_t mica_world_trim(mica_world *world)
{
    MICAP_IMMEDIATE_CHANGE(world);
    if (MICAP_MISSING(NULL, world))
        return 0;
    if (world->recording_depth || world->flushing) /* memory that a flush has reserved is in use */
        return 0;
    size_t before = atomic_load(&world->memory.bytes);
    for (uint32_t i = 0; i < world->archetypes.count; ++i)
        trim_rows(world, world->archetypes.by_id[i]);
    micap_chunks_sweep(world);
    world->structure += world->queries->retired != NULL; /* ends loops over queries that were destroyed */
    micap_queries_sweep(world);
    micap_pools_trim(world);
    micap_hooks_end(world);
    micap_modules_trim(world);
    micap_flush_free(world);
    micap_commands_trim(world);
    micap_arena_trim(&world->arena);
    micap_heap_trim(); /* of all worlds: text and lists are not allocated by the world's allocator */
    return before - atomic_load(&world->memory.bytes);
}

void mica_world_set_guard(mica_world *world, mica_guard_fn fn, void *context)
{
    if (MICAP_MISSING(NULL, world))
        return;
    world->guard = fn;
    world->guard_context = context;
}

void mica_world_seal(mica_world *world, bool sealed)
{
    if (MICAP_MISSING(NULL, world))
        return;
    world->archetypes.sealed = sealed;
}

mica_version mica_world_mark(mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return 0;
    const micap_thread_context *here = micap_thread_context_of(world);
    return here ? here->version : atomic_fetch_add_explicit(&world->version, 1, memory_order_relaxed);
}

mica_version mica_world_structure(const mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return 0;
    return world->structure;
}

uint64_t micap_entity_count(const mica_world *world)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < world->archetypes.count; ++i)
        count += world->archetypes.by_id[i]->row_count;
    return count;
}

mica_world_stats mica_world_get_stats(const mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return (mica_world_stats){0};
    uint32_t components = 0;
    mica_component id = 0;
    while ((id = micap_component_after(&world->components, id)))
        components += micap_component_of(&world->components, id)->type->companion == MICAP_COMPANION_NONE;
    return (mica_world_stats){
        .entity_count = micap_entity_count(world),
        .component_count = components,
        .archetype_count = world->archetypes.count,
        .chunk_count = world->chunks.count,
        .query_count = world->queries->count,
        .name_count = world->names.count,
        .memory_bytes = atomic_load(&world->memory.bytes),
        .chunk_bytes = world->chunks.bytes,
    };
}
