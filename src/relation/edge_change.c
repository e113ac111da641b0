#include "relation/edge_change.h"

#include "base/argument.h"
#include "base/assert.h"
#include "base/bits.h"
#include "core/commands/module_notes.h"
#include "core/entity/destroy.h"
#include "core/entity/destroy_list.h"
#include "core/storage/pool_lookup.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "mica/relation.h"
#include "pool/pool_rows.h"
#include "pool/pool_undo.h"
#include "relation/edge_lookup.h"
#include "relation/edge_walk.h"

static MICAP_COLD void refuse(const mica_world *world, const mica_pool *pool, const micap_edge_change *change,
                              mica_location location, const char *why)
{
    micap_fail(world, MICA_ERROR_INVALID, location, "relate: entity %u, %s, entity %u: %s", change->source.index,
               pool->type->type.name, change->target.index, why);
}

/* Whether the edge can be added; a report if not. */
static bool is_allowed(const mica_world *world, const mica_pool *pool, const micap_edge_change *change,
                       mica_location location)
{
    if (MICAP_UNLIKELY(mica_same(change->source, change->target))) {
        refuse(world, pool, change, location, "an entity can't be related to itself");
        return false;
    }
    if (MICAP_LIKELY(!pool->type->type.acyclic))
        return true;
    micap_reach reach = micap_edges_reach(pool, change->target, change->source);
    if (reach == MICAP_REACH_YES)
        refuse(world, pool, change, location, "the edge would close a circle, and the relation is acyclic");
    else if (reach == MICAP_REACH_UNKNOWN)
        micap_fail_memory(world, "relate");
    return reach == MICAP_REACH_NO;
}

/* Completes a value whose fields are there. */
static void set_ends(const mica_pool *pool, void *value, mica_entity target, uint32_t rank)
{
    memcpy((char *)value + pool->edges->target_offset, &target, sizeof target);
    memcpy((char *)value + pool->edges->rank_offset, &rank, sizeof rank);
}

/* Copies fields that own something into a raw value: by way of a whole one, which their functions are for. */
static bool copy_fields(mica_world *world, const micap_type *type, const micap_edge_change *change, void *to)
{
    uint32_t bytes = type->type.size_bytes;
    void *whole = micap_allocate_zeroed(&world->memory, bytes, type->type.alignment);
    if (whole)
        memcpy(whole, change->fields, change->fields_bytes);
    bool fine = whole && micap_values_copy(type, to, whole, 1);
    micap_release(&world->memory, whole, bytes, type->type.alignment);
    return fine;
}

/* Makes a raw value from what the change gives. False with a report if it can't. */
static bool make_value(mica_world *world, const mica_pool *pool, const micap_edge_change *change, void *to)
{
    const micap_type *type = pool->type;
    bool fine = true;
    if (MICAP_LIKELY(!change->value && !change->fields && type->trivial && !type->initial)) {
        if (pool->edges->target_offset)
            memset(to, 0, pool->value_bytes);
        return true;
    }
    if (change->value) {
        micap_values_move(type, to, change->value, 1);
    } else if (!change->fields) {
        fine = micap_values_construct(type, to, 1);
    } else if (type->trivial) {
        memset(to, 0, pool->value_bytes);
        memcpy(to, change->fields, change->fields_bytes);
    } else {
        fine = copy_fields(world, type, change, to);
    }
    return fine || micap_fail_value(world, type);
}

/* Gives an edge that exists the fields of a change. */
static bool replace_fields(mica_world *world, mica_pool *pool, uint32_t row, const micap_edge_change *change)
{
    void *value = micap_pool_value(pool, row);
    mica_entity target = micap_edge_target(pool, row);
    uint32_t rank = micap_edge_rank(pool, row);
    micap_pool_touch_value(pool, row, micap_version(world));
    if (pool->type->trivial) {
        const void *fields = change->value ? change->value : change->fields;
        MICAP_ASSERT(fields, "a change has fields");
        if (value != change->fields)
            memmove(value, fields, change->value ? pool->edges->target_offset : change->fields_bytes);
        return true;
    }
    if (!make_value(world, pool, change, pool->scratch))
        return false;
    micap_pool_destruct_value(pool, row);
    micap_pool_move_value_in(pool, row, pool->scratch);
    set_ends(pool, value, target, rank);
    return true;
}

/* An exclusive relation has room for one edge per source; if it is symmetric, per entity. */
static void make_way(mica_world *world, mica_pool *pool, mica_entity entity)
{
    uint32_t row = micap_pool_row(pool, entity);
    if (row != MICAP_ROW_NONE)
        micap_pools_remove_instance(world, pool, row);
    row = pool->type->type.symmetric ? micap_edges_first(pool, entity) : MICAP_ROW_NONE;
    if (row != MICAP_ROW_NONE)
        micap_pools_remove_instance(world, pool, row);
}

static uint32_t add_edge(mica_world *world, mica_pool *pool, const micap_edge_change *change)
{
    const mica_type *type = &pool->type->type;
    if (MICAP_UNLIKELY(!micap_pools_make_room_for_edge(world, pool, change->source, change->target))) {
        micap_fail_memory(world, type->name);
        return MICAP_ROW_NONE;
    }
    if (type->exclusive)
        make_way(world, pool, change->source);
    if (type->exclusive && type->symmetric)
        make_way(world, pool, change->target);
    void *value = micap_pool_value(pool, pool->row_limit);
    if (!make_value(world, pool, change, value))
        return MICAP_ROW_NONE;
    set_ends(pool, value, change->target, change->rank);
    uint32_t row = change->dangles ? micap_pools_commit(world, pool, change->source)
                                   : micap_pools_commit_edge(world, pool, change->source, change->target);
    if (MICAP_UNLIKELY(pool->hook_mask & 1 << MICA_EVENT_ADD))
        micap_pools_run_hook(world, MICA_EVENT_ADD, pool, row, 1);
    return row;
}

uint32_t micap_edge_relate(mica_world *world, mica_pool *pool, const micap_edge_change *change, mica_location location)
{
    uint32_t row = change->dangles ? MICAP_ROW_NONE : micap_edge_between(pool, change->source, change->target);
    if (row == MICAP_ROW_NONE) {
        row = is_allowed(world, pool, change, location) ? add_edge(world, pool, change) : MICAP_ROW_NONE;
        if (row == MICAP_ROW_NONE)
            return MICAP_ROW_NONE;
    } else if ((change->value || change->fields) && !replace_fields(world, pool, row, change)) {
        return MICAP_ROW_NONE;
    }
    if (MICAP_UNLIKELY(change->sets && pool->hook_mask & 1 << MICA_EVENT_SET))
        micap_pools_run_hook(world, MICA_EVENT_SET, pool, row, 1);
    return row;
}

bool micap_edge_unrelate(mica_world *world, mica_pool *pool, mica_entity source, mica_entity target)
{
    uint32_t row = micap_edge_between(pool, source, target);
    if (row == MICAP_ROW_NONE)
        return false;
    micap_pools_remove_instance(world, pool, row);
    return true;
}

mica_result micap_edge_place(mica_world *world, mica_pool *pool, const micap_edge_position *position,
                             mica_location location)
{
    bool is_last = mica_is_nil(position->before);
    uint32_t row = pool ? micap_edges_find(pool, position->source, position->target) : MICAP_ROW_NONE;
    uint32_t next = pool && !is_last ? micap_edges_find(pool, position->before, position->target) : MICAP_ROW_NONE;
    bool is_linked = row != MICAP_ROW_NONE && micap_edge_is_linked(pool, row);
    if (!is_linked || !pool->type->type.ordered || (next == MICAP_ROW_NONE && !is_last))
        return micap_fail(world, MICA_ERROR_INVALID, location,
                          "place_source: the relation must be .ordered, and both entities sources of the target");
    micap_edges_place(pool, row, next, micap_version(world));
    ++pool->stamp;
    return MICA_OK;
}

/* Recorded changes. The flush first makes room, when it can still be given up; edges change when entities have. */

typedef enum edge_note_kind {
    NOTE_RELATE,
    NOTE_UNRELATE,
    NOTE_PLACE,
} edge_note_kind;

static const char *const note_names[] = {"relate", "unrelate", "place_source"};

typedef struct edge_note {
    micap_note note;
    const micap_type *type;
    mica_entity source;
    mica_entity target;
    mica_entity before; /* of NOTE_PLACE */
    void *value;        /* of NOTE_RELATE: staged; NULL when it is in its edge */
    edge_note_kind kind;
    bool sets;
} edge_note;

static mica_result apply_note(mica_world *world, micap_note *note)
{
    const edge_note *edge = (const edge_note *)(void *)note;
    bool is_alive = mica_is_alive(world, edge->source);
    if (edge->kind != NOTE_RELATE)
        return is_alive ? MICA_OK : MICA_ERROR_DEAD; /* without a report: it has no edge that could stay or move */
    if (!is_alive || !mica_is_alive(world, edge->target))
        return micap_note_set_aside(world, note, is_alive ? edge->target : edge->source);
    mica_pool *pool = micap_relation_use(world, edge->type->id, "relate");
    if (!pool)
        return micap_failure(world);
    return micap_pools_make_room(world, pool, edge->source, ++pool->incoming) &&
                   micap_pools_make_room_for_target(world, pool, edge->target)
               ? MICA_OK
               : micap_fail_memory(world, pool->type->type.name);
}

static void undo_note(mica_world *world, micap_note *note)
{
    (void)world, (void)note; /* room that was made is no change */
}

static void relate_noted(mica_world *world, edge_note *edge)
{
    MICAP_ASSERT(edge->type, "an edge has a relation");
    mica_pool *pool = micap_pool_of(world, edge->type->id);
    MICAP_ASSERT(pool, "room was made for the edge");
    bool is_source = micap_is_row(micap_locate(world, edge->source));
    if (is_source && micap_is_row(micap_locate(world, edge->target))) {
        micap_edge_change change = {
            .source = edge->source, .target = edge->target, .value = edge->value, .sets = edge->sets};
        if (micap_edge_relate(world, pool, &change, edge->note.location) != MICAP_ROW_NONE)
            edge->value = NULL;
        else
            world->flush.refusal = micap_failure(world);
    } else if (is_source && pool->type->type.on_target == MICA_TARGET_DESTROY) {
        micap_destroy_with_dependents(world, edge->source); /* as if the edge had been added before */
    }
}

/* Without effect if the flush destroys one of the entities. */
static void place_noted(mica_world *world, mica_pool *pool, const edge_note *edge)
{
    bool is_whole = mica_is_alive(world, edge->source) && mica_is_alive(world, edge->target) &&
                    (mica_is_nil(edge->before) || mica_is_alive(world, edge->before));
    micap_edge_position position = {edge->source, edge->target, edge->before};
    mica_result result = is_whole ? micap_edge_place(world, pool, &position, edge->note.location) : MICA_OK;
    if (result != MICA_OK)
        world->flush.refusal = result;
}

static void after_note(mica_world *world, micap_note *note)
{
    edge_note *edge = (edge_note *)(void *)note;
    mica_pool *pool = edge->type ? micap_pool_of(world, edge->type->id) : NULL;
    if (edge->kind == NOTE_RELATE)
        relate_noted(world, edge);
    else if (edge->kind == NOTE_PLACE)
        place_noted(world, pool, edge);
    else if (pool)
        micap_edge_unrelate(world, pool, edge->source, edge->target);
}

static void drop_note(mica_world *world, micap_note *note)
{
    (void)world;
    const edge_note *edge = (const edge_note *)(void *)note;
    if (edge->value)
        micap_values_destruct(edge->type, edge->value, 1);
}

static const micap_note_ops note_ops = {.apply = apply_note, .undo = undo_note, .after = after_note, .drop = drop_note};

/* The sources of a target that was destroyed. */
typedef struct death_note {
    micap_note note;
    uint32_t count;
    mica_entity sources[];
} death_note;

static mica_result accept_deaths(mica_world *world, micap_note *note)
{
    (void)world, (void)note;
    return MICA_OK; /* those that are dead by then are left out */
}

static void destroy_sources(mica_world *world, micap_note *note)
{
    const death_note *deaths = (const death_note *)(void *)note;
    micap_destroy_list(world, deaths->sources, deaths->count);
}

static const micap_note_ops death_ops = {.apply = accept_deaths, .undo = undo_note, .after = destroy_sources};

void micap_edge_doom_sources(mica_world *world, const mica_pool *pool, uint32_t first)
{
    uint32_t count = pool->links[first].target_count;
    size_t bytes = sizeof(death_note) + count * sizeof(mica_entity);
    death_note *deaths =
        (death_note *)(void *)micap_commands_note(&world->deferred, &death_ops, bytes, (mica_location){0});
    for (uint32_t row = first; deaths && row != MICAP_ROW_NONE; row = pool->links[row].next)
        deaths->sources[deaths->count++] = pool->owners[row];
}

/* A note of an edge between entities that are alive as far as the buffer knows, and room for a value after it. */
static edge_note *record(mica_commands *commands, const micap_edge_change *ends, mica_component relation,
                         edge_note_kind kind, mica_location location)
{
    const char *what = note_names[kind];
    const micap_type *type = micap_type_of(relation);
    if (!type || !type->type.relation) {
        micap_fail(commands->world, MICA_ERROR_INVALID, location,
                   "%s: component %s is not a relation: describe it with MICA_RELATION", what,
                   type ? type->type.name : "without an id");
        return NULL;
    }
    if (type->type.parents)
        return micap_relation_rows(commands->world, relation, what), NULL;
    if (!micap_commands_expect_living(commands, ends->source, location, what) ||
        !micap_commands_expect_living(commands, ends->target, location, what))
        return NULL;
    if (mica_same(ends->source, ends->target)) {
        micap_fail(commands->world, MICA_ERROR_INVALID, location,
                   "%s%s%s: entity %u, %s: it can't be related to itself", commands->label ? commands->label : "",
                   commands->label ? ": " : "", what, ends->source.index, type->type.name);
        return NULL;
    }
    size_t room = kind == NOTE_RELATE ? type->type.size_bytes + type->type.alignment : 0;
    edge_note *edge = (edge_note *)(void *)micap_commands_note(commands, &note_ops, sizeof *edge + room, location);
    if (!edge)
        return NULL;
    edge->type = type;
    edge->kind = kind;
    edge->source = ends->source;
    edge->target = ends->target;
    return edge;
}

/* Fills the staged value: with the given fields, those of the edge, or the default. */
static bool stage_value(mica_commands *commands, const micap_edge_change *change, const micap_type *type, void *to)
{
    const mica_pool *pool = micap_pool_of(commands->world, type->id);
    uint32_t row = pool ? micap_edge_between(pool, change->source, change->target) : MICAP_ROW_NONE;
    bool fine;
    if (change->fields && type->trivial)
        fine = (memcpy(to, change->fields, change->fields_bytes), true);
    else if (change->fields)
        fine = copy_fields(commands->world, type, change, to);
    else if (row != MICAP_ROW_NONE)
        fine = micap_values_copy(type, to, micap_pool_value(pool, row), 1);
    else
        fine = micap_values_construct(type, to, 1);
    return fine || micap_fail_value(commands->world, type);
}

void *micap_edge_record(mica_commands *commands, const micap_edge_change *change, mica_component relation,
                        mica_location location)
{
    micap_note *last = commands->recording.last_note;
    edge_note *edge = record(commands, change, relation, NOTE_RELATE, location);
    if (!edge)
        return NULL;
    char *value = (char *)(edge + 1);
    value += micap_align_up((uintptr_t)value, edge->type->type.alignment) - (uintptr_t)value;
    if (!stage_value(commands, change, edge->type, value)) {
        micap_recording_forget_notes(&commands->recording, last);
        return NULL;
    }
    edge->value = value;
    edge->sets = change->sets;
    return value;
}

void *mica_command_relate_id(mica_commands *commands, mica_entity source, mica_component relation, mica_entity target,
                             mica_location location)
{
    if (MICAP_MISSING(NULL, commands))
        return NULL;
    micap_check_buffer(commands);
    micap_check_change(commands->world, source, location);
    return micap_edge_record(commands, &(micap_edge_change){.source = source, .target = target}, relation, location);
}

bool mica_command_unrelate_id(mica_commands *commands, mica_entity source, mica_component relation, mica_entity target,
                              mica_location location)
{
    if (MICAP_MISSING(NULL, commands))
        return false;
    micap_check_buffer(commands);
    micap_check_change(commands->world, source, location);
    return record(commands, &(micap_edge_change){.source = source, .target = target}, relation, NOTE_UNRELATE,
                  location);
}

mica_result micap_edge_record_place(mica_commands *commands, mica_component relation,
                                    const micap_edge_position *position, mica_location location)
{
    micap_edge_change ends = {.source = position->source, .target = position->target};
    const mica_entity entities[] = {position->source, position->target, position->before};
    for (uint32_t i = 0; i < (mica_is_nil(position->before) ? 2u : 3u); ++i)
        if (!micap_commands_expect_living(commands, entities[i], location, note_names[NOTE_PLACE]))
            return MICA_ERROR_DEAD;
    edge_note *edge = record(commands, &ends, relation, NOTE_PLACE, location);
    if (!edge)
        return micap_failure(commands->world);
    edge->before = position->before;
    return MICA_OK;
}
