/* Files of every version of the format that was ever written must be read for ever, and 1.0 is still written to the bit. What the files
 * spawn is compared with values that are written here, not with what the writer or the reader returns. */
#include "../support/level.h"
#include "../support/reports.h"
#include "../support/test.h"

#include <stdio.h>
#include <string.h>

static reports heard;

static const struct golden {
    const char *path;
    mica_save_def def;
    bool exact; /* compressed bytes depend on zstd's version */
} goldens[] = {
    {"tests/resource/golden/version_1_0_little.mica", {.byte_order = MICA_BYTE_ORDER_LITTLE}, true},
    {"tests/resource/golden/version_1_0_big.mica", {.byte_order = MICA_BYTE_ORDER_BIG}, true},
    {"tests/resource/golden/version_1_0_packed.mica", {.byte_order = MICA_BYTE_ORDER_LITTLE}, false},
};

/* One of the five entities that move. */
static uint32_t expect_mover(const Position *position, const Velocity *velocity)
{
    uint32_t number = (uint32_t)position->x;
    ck_assert(number < 5 && position->x == (float)number && position->y == 0 && position->z == 0);
    ck_assert(velocity->x == 0 && velocity->y == (float)number && velocity->z == 0);
    return 1u << number;
}

static void expect_matrix(const mica_world *world, mica_entity entity, const Matrix *matrix)
{
    const Health *health = mica_get(world, entity, Health);
    for (uint32_t cell = 0; cell < 16; ++cell)
        ck_assert(matrix->cells[cell] == (cell < 3 ? (float)cell + 1 : 0));
    ck_assert(health && health->current == 1 && health->maximum == 1);
    ck_assert(mica_is_enabled(world, entity, Health));
}

typedef struct found {
    uint32_t movers;
    uint32_t nines;
    uint32_t empty;
    uint32_t components; /* of all entities */
} found;

static void look_at(const mica_world *world, mica_entity entity, found *found)
{
    mica_component list[16];
    uint32_t count = mica_get_components(world, entity, list, COUNT_OF(list));
    const Position *position = mica_get(world, entity, Position);
    const Velocity *velocity = mica_get(world, entity, Velocity);
    const Matrix *matrix = mica_get(world, entity, Matrix);
    found->components += count;
    found->empty += count == 0;
    found->nines += position && position->x == 9 && position->y == 9 && position->z == 9;
    if (velocity)
        found->movers |= expect_mover(position, velocity);
    if (matrix)
        expect_matrix(world, entity, matrix);
}

/* Entities without names, totals and the singleton: level_expect looks at the entities with names. */
static void expect_rest(mica_world *world)
{
    found found = {0};
    mica_query *query = mica_query_create(world, &(mica_query_def){.with_hidden = true});
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            look_at(world, view.entities[i], &found);
    mica_query_destroy(query);
    ck_assert_uint_eq(found.movers, 31);
    ck_assert_uint_eq(found.nines, 1);
    ck_assert_uint_eq(found.empty, 1);
    ck_assert_uint_eq(found.components, 1 + 1 + 3 + 2 + 2 + 5 * 2 + 0 + 2);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 12);
    const Clock *clock = mica_singleton_get(world, Clock);
    ck_assert(clock->seconds == 12.5 && clock->ticks == 99);
}

START_TEST(golden_files_are_read)
{
    for (uint32_t i = 0; i < COUNT_OF(goldens); ++i) {
        mica_resource_error error;
        mica_resource *resource =
            mica_resource_load(goldens[i].path, &(mica_resource_def){.any_byte_order = true}, &error);
        ck_assert_msg(resource != NULL, "%s: %s", goldens[i].path, error.text);
        mica_world *world = open_world(&heard);
        level_define(world);
        ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
        level_expect(world, mica_nil());
        expect_rest(world);
        close_world(world, &heard);
        mica_resource_free(resource);
    }
}
END_TEST

START_TEST(golden_files_are_written_to_the_bit)
{
    for (uint32_t i = 0; i < COUNT_OF(goldens); ++i) {
        if (!goldens[i].exact)
            continue;
        mica_blob blob = level_blob(&goldens[i].def);
        static char bytes[1 << 16];
        FILE *file = fopen(goldens[i].path, "rb");
        size_t count = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        ck_assert_uint_eq(count, blob.byte_count);
        ck_assert_msg(memcmp(bytes, blob.bytes, count) == 0, "%s", goldens[i].path);
        mica_blob_free(&blob);
    }
}
END_TEST

/* FNV-1a, 64 bits, as docs/format.md says. */
static uint64_t hash_of_path(const char *path)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *path; ++path)
        hash = (hash ^ (unsigned char)*path) * 0x100000001b3u;
    return hash;
}

/* Shape i has colour i and refers to a path, twice, or to nothing. */
static void expect_shape(const Shape *shape)
{
    static const char *const paths[] = {"stones/rock.mica", "stones/pebble.mica", NULL};
    ck_assert_uint_lt(shape->colour, 5);
    const char *path = paths[shape->colour % 3];
    uint64_t hash = path ? hash_of_path(path) : 0;
    ck_assert_uint_eq(shape->outline.path_hash, hash);
    ck_assert_uint_eq(shape->extra[shape->colour % 2].path_hash, hash);
    ck_assert_uint_eq(shape->extra[1 - shape->colour % 2].path_hash, 0);
}

static void expect_shapes(mica_world *world)
{
    uint32_t colours = 0;
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Shape)));
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            const Shape *shape = mica_get(world, view.entities[i], Shape);
            mica_component only[2];
            expect_shape(shape);
            ck_assert_uint_eq(mica_get_components(world, view.entities[i], only, 2), 1);
            ck_assert_ptr_null(mica_name_get(world, view.entities[i]));
            colours |= 1u << shape->colour;
        }
    mica_query_destroy(query);
    ck_assert_uint_eq(colours, 31);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 5);
}

START_TEST(files_of_version_1_1_are_spawned)
{
    static const char *const paths[] = {"tests/resource/golden/version_1_1_little.mica",
                                        "tests/resource/golden/version_1_1_big.mica"};
    for (uint32_t i = 0; i < COUNT_OF(paths); ++i) {
        mica_resource_error error;
        mica_resource *resource = mica_resource_load(paths[i], &(mica_resource_def){.any_byte_order = true}, &error);
        ck_assert_msg(resource != NULL, "%s: %s", paths[i], error.text);
        ck_assert_uint_eq(mica_resource_get_info(resource).version_minor, 1);
        mica_world *world = open_world(&heard);
        level_define(world);
        ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
        expect_shapes(world);
        close_world(world, &heard);
        mica_resource_free(resource);
    }
}
END_TEST

TEST_SUITE(golden, golden_files_are_read, files_of_version_1_1_are_spawned, golden_files_are_written_to_the_bit)
