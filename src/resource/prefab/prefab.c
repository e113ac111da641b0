#include "resource/prefab/prefab.h"

#include "base/argument.h"
#include "mica/batch.h"
#include "mica/bulk.h"
#include "mica/hierarchy.h"
#include "mica/name.h"

#include <string.h>

static const mica_prefab_def defaults = {0};

bool mica_prefab_define(mica_world *world)
{
    return !MICAP_MISSING(NULL, world) && mica_define(world, mica_prefab) && mica_define(world, mica_prefab_hidden) &&
           mica_define(world, mica_instance_of);
}

mica_component mica_prefab_relation(void)
{
    return MICA_ID(mica_instance_of);
}

mica_result micap_prefab_check_open(mica_world *world)
{
    mica_batch *nothing; /* which is refused while changes are recorded */
    mica_result result = mica_batch_begin(world, NULL, 0, &nothing);
    if (result == MICA_OK)
        mica_batch_cancel(nothing);
    return result;
}

/* The parts, by number. False if memory is short. */
static bool collect_parts(micap_prefab_state *state, mica_entity root)
{
    uint32_t capacity = 0;
    for (mica_entity at = root; !mica_is_nil(at); at = mica_tree_next(state->world, root, at))
        ++capacity;
    state->parts = micap_allocate(&state->memory, capacity * sizeof *state->parts, MICAP_ARRAY_ALIGNMENT);
    if (!state->parts)
        return false;
    for (mica_entity at = root; !mica_is_nil(at); at = mica_tree_next(state->world, root, at))
        state->parts[state->part_count++] = at;
    return true;
}

mica_result micap_prefab_read(micap_prefab_state *state, mica_world *world, mica_entity root,
                              const mica_prefab_def *def)
{
    *state = (micap_prefab_state){.world = world, .def = def};
    if (!micap_memory_init(&state->memory, def->allocator) || !collect_parts(state, root))
        return mica_world_report(world, MICA_ERROR_MEMORY, "prefab: out of memory");
    /* The bytes are a value of the world, and values have the same hash on every machine: the byte order is fixed. */
    const mica_component skipped[] = {MICA_ID(mica_prefab), MICA_ID(mica_prefab_hidden), MICA_ID(mica_instance_of)};
    return mica_pack(world,
                     &(mica_save_def){.allocator = def->allocator,
                                      .entities = state->parts,
                                      .entity_count = state->part_count,
                                      .rules = def->rules,
                                      .rule_count = def->rule_count,
                                      .skipped = skipped,
                                      .skipped_count = sizeof skipped / sizeof *skipped,
                                      .skip_singletons = true,
                                      .skip_without_rule = def->skip_without_rule,
                                      .byte_order = MICA_BYTE_ORDER_LITTLE},
                     &state->blob);
}

void micap_prefab_free(micap_prefab_state *state)
{
    mica_blob_free(&state->blob);
    micap_release(&state->memory, state->parts, state->part_count * sizeof *state->parts, MICAP_ARRAY_ALIGNMENT);
}

void micap_prefab_clear_value(mica_prefab *value)
{
    mica_list_clear(&value->bytes, uint8_t);
    mica_list_clear(&value->parts, mica_entity);
}

bool micap_prefab_make_value(const micap_prefab_state *state, mica_prefab *out)
{
    *out = (mica_prefab){0};
    bool fits = state->blob.byte_count <= MICA_LIST_COUNT_MAX;
    if (fits &&
        mica_list_assign(&out->bytes, uint8_t, state->blob.bytes, (uint32_t)state->blob.byte_count) == MICA_OK &&
        mica_list_assign(&out->parts, mica_entity, state->parts, state->part_count) == MICA_OK)
        return true;
    mica_world_report(state->world, fits ? MICA_ERROR_MEMORY : MICA_ERROR_LIMIT,
                      fits ? "prefab: out of memory" : "prefab: it has more bytes than a list");
    return false;
}

bool micap_prefab_hide(const micap_prefab_state *state)
{
    mica_component hidden = MICA_ID(mica_prefab_hidden);
    uint32_t count = 0, first_shown = state->part_count;
    for (; count < state->part_count; ++count) {
        if (mica_has_id(state->world, state->parts[count], hidden))
            continue;
        if (!mica_add_id(state->world, state->parts[count], hidden))
            break;
        first_shown = first_shown == state->part_count ? count : first_shown;
    }
    bool done = count == state->part_count;
    for (uint32_t i = first_shown; !done && i < count; ++i)
        mica_remove_id(state->world, state->parts[i], hidden);
    return done;
}

mica_resource *micap_prefab_open(mica_world *world, const mica_prefab *value, const mica_prefab_def *def)
{
    mica_resource_error error;
    mica_resource_def how = {.allocator = def->allocator, .any_byte_order = true};
    mica_resource *resource =
        mica_resource_open(mica_list_items(&value->bytes, uint8_t), mica_list_count(&value->bytes), &how, &error);
    if (resource && mica_resource_entity_count(resource) == mica_list_count(&value->parts))
        return resource;
    mica_world_report(world, resource ? MICA_ERROR_DATA : error.result,
                      resource ? "prefab: its file and its parts do not agree" : error.text);
    mica_resource_free(resource);
    return NULL;
}

bool micap_prefab_copy_value(const mica_world *world, mica_entity prefab, mica_prefab *out)
{
    const mica_prefab *value = mica_get(world, prefab, mica_prefab);
    *out = (mica_prefab){0};
    return mica_list_copy(&out->bytes, uint8_t, &value->bytes) == MICA_OK &&
           mica_list_copy(&out->parts, mica_entity, &value->parts) == MICA_OK;
}

const mica_instance_of *micap_prefab_edge(const mica_world *world, mica_entity entity, mica_entity *out_part)
{
    mica_edges at = mica_targets(world, entity, mica_instance_of);
    if (!mica_edge_next(&at))
        return NULL;
    *out_part = at.entity;
    return at.fields;
}

static mica_result create(micap_prefab_state *state, mica_entity root)
{
    mica_prefab value;
    mica_result result = MICA_ERROR_MEMORY;
    if (micap_prefab_make_value(state, &value) && micap_prefab_hide(state)) {
        if (mica_set_id(state->world, root, (mica_value){MICA_ID(mica_prefab), sizeof value, &value}))
            result = MICA_OK;
        for (uint32_t i = 0; result != MICA_OK && i < state->part_count; ++i)
            mica_remove_id(state->world, state->parts[i], MICA_ID(mica_prefab_hidden));
    }
    micap_prefab_clear_value(&value);
    return result;
}

mica_result mica_prefab_create(mica_world *world, mica_entity root, const mica_prefab_def *def)
{
    def = def ? def : &defaults;
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, def->rules, def->rule_count))
        return MICA_ERROR_INVALID;
    if (!mica_is_alive(world, root))
        return mica_world_report(world, MICA_ERROR_DEAD, "prefab: the entity is not alive");
    mica_result result = micap_prefab_check_open(world);
    if (result != MICA_OK)
        return result;
    if (!mica_prefab_define(world))
        return MICA_ERROR_MEMORY;
    if (mica_has_id(world, root, MICA_ID(mica_prefab)))
        return mica_world_report(world, MICA_ERROR_EXISTS, "prefab: the entity is a prefab already");
    micap_prefab_state state;
    result = micap_prefab_read(&state, world, root, def);
    if (result == MICA_OK)
        result = create(&state, root);
    micap_prefab_free(&state);
    return result;
}

/* Instances that are being made. */
typedef struct spawning {
    mica_world *world;
    const mica_prefab_spawn_def *def;
    mica_resource *resource;
    const mica_entity *parts; /* of the prefab */
    uint32_t part_count;
    mica_entity *entities; /* of all instances, in the order of the resource */
    uint32_t count;        /* instances */
} spawning;

static mica_entity entity_of(const spawning *work, uint32_t instance, uint32_t part)
{
    return work->entities[(size_t)instance * work->part_count + mica_resource_entity_in_order(work->resource, part)];
}

/* Hooks may have destroyed some. */
static bool relate_all(const spawning *work)
{
    for (uint32_t i = 0; i < work->count; ++i)
        for (uint32_t part = 0; part < work->part_count; ++part) {
            mica_entity entity = entity_of(work, i, part);
            if (mica_is_alive(work->world, entity) &&
                !mica_relate_with(work->world, entity, mica_instance_of, work->parts[part],
                                  {.part = part, .follows = !work->def->is_copy}))
                return false;
        }
    return true;
}

static mica_entity finish(const spawning *work)
{
    if (!relate_all(work)) {
        mica_destroy_many(work->world, work->entities, work->count * work->part_count);
        return mica_nil();
    }
    for (uint32_t i = 0; i < work->count; ++i) {
        mica_entity root = entity_of(work, i, 0);
        if (mica_is_alive(work->world, root))
            mica_name_set(work->world, root, mica_nil(), NULL);
        if (work->def->out_entities)
            work->def->out_entities[i] = root;
    }
    return entity_of(work, 0, 0);
}

static mica_entity spawn(spawning *work)
{
    const mica_prefab_def *values = &work->def->values;
    micap_memory memory;
    mica_entity first = mica_nil();
    uint64_t count = (uint64_t)work->count * work->part_count;
    micap_memory_init(&memory, values->allocator);
    work->entities =
        count <= UINT32_MAX ? micap_allocate(&memory, count * sizeof *work->entities, MICAP_ARRAY_ALIGNMENT) : NULL;
    if (!work->entities)
        return mica_world_report(work->world, MICA_ERROR_MEMORY, "prefab: out of memory"), first;
    mica_spawn_def def = {.rules = values->rules,
                          .rule_count = values->rule_count,
                          .skip_without_rule = values->skip_without_rule,
                          .skip_singletons = true,
                          .names = MICA_SPAWN_NAMES_FREE,
                          .parent = work->def->parent,
                          .copies = work->count,
                          .out_entities = work->entities,
                          .out_capacity = (uint32_t)count};
    if (mica_spawn(work->world, work->resource, &def) == MICA_OK)
        first = finish(work);
    micap_release(&memory, work->entities, count * sizeof *work->entities, MICAP_ARRAY_ALIGNMENT);
    return first;
}

/* What is wrong with making instances, or NULL. */
static const char *problem_of(const mica_world *world, mica_entity prefab, const mica_prefab *value,
                              const mica_prefab_spawn_def *def)
{
    if (!value)
        return "prefab: the entity is no prefab";
    if (!mica_is_nil(def->parent) && (mica_same(def->parent, prefab) || mica_is_ancestor(world, prefab, def->parent)))
        return "prefab: an instance can't be a part of its own prefab";
    const mica_entity *parts = mica_list_items(&value->parts, mica_entity);
    for (uint32_t i = 0; i < mica_list_count(&value->parts); ++i)
        if (!mica_is_alive(world, parts[i]))
            return "prefab: parts were destroyed: call mica_prefab_update first";
    return NULL;
}

mica_entity mica_prefab_spawn(mica_world *world, mica_entity prefab, const mica_prefab_spawn_def *def)
{
    static const mica_prefab_spawn_def default_spawn = {0};
    def = def ? def : &default_spawn;
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, def->values.rules, def->values.rule_count))
        return mica_nil();
    const mica_prefab *value = mica_get(world, prefab, mica_prefab);
    const char *problem = problem_of(world, prefab, value, def);
    if (problem)
        return mica_world_report(world, MICA_ERROR_INVALID, problem), mica_nil();
    mica_prefab kept; /* hooks may change the prefab */
    bool is_kept = micap_prefab_copy_value(world, prefab, &kept);
    spawning work = {.world = world,
                     .def = def,
                     .resource = is_kept ? micap_prefab_open(world, &kept, &def->values) : NULL,
                     .parts = mica_list_items(&kept.parts, mica_entity),
                     .part_count = mica_list_count(&kept.parts),
                     .count = def->count ? def->count : 1};
    mica_entity first = work.resource ? spawn(&work) : mica_nil();
    mica_resource_free(work.resource);
    micap_prefab_clear_value(&kept);
    return first;
}

mica_entity mica_prefab_of(const mica_world *world, mica_entity entity)
{
    if (MICAP_MISSING(NULL, world))
        return mica_nil();
    mica_entity part = mica_target(world, entity, mica_instance_of);
    return mica_is_alive(world, part) ? part : mica_nil();
}

/* The child of an instance, or of a part of one, that was made from a part. */
static mica_entity child_of_part(const mica_world *world, mica_entity parent, mica_entity part)
{
    mica_entity child = mica_first_child(world, parent);
    while (!mica_is_nil(child) && !mica_same(mica_target(world, child, mica_instance_of), part))
        child = mica_next_sibling(world, child);
    return child;
}

mica_entity mica_prefab_part(const mica_world *world, mica_entity instance, const char *path)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, path))
        return mica_nil();
    mica_entity part = mica_prefab_of(world, instance);
    for (const char *at = path; *at && !mica_is_nil(part) && !mica_is_nil(instance);) {
        size_t length = strcspn(at, "/");
        mica_entity child = mica_first_child(world, part);
        while (!mica_is_nil(child)) {
            const char *name = mica_name_get(world, child);
            if (name && strncmp(name, at, length) == 0 && !name[length])
                break;
            child = mica_next_sibling(world, child);
        }
        part = child;
        instance = mica_is_nil(part) ? mica_nil() : child_of_part(world, instance, part);
        at += length + (at[length] == '/');
    }
    return mica_is_nil(part) ? mica_nil() : instance;
}
