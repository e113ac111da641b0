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

static bool has_text(sample_kind kind)
{
    const mica_type *type = samples[kind].type;
    for (uint32_t i = 0; i < type->field_count; ++i)
        if (type->fields[i].kind == MICA_KIND_TEXT)
            return !type->many && strcmp(type->fields[i].name, "text") == 0;
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
    mica_term term = {.component = sample_id(kind), .access = MICA_ACCESS_READ};
    mica_index_def def = {.component = sample_id(kind), .fields = "number", .hashed = options & 1};
    if (options & 2) {
        def = (mica_index_def){.component = sample_id(kind),
                               .fields = "number, number",
                               .cell_size = 1000,
                               .maximum = {100000, 50000},
                               .torus = options & 4};
    } else if (options & 4 && has_text(kind)) {
        def.fields = "text";
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

/* Every entity of the index is a member of one partition. A grid has none, which is reported. */
static void index_partitions(program *program, scene *scene)
{
    const mica_index *index = scene->indexes[take_below(program, INDEXES)];
    uint32_t count = 0, skipped = take_below(program, 4);
    if (!index)
        return;
    mica_partition part = mica_partitions_by_index(index, (mica_key){0}, (mica_key){0});
    bool is_grid = true;
    const char *before = NULL;
    for (; mica_partition_next(&part); is_grid = false) {
        for (uint32_t i = skipped; i < part.count; ++i)
            EXPECT(program, mica_member_next(&part), "a partition has fewer members than it counts");
        count += part.count;
        const char *text = part.key.kind == MICA_KIND_TEXT ? part.key.as.text : NULL;
        EXPECT(program, !text || !before || strcmp(before, text) < 0, "the texts of an index are not in order");
        EXPECT(program, !text || mica_index_count(index, part.key, part.key) == part.count,
               "an index counts other texts than it has");
        before = text;
    }
    EXPECT(program, is_grid || count == mica_index_entity_count(index), "partitions miss entities of the index");
}

/* The field `number` of the samples of a view: one each, or a column of its own. */
typedef struct numbers {
    const mica_field *field;
    const char *at;
    size_t step;
} numbers;

static numbers numbers_of(const mica_view *view, sample_kind kind)
{
    const mica_type *type = samples[kind].type;
    const mica_field *field = type->fields;
    while (strcmp(field->name, "number") != 0)
        ++field;
    if (type->split)
        return (numbers){field, mica_view_read_field_id(view, sample_id(kind), field->offset), field->element_bytes};
    return (numbers){field, (const char *)mica_view_read_id(view, sample_id(kind)) + field->offset, type->size_bytes};
}

/* All are small enough to be exact. */
static double number_at(const numbers *numbers, uint32_t row)
{
    const char *at = numbers->at + row * numbers->step;
    uint64_t natural = 0;
    uint32_t word = 0;
    double real = 0;
    switch (numbers->field->kind) {
    case MICA_KIND_F64: memcpy(&real, at, sizeof real); return real;
    case MICA_KIND_U64: memcpy(&natural, at, sizeof natural); return (double)natural;
    case MICA_KIND_U32: memcpy(&word, at, sizeof word); return word;
    default: return (unsigned char)*at;
    }
}

static bool compares(double number, mica_comparison how, double key)
{
    switch (how) {
    case MICA_EQUAL: return number == key;
    case MICA_NOT_EQUAL: return number != key;
    case MICA_LESS: return number < key;
    case MICA_AT_MOST: return number <= key;
    case MICA_GREATER: return number > key;
    default: return number >= key;
    }
}

static uint64_t add_to_list(uint64_t list, mica_entity entity)
{
    return (list * 31 + entity.index) * 31 + entity.generation;
}

/* A query that compares a field, with an index or without, shows what a loop over all values finds, in the same order. */
static void compare_numbers(program *program, scene *scene)
{
    sample_kind kind = take_kind_that(program, scene, has_number);
    uint32_t chosen = take_below(program, 8);
    mica_comparison how = MICA_EQUAL + take_below(program, 6);
    double key = take(program);
    if (kind == SAMPLE_COUNT)
        return;
    mica_term plain = {.component = sample_id(kind), .access = MICA_ACCESS_READ}, compared = plain;
    mica_query *all = mica_query_create(scene->world, &(mica_query_def){.terms = &plain, .term_count = 1});
    for (mica_view view = mica_query_begin(all); mica_view_next(&view);) {
        numbers numbers = numbers_of(&view, kind);
        key = chosen < view.count ? number_at(&numbers, chosen) : key;
    }
    compared.access = MICA_ACCESS_HAS;
    compared.field = "number";
    compared.compare = how;
    compared.key = mica_key_real(key);
    mica_query *some = mica_query_create(scene->world, &(mica_query_def){.terms = &compared, .term_count = 1});
    uint64_t found = 0, expected = 0;
    for (mica_view view = mica_query_begin(some); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            found = add_to_list(found, view.entities[i]);
    for (mica_view view = mica_query_begin(all); mica_view_next(&view);) {
        numbers numbers = numbers_of(&view, kind);
        for (uint32_t i = 0; i < view.count; ++i)
            if (compares(number_at(&numbers, i), how, key))
                expected = add_to_list(expected, view.entities[i]);
    }
    EXPECT(program, found == expected || program->used_faults, "a query that compares a field shows something else");
    mica_query_destroy(some);
    mica_query_destroy(all);
}

const operation index_operations[] = {
    {"index_create", index_create, WHILE_RECORDING | KEEPS_FOLLOWING},
    {"index_update", index_update, READS | WHILE_RECORDING | KEEPS_FOLLOWING},
    {"index_refresh", index_refresh, READS | IN_BODY | WHILE_RECORDING | KEEPS_FOLLOWING},
    {"index_read", index_read, READS | IN_BODY | WHILE_RECORDING | KEEPS_FOLLOWING},
    {"index_partitions", index_partitions, READS | IN_BODY | WHILE_RECORDING | KEEPS_FOLLOWING},
    {"compare_numbers", compare_numbers, READS | WHILE_RECORDING | KEEPS_FOLLOWING},
};
OPERATIONS(index)
