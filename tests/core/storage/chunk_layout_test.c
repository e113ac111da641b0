/* The layout of a chunk: columns are within its block, aligned and in order, for every alignment of a component and every offset of the
 * chunk in its block. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include "core/world/world.h"

#include <stdio.h>

static reports heard;

enum { COLUMNS_MAX = 25, ROWS = 200 };

/* One over-aligned component and some small ones, which all are new, so that the large one comes first. */
typedef struct shape {
    uint32_t alignment;
    uint32_t size_bytes;
    uint32_t small_count;
    uint32_t small_bytes;
} shape;

static void create_rows(mica_world *world, const shape *of)
{
    mica_value values[COLUMNS_MAX];
    for (uint32_t i = 0; i <= of->small_count; ++i) {
        char name[48];
        snprintf(name, sizeof name, "Part%u_%u_%u_%u", i, of->alignment, of->small_count, of->small_bytes);
        const mica_type type = {.name = name,
                                .kind = MICA_KIND_STRUCT,
                                .size_bytes = i ? of->small_bytes : of->size_bytes,
                                .alignment = i ? 4 : of->alignment};
        values[i] = (mica_value){mica_component_define(world, &type), 0, NULL};
    }
    for (uint32_t i = 0; i < ROWS; ++i)
        mica_create_id(world, values, of->small_count + 1);
}

static void expect_sound_layout(const micap_chunk *chunk, const shape *of)
{
    const micap_archetype *archetype = chunk->archetype;
    uint64_t end = chunk->entities_offset + (uint64_t)chunk->capacity * sizeof(mica_entity);
    for (uint32_t i = 0; i < archetype->column_count; ++i) {
        micap_column_data lane = micap_chunk_columns(chunk)[i];
        uintptr_t column = (uintptr_t)micap_chunk_column(chunk, i);
        uint64_t offset = column - (uintptr_t)chunk;
        if (offset < end || column % archetype->columns[i].type->type.alignment != 0)
            ck_abort_msg("column %u of %u lies wrong, alignment %u", i, archetype->column_count, of->alignment);
        end = offset + lane.bytes * chunk->capacity;
    }
    if (chunk->color_lines * MICAP_CACHE_LINE + end > (uint64_t)1 << chunk->order)
        ck_abort_msg("%u columns, alignment %u: a block of %llu bytes is used up to %llu", archetype->column_count,
                     of->alignment, 1ull << chunk->order,
                     (unsigned long long)(chunk->color_lines * MICAP_CACHE_LINE + end));
}

START_TEST(the_columns_of_every_chunk_lie_within_its_block)
{
    for (uint32_t alignment = 64; alignment <= MICA_COMPONENT_ALIGNMENT_MAX; alignment *= 2)
        for (uint32_t number = COLUMNS_MAX; number < COLUMNS_MAX * 4; ++number) {
            uint32_t small_count = number % (COLUMNS_MAX - 1) + 1;
            const shape of = {alignment, alignment * (small_count % 4 + 1), small_count, number / COLUMNS_MAX * 4};
            mica_world *world = open_world(&heard);
            create_rows(world, &of);
            for (uint32_t i = 0; i < world->archetypes.count; ++i)
                for (uint32_t j = 0; j < world->archetypes.by_id[i]->chunk_count; ++j)
                    expect_sound_layout(world->archetypes.by_id[i]->chunks[j], &of);
            close_world(world, &heard);
        }
}
END_TEST

START_TEST(a_page_of_its_own_alignment_leaves_the_neighbours_alone)
{
    const mica_type type = {.name = "Page", .kind = MICA_KIND_STRUCT, .size_bytes = 4096, .alignment = 4096};
    mica_world *world = open_world(&heard);
    mica_component page = mica_component_define(world, &type);
    mica_entity entity = mica_create(world, {page, 0, NULL}, MICA_WITH(Mass));
    mica_entity neighbour = mica_create(world, MICA_WITH(Position, {1, 2, 3}));
    mica_set(world, entity, Mass, {12345});
    ck_assert_msg(mica_get(world, neighbour, Position) && mica_get(world, neighbour, Position)->z == 3,
                  "the next chunk is intact");
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(chunk_layout, the_columns_of_every_chunk_lie_within_its_block,
           a_page_of_its_own_alignment_leaves_the_neighbours_alone)
