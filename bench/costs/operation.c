#include "costs.h"

#include <stdlib.h>

enum { LOOPS = 8, SYSTEMS = 8, FRAMES = 16 };

static mica_component added(const stage *stage)
{
    return stage->components[stage->circumstance->components];
}

static mica_value added_value(stage *stage)
{
    uint32_t bytes = stage->circumstance->bytes;
    return (mica_value){added(stage), bytes, bytes == 0 ? NULL : stage->data};
}

/* The changes: immediate, recorded and in bulk. */

static void create(stage *stage)
{
    for (uint32_t i = 0; i < stage->entity_count; ++i)
        stage->entities[i] =
            mica_create_id(stage->world, values_of_archetype(stage, i % stage->archetype_count), stage->value_count);
}

static void destroy(stage *stage)
{
    for (uint32_t i = 0; i < stage->entity_count; ++i)
        mica_destroy(stage->world, stage->entities[i]);
}

static void add(stage *stage)
{
    mica_component component = added(stage);
    for (uint32_t i = 0; i < stage->entity_count; ++i)
        mica_add_id(stage->world, stage->entities[i], component);
}

static void remove_added(stage *stage)
{
    mica_component component = added(stage);
    for (uint32_t i = 0; i < stage->entity_count; ++i)
        mica_remove_id(stage->world, stage->entities[i], component);
}

static void set_adds(stage *stage)
{
    mica_value value = added_value(stage);
    for (uint32_t i = 0; i < stage->entity_count; ++i)
        mica_set_id(stage->world, stage->entities[i], value);
}

static void set(stage *stage)
{
    for (uint32_t i = 0; i < stage->entity_count; ++i)
        mica_set_id(stage->world, stage->entities[i], stage->values[0]);
}

/* Two changes of each entity: what operations add replaces the first component. */
static void mixed(stage *stage)
{
    mica_component component = added(stage);
    for (uint32_t i = 0; i < stage->entity_count; ++i) {
        mica_add_id(stage->world, stage->entities[i], component);
        mica_remove_id(stage->world, stage->entities[i], stage->components[0]);
    }
}

static void recorded(stage *stage, void (*changes)(struct stage *))
{
    mica_defer(stage->world);
    changes(stage);
    mica_flush(stage->world);
}

static void create_recorded(stage *stage)
{
    recorded(stage, create);
}

static void destroy_recorded(stage *stage)
{
    recorded(stage, destroy);
}

static void add_recorded(stage *stage)
{
    recorded(stage, add);
}

static void remove_recorded(stage *stage)
{
    recorded(stage, remove_added);
}

static void set_adds_recorded(stage *stage)
{
    recorded(stage, set_adds);
}

static void mixed_recorded(stage *stage)
{
    recorded(stage, mixed);
}

static void set_recorded(stage *stage)
{
    recorded(stage, set);
}

static void flush(stage *stage)
{
    for (uint32_t i = 0; i < stage->entity_count; ++i) {
        mica_defer(stage->world);
        mica_set_id(stage->world, stage->entities[i], stage->values[0]);
        mica_flush(stage->world);
    }
}

static void create_bulk(stage *stage)
{
    mica_value columns[COMPONENTS_MAX + 1];
    uint32_t count = stage->entity_count / stage->archetype_count;
    for (uint32_t archetype = 0; archetype < stage->archetype_count; ++archetype) {
        const mica_value *values = values_of_archetype(stage, archetype);
        for (uint32_t i = 0; i < stage->value_count; ++i) {
            columns[i] = values[i];
            if (columns[i].data != NULL)
                columns[i].data = stage->data;
        }
        mica_create_many(stage->world, count, columns, stage->value_count, stage->entities + (size_t)archetype * count);
    }
}

static void destroy_bulk(stage *stage)
{
    mica_destroy_many(stage->world, stage->entities, stage->entity_count);
}

static void add_bulk(stage *stage)
{
    mica_add_all_id(stage->query, (mica_value){added(stage), 0, NULL});
}

static void remove_bulk(stage *stage)
{
    mica_remove_all_id(stage->query, added(stage));
}

/* Access: what the macros call for a described component. */

static void get(stage *stage)
{
    for (uint32_t i = 0; i < stage->entity_count; ++i)
        stage->result += mica_lookup_get(stage->world, stage->entities[i], stage->type) != NULL;
}

static void get_bulk(stage *stage)
{
    mica_get_many_id(stage->world, stage->entities, stage->entity_count, stage->components[0], stage->found);
}

static void has(stage *stage)
{
    for (uint32_t i = 0; i < stage->entity_count; ++i)
        stage->result += mica_lookup_has(stage->world, stage->entities[i], stage->type);
}

static void ref(stage *stage)
{
    for (uint32_t i = 0; i < stage->entity_count; ++i)
        stage->result += mica_lookup_ref_read(stage->world, &stage->refs[i]) != NULL;
}

static void write_column(unsigned char *column, uint32_t count, uint32_t bytes)
{
    if (column != NULL)
        for (uint32_t i = 0; i < count; ++i)
            ++column[(size_t)i * bytes];
}

static void iterate(stage *stage)
{
    for (uint32_t loop = 0; loop < LOOPS; ++loop)
        for (mica_view view = mica_query_begin(stage->query); mica_view_next(&view);)
            write_column(stage->circumstance->bytes == 0 ? NULL : mica_view_write_at(&view, 0), view.count,
                         stage->circumstance->bytes);
}

static void run_system(mica_view *view)
{
    view->world = view->world; /* the system itself does nothing */
}

static void run_columns(uint32_t count, void *const *columns)
{
    (void)count, (void)columns;
}

static void step(stage *stage)
{
    for (uint32_t i = 0; i < FRAMES; ++i)
        mica_step(stage->world, 0.01F);
}

/* Copies. */

static void clone(stage *stage)
{
    for (uint32_t i = 0; i < stage->entity_count; ++i)
        stage->copies[i] = mica_clone(stage->world, stage->entities[i]);
}

#ifdef BENCH_RESOURCE
static void spawn(stage *stage)
{
    for (uint32_t i = 0; i < stage->entity_count; ++i)
        mica_spawn(stage->world, stage->resource,
                   &(mica_spawn_def){.out_entities = &stage->copies[i],
                                     .out_capacity = 1,
                                     .rules = stage->rules,
                                     .rule_count = stage->rule_count});
}

static void spawn_bulk(stage *stage)
{
    mica_spawn(stage->world, stage->resource,
               &(mica_spawn_def){.copies = stage->entity_count,
                                 .out_entities = stage->copies,
                                 .out_capacity = stage->entity_count,
                                 .rules = stage->rules,
                                 .rule_count = stage->rule_count});
}
#endif

/* Preparations: everything was done once before, so that archetypes and memory exist. */

static void prepare_room(stage *stage)
{
    create(stage);
    destroy(stage);
}

static void prepare_entities(stage *stage)
{
    stage_populate(stage);
    for (uint32_t i = 0; i < stage->entity_count; ++i)
        stage->refs[i] = mica_ref_of_id(stage->entities[i], stage->components[0]);
    ref(stage);
}

static void prepare_query(stage *stage)
{
    mica_term terms[COMPONENTS_MAX];
    for (uint32_t i = 0; i < stage->circumstance->components; ++i)
        terms[i] = (mica_term){.component = stage->components[i],
                               .access = stage->circumstance->bytes == 0 ? MICA_ACCESS_HAS
                                         : i == 0                        ? MICA_ACCESS_WRITE
                                                                         : MICA_ACCESS_READ};
    stage->query = mica_query_create(stage->world,
                                     &(mica_query_def){.terms = terms, .term_count = stage->circumstance->components});
    if (stage->query == NULL)
        abort();
}

static void prepare_additions(stage *stage)
{
    prepare_entities(stage);
    prepare_query(stage);
    add(stage);
    remove_added(stage);
}

static void prepare_removals(stage *stage)
{
    prepare_additions(stage);
    add(stage);
}

/* Entities and room for them where they go. */
static void prepare_mixed(stage *stage)
{
    prepare_additions(stage);
    mixed(stage);
    for (uint32_t i = 0; i < stage->entity_count; ++i) {
        mica_set_id(stage->world, stage->entities[i], stage->values[0]);
        mica_remove_id(stage->world, stage->entities[i], added(stage));
    }
}

static void prepare_iteration(stage *stage)
{
    prepare_entities(stage);
    prepare_query(stage);
}

static void destroy_copies(stage *stage)
{
    for (uint32_t i = 0; i < stage->entity_count; ++i)
        mica_destroy(stage->world, stage->copies[i]);
}

static void prepare_clones(stage *stage)
{
    prepare_entities(stage);
    clone(stage);
    destroy_copies(stage);
}

static void prepare_systems(stage *stage, mica_system_def def)
{
    static const char *const names[SYSTEMS] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    mica_term terms[COMPONENTS_MAX];
    for (uint32_t i = 0; i < stage->circumstance->components; ++i)
        terms[i] = (mica_term){.component = stage->components[i],
                               .access = stage->circumstance->bytes == 0 ? MICA_ACCESS_HAS : MICA_ACCESS_READ};
    mica_flow_configure(stage->world, &(mica_flow_def){.worker_count = 1, .fixed_seconds = 1, .catch_up_max = 1});
    mica_create_id(stage->world, values_of_archetype(stage, 0), stage->value_count);
    def.terms = terms;
    def.term_count = stage->circumstance->components;
    for (uint32_t i = 0; i < SYSTEMS; ++i) {
        def.name = names[i];
        if (mica_system_add(stage->world, &def).id == 0)
            abort();
    }
    step(stage);
}

static void prepare_system(stage *stage)
{
    prepare_systems(stage, (mica_system_def){.view = run_system});
}

static void prepare_columns(stage *stage)
{
    prepare_systems(stage, (mica_system_def){.columns = run_columns});
}

#ifdef BENCH_RESOURCE
static void prepare_spawn(stage *stage)
{
    const mica_value *values = values_of_archetype(stage, 0);
    mica_entity entity = mica_create_id(stage->world, values, stage->value_count);
    stage->rule_count = 0;
    for (uint32_t i = 0; i < stage->value_count; ++i) /* components with functions need a rule */
        if (mica_component_type(values[i].component)->destruct)
            stage->rules[stage->rule_count++] = (mica_resource_rule){.component = values[i].component};
    mica_save_def def = {
        .entities = &entity, .entity_count = 1, .rules = stage->rules, .rule_count = stage->rule_count};
    if (mica_pack(stage->world, &def, &stage->blob) != MICA_OK)
        abort();
    stage->resource = mica_resource_open(stage->blob.bytes, stage->blob.byte_count, NULL, NULL);
    spawn(stage);
    destroy_copies(stage);
}
#endif

const operation operations[] = {
    {.name = "create", .prepare = prepare_room, .run = create, .makes_entities = true},
    {.name = "create_bulk", .prepare = prepare_room, .run = create_bulk, .makes_entities = true},
    {.name = "create_recorded", .prepare = prepare_room, .run = create_recorded, .makes_entities = true},
    {.name = "destroy", .prepare = prepare_entities, .run = destroy},
    {.name = "destroy_bulk", .prepare = prepare_entities, .run = destroy_bulk},
    {.name = "destroy_recorded", .prepare = prepare_entities, .run = destroy_recorded},
    {.name = "add", .prepare = prepare_additions, .run = add},
    {.name = "add_bulk", .prepare = prepare_additions, .run = add_bulk},
    {.name = "add_recorded", .prepare = prepare_additions, .run = add_recorded},
    {.name = "remove", .prepare = prepare_removals, .run = remove_added},
    {.name = "remove_bulk", .prepare = prepare_removals, .run = remove_bulk},
    {.name = "remove_recorded", .prepare = prepare_removals, .run = remove_recorded},
    {.name = "set_adds", .prepare = prepare_additions, .run = set_adds},
    {.name = "set_adds_recorded", .prepare = prepare_additions, .run = set_adds_recorded},
    {.name = "set", .prepare = prepare_entities, .run = set},
    {.name = "set_recorded", .prepare = prepare_entities, .run = set_recorded},
    {.name = "mixed", .prepare = prepare_mixed, .run = mixed},
    {.name = "mixed_recorded", .prepare = prepare_mixed, .run = mixed_recorded},
    {.name = "flush", .prepare = prepare_entities, .run = flush},
    {.name = "get", .prepare = prepare_entities, .run = get},
    {.name = "get_bulk", .prepare = prepare_entities, .run = get_bulk},
    {.name = "has", .prepare = prepare_entities, .run = has},
    {.name = "ref", .prepare = prepare_entities, .run = ref},
    {.name = "iterate", .prepare = prepare_iteration, .run = iterate, .repeats = LOOPS},
    {.name = "clone", .prepare = prepare_clones, .run = clone, .copies = true},
#ifdef BENCH_RESOURCE
    {.name = "spawn", .prepare = prepare_spawn, .run = spawn, .makes_entities = true},
    {.name = "spawn_bulk", .prepare = prepare_spawn, .run = spawn_bulk, .makes_entities = true},
#endif
    {.name = "system", .prepare = prepare_system, .run = step, .per_world = SYSTEMS * FRAMES, .makes_entities = true},
    {.name = "system_columns",
     .prepare = prepare_columns,
     .run = step,
     .per_world = SYSTEMS * FRAMES,
     .makes_entities = true},
    {0},
};
