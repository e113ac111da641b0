/* A frame as games have it: thirty systems over sixty archetypes made of twenty components, while one percent of the entities come, go and
 * change. One operation is one entity in one frame. */
#define _POSIX_C_SOURCE 200809L /* for the clock, which strict C17 hides */
#include "bench.h"
#include "components.h"
#include "raw_tables.h"

#include "mica/flow.h"

#include <stdlib.h>
#include <time.h>

enum { COMPONENTS = 20, ARCHETYPES = 60, SYSTEMS = 30, WARM_FRAMES = 20, FRAMES = 220, CHANGED_SHARE = 300 };

static const float seconds = 1.0f / 64;

/* The first component is what entities gain and lose. The others have one to four floats. */
static uint32_t floats_of(uint32_t component)
{
    return 1 + component % 4;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* Six other components each, all sets different. */
static void choose_archetypes(uint32_t masks[ARCHETYPES])
{
    uint32_t state = 1;
    for (uint32_t i = 0; i < ARCHETYPES; ++i) {
        bool is_known;
        do {
            masks[i] = 0;
            while (__builtin_popcount(masks[i]) < 6)
                masks[i] |= 2u << next_random(&state) % (COMPONENTS - 1);
            is_known = false;
            for (uint32_t k = 0; k < i; ++k)
                is_known |= masks[k] == masks[i];
        } while (is_known);
    }
}

/* A system adds what it reads to what it writes. */
typedef struct pairing {
    uint32_t to;
    uint32_t from;
} pairing;

static pairing pairing_of(uint32_t system)
{
    return (pairing){system % COMPONENTS, (system * 7 + 3) % COMPONENTS == system % COMPONENTS
                                              ? (system + 1) % COMPONENTS
                                              : (system * 7 + 3) % COMPONENTS};
}

__attribute__((noinline)) static void accumulate(float *to, uint32_t to_floats, const float *from, uint32_t from_floats,
                                                 uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        to[i * to_floats] += from[i * from_floats] * seconds + 1;
}

static uint64_t sum_of_column(const float *values, uint32_t floats, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; ++i)
        sum += bits_of(values[i * floats]);
    return sum;
}

/* In turn one percent of the entities: a third is replaced by new ones, a third gains the first component, a third loses it. */
typedef enum change_kind { REPLACE, GAIN, LOSE } change_kind;

typedef struct change {
    change_kind kind;
    uint32_t entity; /* a position in the list of entities */
} change;

static change change_at(uint32_t n, uint32_t frame, uint32_t number)
{
    return (change){(change_kind)(number % 3), (uint32_t)(((uint64_t)frame * 7919 + number * 97) % n)};
}

static double wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

typedef struct game {
    mica_world *world;
    mica_component components[COMPONENTS];
    uint32_t masks[ARCHETYPES];
    mica_entity *entities;
    uint32_t n;
    uint32_t frame;
} game;

static mica_component define_component(mica_world *world, uint32_t number)
{
    char name[8] = {'M', (char)('0' + number / 10), (char)('0' + number % 10)};
    const mica_field field = {.name = "value", .element_bytes = 4, .count = floats_of(number), .kind = MICA_KIND_F32};
    mica_component component =
        mica_component_define(world, &(mica_type){.name = name,
                                                  .fields = &field,
                                                  .field_count = 1,
                                                  .size_bytes = floats_of(number) * (uint32_t)sizeof(float),
                                                  .alignment = _Alignof(float),
                                                  .kind = MICA_KIND_STRUCT});
    require(component != 0, "a component can't be made");
    return component;
}

static mica_entity create_in(const game *game, uint32_t archetype)
{
    mica_value values[COMPONENTS];
    uint32_t count = 0;
    for (uint32_t left = game->masks[archetype]; left; left &= left - 1)
        values[count++] = (mica_value){game->components[__builtin_ctz(left)], 0, NULL};
    return mica_create_id(game->world, values, count);
}

static void change_mica(game *game)
{
    for (uint32_t i = 0; i < game->n / CHANGED_SHARE * 3; ++i) {
        change change = change_at(game->n, game->frame, i);
        mica_entity *entity = &game->entities[change.entity];
        switch (change.kind) {
        case REPLACE:
            mica_destroy(game->world, *entity);
            *entity = create_in(game, change.entity % ARCHETYPES);
            break;
        case GAIN: mica_add_id(game->world, *entity, game->components[0]); break;
        case LOSE: mica_remove_id(game->world, *entity, game->components[0]); break;
        }
    }
    ++game->frame;
}

static void change_in_a_system(const mica_frame *frame)
{
    change_mica(frame->context);
}

static void accumulate_system(mica_view *view)
{
    const pairing *pairing = view->frame->context;
    accumulate(mica_view_write_at(view, 0), floats_of(pairing->to), mica_view_read_at(view, 1),
               floats_of(pairing->from), view->count);
}

static measurement mixed_mica(uint32_t n, uint32_t workers, bool records)
{
    static pairing pairings[SYSTEMS];
    game game = {.world = mica_world_create(NULL), .entities = allocate_or_exit(n * sizeof(mica_entity)), .n = n};
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = workers;
    require(game.world && mica_flow_configure(game.world, &flow) == MICA_OK, "a world can't be made");
    for (uint32_t i = 0; i < COMPONENTS; ++i)
        game.components[i] = define_component(game.world, i);
    choose_archetypes(game.masks);
    for (uint32_t i = 0; i < n; ++i)
        game.entities[i] = create_in(&game, i % ARCHETYPES);
    for (uint32_t i = 0; i < SYSTEMS; ++i) {
        char name[8] = {'s', (char)('0' + i / 10), (char)('0' + i % 10)};
        pairings[i] = pairing_of(i);
        const mica_term terms[] = {{.component = game.components[pairings[i].to], .access = MICA_ACCESS_WRITE},
                                   {.component = game.components[pairings[i].from], .access = MICA_ACCESS_READ}};
        require(mica_system_add(game.world, &(mica_system_def){.name = name,
                                                               .view = accumulate_system,
                                                               .terms = terms,
                                                               .term_count = 2,
                                                               .context = &pairings[i]})
                        .id != 0,
                "a system can't be made");
    }
    mica_system_def change = {.name = "change", .once = change_in_a_system, .context = &game, .exclusive = !records};
    require(mica_system_add(game.world, &change).id != 0, "a system can't be made");
    double (*clock_ns)(void) = workers > 1 ? wall_ns : now_ns, start = 0;
    for (uint32_t frame = 0; frame < FRAMES; ++frame) {
        if (frame == WARM_FRAMES)
            start = clock_ns();
        require(mica_step(game.world, seconds) == MICA_OK, "mica_step failed");
    }
    double time = (clock_ns() - start) / n / (FRAMES - WARM_FRAMES);
    uint64_t sum = 0;
    for (uint32_t k = 0; k < COMPONENTS; ++k) {
        mica_query *query =
            mica_query_create(game.world, MICA_QUERY({.component = game.components[k], .access = MICA_ACCESS_READ}));
        require(query != NULL, "mica_query_create failed");
        for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
            sum += sum_of_column(mica_view_read_at(&view, 0), floats_of(k), view.count);
    }
    mica_world_destroy(game.world);
    free(game.entities);
    return (measurement){time, sum};
}

static measurement mixed_frame_mica(uint32_t n)
{
    return mixed_mica(n, 1, false);
}

static measurement mixed_frame_2(uint32_t n)
{
    return mixed_mica(n, 2, false);
}

static measurement mixed_frame_recorded_mica(uint32_t n)
{
    return mixed_mica(n, 1, true);
}

/* A table for each archetype, and one for each that has the first component too. */
static void make_tables(raw_tables *tables)
{
    uint32_t masks[ARCHETYPES];
    choose_archetypes(masks);
    *tables = (raw_tables){.table_count = 2 * ARCHETYPES, .column_count = COMPONENTS, .first_free = RAW_NONE};
    for (uint32_t k = 0; k < COMPONENTS; ++k)
        tables->floats[k] = floats_of(k);
    for (uint32_t i = 0; i < ARCHETYPES; ++i) {
        tables->tables[i].mask = masks[i];
        tables->tables[ARCHETYPES + i].mask = masks[i] | 1;
    }
}

static void make_change_raw(raw_tables *tables, raw_id *ids, change change)
{
    raw_id *id = &ids[change.entity];
    uint32_t archetype = change.entity % ARCHETYPES;
    switch (change.kind) {
    case REPLACE:
        raw_tables_destroy(tables, *id);
        *id = raw_tables_create(tables, archetype);
        break;
    case GAIN: raw_tables_move(tables, *id, ARCHETYPES + archetype); break;
    case LOSE: raw_tables_move(tables, *id, archetype); break;
    }
}

/* Which tables a system visits is found once. Changes are made at once, or kept in a list first. */
static measurement mixed_raw(uint32_t n, bool records)
{
    static raw_tables tables;
    static uint8_t visited[SYSTEMS][2 * ARCHETYPES];
    uint32_t visited_count[SYSTEMS] = {0};
    make_tables(&tables);
    raw_id *ids = allocate_or_exit(n * sizeof *ids);
    change *changes = allocate_or_exit((n / CHANGED_SHARE * 3 + 1) * sizeof *changes);
    for (uint32_t i = 0; i < n; ++i)
        ids[i] = raw_tables_create(&tables, i % ARCHETYPES);
    for (uint32_t i = 0; i < SYSTEMS; ++i) {
        uint32_t wanted = 1u << pairing_of(i).to | 1u << pairing_of(i).from;
        for (uint32_t k = 0; k < tables.table_count; ++k)
            if ((tables.tables[k].mask & wanted) == wanted)
                visited[i][visited_count[i]++] = (uint8_t)k;
    }
    double start = 0;
    for (uint32_t frame = 0; frame < FRAMES; ++frame) {
        if (frame == WARM_FRAMES)
            start = now_ns();
        for (uint32_t i = 0; i < SYSTEMS; ++i) {
            pairing pairing = pairing_of(i);
            for (uint32_t k = 0; k < visited_count[i]; ++k) {
                raw_table *table = &tables.tables[visited[i][k]];
                accumulate(table->column[pairing.to], floats_of(pairing.to), table->column[pairing.from],
                           floats_of(pairing.from), table->count);
            }
        }
        uint32_t count = n / CHANGED_SHARE * 3;
        for (uint32_t i = 0; i < count; ++i)
            if (records)
                changes[i] = change_at(n, frame, i);
            else
                make_change_raw(&tables, ids, change_at(n, frame, i));
        for (uint32_t i = 0; records && i < count; ++i)
            make_change_raw(&tables, ids, changes[i]);
    }
    double time = (now_ns() - start) / n / (FRAMES - WARM_FRAMES);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < tables.table_count; ++i)
        for (uint32_t left = tables.tables[i].mask; left; left &= left - 1) {
            uint32_t k = (uint32_t)__builtin_ctz(left);
            sum += sum_of_column(tables.tables[i].column[k], floats_of(k), tables.tables[i].count);
        }
    raw_tables_free(&tables);
    free(changes);
    free(ids);
    return (measurement){time, sum};
}

static measurement mixed_frame_raw(uint32_t n)
{
    return mixed_raw(n, false);
}

static measurement mixed_frame_recorded_raw(uint32_t n)
{
    return mixed_raw(n, true);
}

const workload mixed_frame_workloads[] = {
    {"mixed_frame", 30000, mixed_frame_mica, mixed_frame_raw, 1.1, UNIT_RATIO},
    {"mixed_frame_recorded", 30000, mixed_frame_recorded_mica, mixed_frame_recorded_raw, 1.3, UNIT_RATIO},
    {"mixed_frame_2_to_1", 30000, mixed_frame_2, mixed_frame_mica, 0.6, UNIT_RATIO},
    {0},
};
