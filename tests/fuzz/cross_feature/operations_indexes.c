/* Indexes of a field of each sample: made, updated, refreshed and compared with the query that shows the same entities. */
#include "program.h"

#include <string.h>

static bool has_number(sample_kind kind)
{
    const mica_type *type = samples[kind].type;
    for (uint32_t i = 0; i < type->field_count; ++i)
        if (strcmp(type->fields[i].name, "number") == 0)
            return !type->many;
    return false;
}

static void index_create(program *program, scene *scene)
{
    uint32_t slot = take_below(program, INDEXES);
    sample_kind kind = take_kind_that(program, scene, has_number);
    uint8_t options = take(program);
    if (kind == SAMPLE_COUNT)
        return;
    mica_index_destroy(scene->indexes[slot]);
    mica_query_destroy(scene->indexed[slot]);
    mica_term term = {sample_id(kind), MICA_ACCESS_READ};
    mica_index_def def = {.component = sample_id(kind), .fields = "number", .hashed = options & 1};
    if (options & 2) {
        def = (mica_index_def){.component = sample_id(kind),
                               .fields = "number, number",
                               .cell_size = 1000,
                               .maximum = {100000, 50000},
                               .torus = options & 4};
    }
    scene->indexes[slot] = mica_index_create(scene->world, &def);
    scene->indexed[slot] = mica_query_create(scene->world, &(mica_query_def){.terms = &term, .term_count = 1});
}

/* Every entity that the query shows is in the index, and nothing else. */
static void index_update(program *program, scene *scene)
{
    uint32_t slot = take_below(program, INDEXES);
    mica_index *index = scene->indexes[slot];
    if (!index || !scene->indexed[slot])
        return;
    mica_result result = mica_index_update(index);
    if (result != MICA_OK) {
        EXPECT(program, mica_index_entity_count(index) == 0, "an index that could not be updated has entries");
        return;
    }
    uint64_t count = mica_query_count(scene->indexed[slot]);
    EXPECT(program, mica_index_entity_count(index) == count, "an index has other entities than its query");
}

static void index_refresh(program *program, scene *scene)
{
    mica_index *index = scene->indexes[take_below(program, INDEXES)];
    if (index)
        mica_index_refresh(index, take_entity(program, scene));
}

static void count_visit(mica_entity entity, const mica_neighbour *neighbours, uint32_t count, void *context)
{
    (void)entity, (void)neighbours;
    *(uint32_t *)context += count;
}

/* Reads what the last update left, whatever has happened since. */
static void index_read(program *program, scene *scene)
{
    mica_index *index = scene->indexes[take_below(program, INDEXES)];
    if (!index)
        return;
    uint32_t low = take_below(program, 2000), visits = 0;
    mica_neighbour near[8];
    mica_entity entities[8];
    for (mica_match match = mica_index_range(index, mica_key_integer(low), (mica_key){0}); mica_match_next(&match);)
        ++visits;
    mica_find_by(index, mica_key_integer(low));
    mica_grid_within(index, (mica_point){low, low, 0}, 3000, near, 8);
    mica_grid_around(index, take_entity(program, scene), 5000, near, 8);
    mica_grid_nearest(index, (mica_point){low, low, 0}, near, 8);
    mica_grid_cell(index, (mica_point){low, low, 0}, entities, 8);
    mica_grid_loop loop = {.radius = 10, .pairs = low & 1, .one_thread = true, .fn = count_visit, .context = &visits};
    mica_grid_each(index, &loop);
}

const operation index_operations[] = {
    {"index_create", index_create, WHILE_RECORDING | KEEPS_FOLLOWING},
    {"index_update", index_update, READS | WHILE_RECORDING | KEEPS_FOLLOWING},
    {"index_refresh", index_refresh, READS | IN_BODY | WHILE_RECORDING | KEEPS_FOLLOWING},
    {"index_read", index_read, READS | IN_BODY | WHILE_RECORDING | KEEPS_FOLLOWING},
};
OPERATIONS(index)
