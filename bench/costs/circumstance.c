#include "costs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPONENTS = 2, BYTES = 12 };

#define COMPONENT_ROW(count) {.name = "components_" #count, .components = count, .bytes = BYTES}
#define BYTE_ROW(count) {.name = "bytes_" #count, .components = COMPONENTS, .bytes = count}
#define EXTRA_ROWS(what, extra_)                                                                                       \
    {.name = what "_elsewhere", .components = COMPONENTS, .bytes = BYTES, .extra = extra_},                            \
        {.name = what "_here", .components = COMPONENTS, .bytes = BYTES, .extra = extra_, .here = true}

const circumstance circumstances[] = {
    COMPONENT_ROW(1),
    COMPONENT_ROW(2),
    COMPONENT_ROW(4),
    COMPONENT_ROW(8),
    COMPONENT_ROW(16),
    COMPONENT_ROW(32),
    BYTE_ROW(1),
    BYTE_ROW(2),
    BYTE_ROW(3),
    BYTE_ROW(4),
    BYTE_ROW(8),
    BYTE_ROW(12),
    BYTE_ROW(16),
    BYTE_ROW(20),
    BYTE_ROW(32),
    BYTE_ROW(64),
    BYTE_ROW(200),
    {.name = "tags", .components = COMPONENTS, .kind = KIND_TAG},
    {.name = "destructors", .components = COMPONENTS, .bytes = BYTES, .kind = KIND_OWNER},
    EXTRA_ROWS("name", EXTRA_NAME),
    EXTRA_ROWS("link", EXTRA_LINK),
    EXTRA_ROWS("hook", EXTRA_HOOK),
    {.name = "hook_beside", .components = COMPONENTS, .bytes = BYTES, .extra = EXTRA_HOOK, .beside = true},
    EXTRA_ROWS("observer", EXTRA_OBSERVER),
    EXTRA_ROWS("snapshot", EXTRA_SNAPSHOT),
    {.name = "pool_map", .components = COMPONENTS, .bytes = BYTES, .kind = KIND_MAP},
    {.name = "pool_direct", .components = COMPONENTS, .bytes = BYTES, .kind = KIND_DIRECT},
    {.name = "pool_hash", .components = COMPONENTS, .bytes = BYTES, .kind = KIND_HASH},
    {.name = "pool_tags", .components = COMPONENTS, .kind = KIND_POOL_TAG},
    {.name = "pool_group", .components = COMPONENTS, .bytes = BYTES, .kind = KIND_MAP, .group = COMPONENTS},
    {.name = "pool_subset", .components = COMPONENTS, .bytes = BYTES, .kind = KIND_MAP, .group = COMPONENTS + 1},
    {.name = "archetypes_26", .components = COMPONENTS, .bytes = BYTES, .archetypes = 26},
    {.name = "archetypes_1024", .components = COMPONENTS, .bytes = BYTES, .archetypes = 1024},
    {.name = "any_order", .components = COMPONENTS, .bytes = BYTES, .shuffled = true},
    {0},
};

static void destruct(void *values, uint32_t count, void *context)
{
    (void)values, (void)count, (void)context;
}

/* Defines a component of a kind: an array of bytes, aligned as its size suggests. */
static mica_component define(mica_world *world, kind kind, uint32_t bytes, const char *name)
{
    static const mica_storage storages[] = {
        [KIND_CHUNK] = MICA_STORAGE_CHUNK,  [KIND_TAG] = MICA_STORAGE_TAG,     [KIND_OWNER] = MICA_STORAGE_CHUNK,
        [KIND_MAP] = MICA_STORAGE_POOL,     [KIND_DIRECT] = MICA_STORAGE_POOL, [KIND_HASH] = MICA_STORAGE_POOL,
        [KIND_POOL_TAG] = MICA_STORAGE_POOL};
    const uint32_t low_bit = bytes & (~bytes + 1);
    const mica_field field = {.name = "bytes", .element_bytes = 1, .count = bytes, .kind = MICA_KIND_U8};
    const mica_type type = {.name = name,
                            .fields = &field,
                            .field_count = bytes != 0,
                            .size_bytes = bytes,
                            .alignment = bytes == 0    ? 0
                                         : low_bit > 8 ? 8
                                                       : low_bit,
                            .kind = MICA_KIND_STRUCT,
                            .storage = storages[kind],
                            .index = kind == KIND_DIRECT ? MICA_INDEX_DIRECT
                                     : kind == KIND_HASH ? MICA_INDEX_HASH
                                                         : MICA_INDEX_MAP,
                            .destruct = kind == KIND_OWNER ? destruct : NULL};
    mica_component component = mica_component_define(world, &type);
    if (component == 0)
        abort();
    return component;
}

static void define_components(stage *stage)
{
    const circumstance *circumstance = stage->circumstance;
    char name[64];
    for (uint32_t i = 0; i <= circumstance->components; ++i) {
        snprintf(name, sizeof name, "component_%d_%u_%u", circumstance->kind, circumstance->bytes, i);
        stage->components[i] = define(stage->world, circumstance->kind, circumstance->bytes, name);
    }
    stage->type = (mica_type *)(uintptr_t)mica_component_type(stage->components[0]); /* nothing is written to it */
    for (uint32_t i = 0; i < circumstance->components; ++i)
        stage->values[i] = (mica_value){stage->components[i], circumstance->bytes,
                                        circumstance->bytes == 0 ? NULL : stage->data + (size_t)i * BYTES_MAX};
    for (uint32_t i = 0; i < circumstance->archetypes; ++i) {
        snprintf(name, sizeof name, "tag_%u", i);
        stage->tags[i] = define(stage->world, KIND_TAG, 0, name);
    }
    stage->value_count = circumstance->components + (circumstance->archetypes != 0);
    if (circumstance->group != 0 && mica_group_id(stage->world, stage->components, circumstance->group) != MICA_OK)
        abort();
}

const mica_value *values_of_archetype(stage *stage, uint32_t archetype)
{
    if (stage->circumstance->archetypes != 0)
        stage->values[stage->value_count - 1] = (mica_value){stage->tags[archetype], 0, NULL};
    return stage->values;
}

static void on_event(const mica_event *event)
{
    *(uint64_t *)event->context += event->count;
}

/* Listens to everything that happens to a component. */
static void listen(stage *stage, mica_component component)
{
    static const mica_event_kind kinds[] = {MICA_EVENT_ADD, MICA_EVENT_SET, MICA_EVENT_REMOVE};
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        if (stage->circumstance->extra == EXTRA_HOOK)
            mica_hook_set_id(stage->world, component, kinds[i], on_event, &stage->result);
        else
            mica_observer_add(stage->world, &(mica_observer_def){.event = kinds[i],
                                                                 .component = component,
                                                                 .fn = on_event,
                                                                 .context = &stage->result});
    }
}

void stage_begin(stage *stage, const circumstance *circumstance)
{
    memset(stage, 0, sizeof *stage);
    stage->circumstance = circumstance;
    stage->archetype_count = circumstance->archetypes == 0 ? 1 : circumstance->archetypes;
    stage->entity_count = (ENTITIES_MIN + stage->archetype_count - 1) / stage->archetype_count * stage->archetype_count;
    stage->world = mica_world_create(NULL);
    if (stage->world == NULL)
        abort();
    define_components(stage);
    mica_component other = define(stage->world, KIND_CHUNK, BYTES, "other");
    mica_entity first = mica_create_id(stage->world, &(mica_value){other, 0, NULL}, 1);
    mica_entity second = mica_create_id(stage->world, &(mica_value){other, 0, NULL}, 1);
    stage->parent = first;
    if (circumstance->extra == EXTRA_NAME)
        mica_name_set(stage->world, first, (mica_entity){0}, "first");
    if (circumstance->extra == EXTRA_LINK)
        mica_set_parent(stage->world, second, first);
    if (circumstance->extra == EXTRA_SNAPSHOT && !circumstance->here)
        mica_snapshot_take(stage->world);
    if (circumstance->extra == EXTRA_HOOK || circumstance->extra == EXTRA_OBSERVER) {
        listen(stage, circumstance->here ? stage->components[0] : circumstance->beside ? stage->components[1] : other);
        if (circumstance->here)
            listen(stage, stage->components[circumstance->components]);
    }
}

static void shuffle(mica_entity *entities, uint32_t count)
{
    uint32_t state = 1;
    for (uint32_t left = count; left > 1; --left) {
        state = state * 1664525 + 1013904223;
        uint32_t chosen = (state >> 8) % left;
        mica_entity last = entities[left - 1];
        entities[left - 1] = entities[chosen];
        entities[chosen] = last;
    }
}

void stage_populate(stage *stage)
{
    for (uint32_t i = 0; i < stage->entity_count; ++i) {
        const mica_value *values = values_of_archetype(stage, i % stage->archetype_count);
        mica_entity entity = mica_create_id(stage->world, values, stage->value_count);
        char name[16];
        snprintf(name, sizeof name, "%u", i);
        if (stage->circumstance->extra == EXTRA_NAME && stage->circumstance->here)
            mica_name_set(stage->world, entity, (mica_entity){0}, name);
        if (stage->circumstance->extra == EXTRA_LINK && stage->circumstance->here)
            mica_set_parent(stage->world, entity, stage->parent);
        stage->entities[i] = entity;
    }
    if (stage->circumstance->shuffled)
        shuffle(stage->entities, stage->entity_count);
}

void stage_ready(stage *stage)
{
    if (stage->circumstance->extra == EXTRA_SNAPSHOT && stage->circumstance->here)
        mica_snapshot_take(stage->world);
}

void stage_end(stage *stage)
{
    if (mica_world_take_error(stage->world) != MICA_OK)
        abort();
    mica_world_destroy(stage->world);
#ifdef BENCH_RESOURCE
    mica_resource_free(stage->resource);
    mica_blob_free(&stage->blob);
#endif
}
