/* What only pools can do. */
#include "program.h"

static mica_pool *take_pool(program *program, scene *scene, sample_kind *out_kind)
{
    *out_kind = take_kind_that(program, scene, is_pool_with_rows);
    return mica_pool_of_id(scene->world, sample_id(*out_kind));
}

static void pool_add(program *program, scene *scene)
{
    sample_kind kind;
    mica_pool *pool = take_pool(program, scene, &kind);
    mica_pool_add(pool, take_entity(program, scene));
}

static void pool_add_instance(program *program, scene *scene)
{
    sample_kind kind = take_kind_that(program, scene, is_many);
    if (kind != SAMPLE_COUNT)
        mica_add_instance_id(scene->world, take_entity(program, scene), sample_id(kind));
}

static void pool_remove(program *program, scene *scene)
{
    sample_kind kind;
    mica_pool *pool = take_pool(program, scene, &kind);
    mica_instance instance = mica_pool_find(pool, take_entity(program, scene));
    for (uint32_t skip = take_below(program, 3); skip > 0 && !mica_instance_is_nil(instance); --skip)
        instance = mica_pool_next(pool, instance);
    if (!mica_instance_is_nil(instance))
        mica_pool_remove(pool, instance);
}

static void pool_read(program *program, scene *scene)
{
    sample_kind kind;
    mica_pool *pool = take_pool(program, scene, &kind);
    mica_entity entity = take_entity(program, scene);
    uint32_t rows = mica_pool_row_count(pool);
    const mica_entity *owners = mica_pool_owners(pool);
    EXPECT(program, program->depth > 0 || mica_pool_count(pool) <= rows, "a pool has more instances than rows");
    for (uint32_t i = 0; i < rows; ++i)
        EXPECT(program, mica_is_nil(owners[i]) || owners[i].generation > 0, "an owner is no handle");
    mica_instance instance = mica_pool_find(pool, entity);
    EXPECT(program, mica_instance_is_nil(instance) || mica_same(mica_pool_owner(pool, instance), entity),
           "an instance has another owner");
    if (sample_is_whole(kind)) {
        mica_pool_read_id(pool);
        mica_instance_read_id(pool, instance);
    } else {
        mica_pool_read_field_id(pool, sample_leaves[0].offset);
    }
    EXPECT(program, mica_pool_get_stats(pool).row_count == rows, "pool statistics count other rows");
}

static void pool_write(program *program, scene *scene)
{
    sample_kind kind;
    mica_pool *pool = take_pool(program, scene, &kind);
    uint32_t rows = mica_pool_row_count(pool);
    const mica_entity *owners = mica_pool_owners(pool);
    uint8_t number = take(program);
    if (sample_is_split(kind)) {
        uint32_t *numbers = mica_pool_write_field_id(pool, sample_leaves[0].offset);
        for (uint32_t i = 0; i < rows; ++i)
            if (mica_is_alive(scene->world, owners[i]))
                numbers[i] = number + i;
        return;
    }
    char *values = mica_pool_write_id(pool);
    for (uint32_t i = 0; i < rows; ++i)
        if (mica_is_alive(scene->world, owners[i]))
            samples[kind].assign(values + (size_t)i * samples[kind].type->size_bytes, number + i);
}

static void pool_gc(program *program, scene *scene)
{
    sample_kind kind;
    mica_pool *pool = take_pool(program, scene, &kind);
    mica_pool_gc(pool, take(program));
}

static void pool_sweep(program *program, scene *scene)
{
    sample_kind kind;
    mica_pool_sweep(take_pool(program, scene, &kind));
}

static void pool_sort(program *program, scene *scene)
{
    sample_kind kind;
    mica_pool *pool = take_pool(program, scene, &kind);
    if (sample_is_whole(kind))
        mica_pool_sort(pool, sample_compare, (void *)(uintptr_t)&samples[kind]);
}

static void pool_group(program *program, scene *scene)
{
    mica_component components[3];
    uint32_t count = 2 + take_below(program, 2);
    for (uint32_t i = 0; i < count; ++i)
        components[i] = sample_id(take_kind_that(program, scene, is_pool_with_rows));
    mica_group_id(scene->world, components, count);
}

const operation pool_operations[] = {
    {"pool_add", pool_add, IN_BODY | AS_INPUT},       {"pool_add_instance", pool_add_instance, IN_BODY | AS_INPUT},
    {"pool_remove", pool_remove, IN_BODY | AS_INPUT}, {"pool_read", pool_read, IN_BODY | READS},
    {"pool_write", pool_write, IN_BODY | AS_INPUT},   {"pool_gc", pool_gc, IN_BODY | AS_INPUT},
    {"pool_sweep", pool_sweep, IN_BODY | AS_INPUT},   {"pool_sort", pool_sort, IN_BODY | AS_INPUT},
    {"pool_group", pool_group, IN_BODY | AS_INPUT},
};
OPERATIONS(pool)
