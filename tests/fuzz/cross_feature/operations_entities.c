/* One entity and many: creation, values, names, references, singletons, batches. */
#include "program.h"

#include "mica/value.h"

#include <stdlib.h>
#include <string.h>

static void create(program *program, scene *scene)
{
    drawn_values drawn;
    if (is_full(scene))
        return;
    take_values(program, scene, &drawn);
    remember(scene, mica_create_id(scene->world, drawn.values, drawn.count));
    give_values_back(&drawn);
}

static void create_many(program *program, scene *scene)
{
    mica_entity entities[700];
    uint8_t size = take(program);
    uint32_t count = size == 255 ? 700 : size % 40;
    drawn_values drawn;
    take_values(program, scene, &drawn);
    for (uint32_t i = 0; i < drawn.count; ++i)
        drawn.values[i].size_bytes |= MICA_VALUE_FOR_ALL;
    bool is_made =
        !is_full(scene) && mica_create_many(scene->world, count, drawn.values, drawn.count, entities) == MICA_OK;
    for (uint32_t i = 0; is_made && i < count && i < 3; ++i)
        remember(scene, entities[i]);
    give_values_back(&drawn);
}

static void destroy(program *program, scene *scene)
{
    mica_destroy(scene->world, take_entity(program, scene));
}

static void destroy_many(program *program, scene *scene)
{
    mica_entity entities[4];
    for (uint32_t i = 0; i < 4; ++i)
        entities[i] = take_entity(program, scene);
    mica_destroy_many(scene->world, entities, 1 + take_below(program, 4));
}

static void add(program *program, scene *scene)
{
    mica_entity entity = take_entity(program, scene);
    sample_kind kind = take_kind(program, scene);
    void *value = mica_add_id(scene->world, entity, sample_id(kind));
    if (value && sample_is_whole(kind))
        samples[kind].assign(value, take(program));
}

static void set(program *program, scene *scene)
{
    sample_room room;
    mica_entity entity = take_entity(program, scene);
    sample_kind kind = take_kind(program, scene);
    mica_set_id(scene->world, entity, sample_value_begin(kind, take(program), &room));
    sample_value_end(kind, &room);
}

static void remove_component(program *program, scene *scene)
{
    mica_entity entity = take_entity(program, scene);
    mica_remove_id(scene->world, entity, sample_id(take_kind(program, scene)));
}

/* Gives an entity a component that others exclude, or takes it away. */
static void change_rival(program *program, scene *scene)
{
    const mica_component rivals[] = {MICA_ID(FuzzDay), MICA_ID(FuzzNight), MICA_ID(FuzzDusk), MICA_ID(FuzzDawn)};
    mica_component component = rivals[take_below(program, 4)];
    const mica_type *type = mica_component_type(component);
    const uint32_t hour = take(program);
    mica_entity entity = take_entity(program, scene);
    mica_value value = {component, type->size_bytes, type->size_bytes ? &hour : NULL};
    switch (take_below(program, 5)) {
    case 0: mica_add_id(scene->world, entity, component); break;
    case 1: mica_remove_id(scene->world, entity, component); break;
    case 2:
        if (!is_full(scene))
            remember(scene, mica_create_id(scene->world, &value, 1));
        break;
    default: mica_set_id(scene->world, entity, value); break;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < 3; ++i)
        count += mica_has_id(scene->world, entity, rivals[i]);
    EXPECT(program, count <= 1, "an entity has components that exclude each other");
}

static void write(program *program, scene *scene)
{
    mica_entity entity = take_entity(program, scene);
    sample_kind kind = take_kind_that(program, scene, sample_is_whole);
    void *value = mica_write_id(scene->world, entity, sample_id(kind));
    if (value)
        samples[kind].assign(value, take(program));
}

static void write_field(program *program, scene *scene)
{
    mica_entity entity = take_entity(program, scene);
    sample_kind kind = take_kind_that(program, scene, sample_is_split);
    if (kind == SAMPLE_COUNT)
        return;
    uint32_t *number = mica_write_field_id(scene->world, entity, sample_id(kind), sample_leaves[0].offset);
    if (number)
        *number = take(program);
}

static void toggle(program *program, scene *scene)
{
    mica_entity entity = take_entity(program, scene);
    sample_kind kind = take_kind(program, scene);
    mica_enable_id(scene->world, entity, sample_id(kind), take_one_in(program, 2));
}

static void clone(program *program, scene *scene)
{
    if (!is_full(scene))
        remember(scene, mica_clone(scene->world, take_entity(program, scene)));
}

static void read(program *program, scene *scene)
{
    mica_entity entity = take_entity(program, scene);
    sample_kind kind = take_kind(program, scene);
    mica_component component = sample_id(kind), all[SAMPLE_COUNT];
    const void *pointers[ENTITIES_KEPT];
    sample_room room;
    bool has = mica_has_id(scene->world, entity, component);
    EXPECT(program, !has || mica_is_alive(scene->world, entity), "a dead entity has a component");
    EXPECT(program, has || !mica_is_enabled_id(scene->world, entity, component), "what is not there is enabled");
    if (samples[kind].has_data)
        EXPECT(program, mica_get_value_id(scene->world, entity, component, room.bytes) == has,
               "a value is copied where there is none, or not where there is one");
    const void *value = sample_is_whole(kind) ? mica_get_id(scene->world, entity, component) : NULL;
    EXPECT(program, !sample_is_whole(kind) || (value != NULL) == has, "has and get disagree");
    mica_get_components(scene->world, entity, all, SAMPLE_COUNT);
    if (sample_is_whole(kind))
        mica_get_many_id(scene->world, scene->entities, ENTITIES_KEPT, component, pointers);
}

static const char *take_name(program *program)
{
    static const char *names[] = {"a", "b", "c", "station", "", "x/y", NULL};
    return names[take_below(program, 7)];
}

static void name(program *program, scene *scene)
{
    mica_entity entity = take_entity(program, scene);
    mica_entity scope = take_one_in(program, 2) ? take_entity(program, scene) : mica_nil();
    mica_name_set(scene->world, entity, scope, take_name(program));
}

static void find(program *program, scene *scene)
{
    char path[64];
    mica_entity entity = take_entity(program, scene);
    mica_name_get(scene->world, entity);
    mica_name_get_scope(scene->world, entity);
    if (mica_path_get(scene->world, entity, path, sizeof path) > 0 && strlen(path) < sizeof path - 1)
        EXPECT(program, mica_same(mica_find(scene->world, path), entity), "a path leads to another entity");
    mica_find_from(scene->world, entity, "a/b");
}

static void write_singleton(program *program, scene *scene)
{
    SampleClock *clock = mica_singleton_write(scene->world, SampleClock);
    if (clock)
        clock->number = take(program);
}

static void read_singleton(program *program, scene *scene)
{
    (void)program;
    if (mica_singleton_is_used(scene->world, MICA_ID(SampleClock)))
        mica_singleton_get(scene->world, SampleClock);
}

static void use_reference(program *program, scene *scene)
{
    mica_ref *reference = &scene->references[take_below(program, REFERENCES)];
    uint8_t what = take(program) % 4;
    if (what == 0) {
        sample_kind kind = take_kind_that(program, scene, sample_is_whole);
        *reference = mica_ref_of_id(take_entity(program, scene), sample_id(kind));
    } else if (what == 1 && reference->component) {
        mica_ref_write_id(scene->world, reference);
    } else if (reference->component) {
        const void *value = mica_ref_read_id(scene->world, reference);
        const void *direct = mica_get_id(scene->world, reference->entity, reference->component);
        EXPECT(program, STOPS_AT_MISTAKES_HERE || value == direct, "a reference finds another value than mica_get");
    }
}

/* Creation in steps; what the body does meanwhile is recorded. */
/* One entity becomes like another, by way of text. Values that own something else than text have more than their fields say. */
static void describe(program *program, scene *scene)
{
    mica_entity from = take_entity(program, scene), to = take_entity(program, scene);
    for (sample_kind kind = 0; kind < SAMPLE_COUNT; ++kind)
        if (samples[kind].owns && (mica_has_id(scene->world, from, sample_id(kind))))
            return;
    size_t length = mica_entity_write_json(scene->world, from, NULL, 0);
    char *text = malloc(length + 1);
    if (!text)
        return;
    mica_entity_write_json(scene->world, from, text, length + 1);
    char *name = strncmp(text, "{\"name\": ", 9) == 0 ? strchr(text + 10, ',') : NULL;
    if (name && take(program) % 2) /* the name is taken, unless both are one */
        *text = ' ', *name = '{';
    mica_entity_parse_json(scene->world, to, name && *name == '{' ? name : text, NULL);
    free(text);
}

static void batch(program *program, scene *scene)
{
    mica_value columns[2];
    mica_batch_group groups[2];
    mica_entity entities[64];
    for (uint32_t i = 0; i < 2; ++i) {
        columns[i] = (mica_value){sample_id(take_kind(program, scene)), 0, NULL};
        groups[i] = (mica_batch_group){1 + take_below(program, 20), 1, &columns[i], 0};
    }
    reaction *meanwhile = take_reaction(program, scene);
    mica_batch *batch = NULL;
    if (is_full(scene) || !meanwhile || mica_batch_begin(scene->world, groups, 2, &batch) != MICA_OK)
        return;
    mica_batch_entities(batch, entities);
    run_body(meanwhile, BODY_BATCH, entities, groups[0].count + groups[1].count);
    for (mica_batch_run run = {.component = columns[0].component}; mica_batch_next(batch, &run);)
        EXPECT(program, run.count > 0, "an empty run of a batch");
    if (take_one_in(program, 3)) {
        mica_batch_cancel(batch);
    } else {
        mica_batch_commit(batch, NULL, 0);
        remember(scene, entities[0]);
        remember(scene, entities[groups[0].count]);
    }
}

const operation entity_operations[] = {
    {"create", create, IN_BODY | AS_INPUT},
    {"create_many", create_many, IN_BODY | AS_INPUT | SLOW},
    {"destroy", destroy, IN_BODY | AS_INPUT},
    {"destroy_many", destroy_many, IN_BODY | AS_INPUT},
    {"add", add, IN_BODY | AS_INPUT},
    {"set", set, IN_BODY | AS_INPUT},
    {"remove", remove_component, IN_BODY | AS_INPUT},
    {"change_rival", change_rival, IN_BODY | AS_INPUT},
    {"write", write, IN_BODY | AS_INPUT},
    {"write_field", write_field, IN_BODY | AS_INPUT},
    {"toggle", toggle, IN_BODY | AS_INPUT},
    {"clone", clone, IN_BODY | AS_INPUT},
    {"read", read, IN_BODY | READS},
    {"name", name, IN_BODY | AS_INPUT},
    {"find", find, IN_BODY | READS},
    {"write_singleton", write_singleton, IN_BODY | AS_INPUT},
    {"read_singleton", read_singleton, IN_BODY | READS},
    {"use_reference", use_reference, IN_BODY},
    {"batch", batch, SLOW},
    {"describe", describe, SLOW},
};
OPERATIONS(entity)
