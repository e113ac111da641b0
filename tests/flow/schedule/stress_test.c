/* Random graphs: systems with random terms, kinds, orders and splits over random worlds, by many workers, against the same
 * systems run one by one in the order the graph prints. */
#include "mica/flow.h"
#include "support/components.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/test.h"

enum { COMPONENTS = 6, SYSTEMS = 24, FRAMES = 4 };

static mica_component ids[COMPONENTS];
static uint32_t component_count;

static void define_components(mica_world *world)
{
    static const mica_field field = {.name = "value", .element_bytes = 4, .count = 1, .kind = MICA_KIND_U32};
    for (component_count = 0; component_count < COMPONENTS; ++component_count) {
        char name[8];
        snprintf(name, sizeof name, "C%u", component_count);
        ids[component_count] = mica_component_define(world, &(mica_type){.name = name,
                                                                         .fields = &field,
                                                                         .field_count = 1,
                                                                         .size_bytes = 4,
                                                                         .alignment = 4,
                                                                         .kind = MICA_KIND_STRUCT});
    }
}

typedef struct recipe {
    char name[16];
    mica_term terms[3];
    mica_use use;
    mica_system_def def;
    uint32_t factor;
    bool changes; /* structure */
} recipe;

/* Writes depend on everything that is read, so that a wrong order shows. */
static void mix(mica_view *view)
{
    const recipe *self = view->frame->context;
    uint32_t salt = self->factor;
    for (uint32_t term = 0; term < self->def.term_count; ++term) {
        if (self->terms[term].access != MICA_ACCESS_WRITE)
            continue;
        uint32_t *values = mica_view_write_at(view, term);
        for (uint32_t i = 0; i < view->count; ++i) {
            uint32_t sum = salt;
            for (uint32_t other = 0; other < self->def.term_count; ++other)
                sum = sum * 31 + ((const uint32_t *)mica_view_read_at(view, other))[i];
            values[i] = values[i] * 7 + sum;
        }
    }
    if (!self->changes)
        return;
    const uint32_t *first = mica_view_read_at(view, 0);
    for (uint32_t i = 0; i < view->count; ++i) {
        if (first[i] % 61 == 0)
            mica_destroy(view->world, view->entities[i]);
        else if (first[i] % 37 == 0)
            mica_remove_id(view->world, view->entities[i], ids[salt % COMPONENTS]);
        else if (first[i] % 29 == 0)
            mica_set_id(view->world, view->entities[i], (mica_value){ids[salt % COMPONENTS], 4, &salt});
        else if (first[i] % 71 == 0)
            mica_create_id(view->world, &(mica_value){ids[salt % COMPONENTS], 4, &first[i]}, 1);
    }
}

static void look_around(mica_view *view)
{
    const recipe *self = view->frame->context;
    uint32_t *values = mica_view_write_at(view, 0);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity other = view->entities[(i * 7 + self->factor) % view->count];
        const uint32_t *there = mica_get_id(view->world, other, self->use.component);
        values[i] += there ? *there : 1;
    }
}

static void make_recipe(random_source *random, uint32_t number, recipe *out)
{
    *out = (recipe){.factor = random_below(random, 1000)};
    snprintf(out->name, sizeof out->name, "s%u", number);
    uint32_t count = 1 + random_below(random, 3), first = random_below(random, COMPONENTS);
    for (uint32_t i = 0; i < count; ++i)
        out->terms[i] = (mica_term){.component = ids[(first + i) % COMPONENTS],
                                    .access = i == 0 || random_below(random, 2) ? MICA_ACCESS_WRITE : MICA_ACCESS_READ};
    out->def = (mica_system_def){.name = out->name,
                                 .view = mix,
                                 .term_count = count,
                                 .parallel = (mica_parallel)random_below(random, 5),
                                 .parallel_rows = 1 + random_below(random, 900),
                                 .priority = (int32_t)random_below(random, 3) - 1,
                                 .phase = random_below(random, 6) ? MICA_PHASE_UPDATE : MICA_PHASE_END,
                                 .flush_first = random_below(random, 8) == 0};
    if (random_below(random, 12) == 0)
        out->def.phase = MICA_PHASE_START;
    out->changes = random_below(random, 5) == 0;
    if (random_below(random, 5) == 0) {
        out->def.view = look_around;
        out->use = (mica_use){.component = ids[(first + count) % COMPONENTS]};
        out->def.use_count = 1;
    }
}

static mica_world *make_world(reports *heard, uint64_t seed, uint32_t workers, bool no_fusion, recipe *recipes)
{
    mica_world_def def = mica_world_def_default();
    def.dead_target = MICA_DEAD_TARGET_IGNORE;
    mica_world *world = open_world_with(heard, def);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = workers;
    flow.no_fusion = no_fusion;
    mica_flow_configure(world, &flow);
    define_components(world);
    random_source random = {seed};
    uint32_t systems = 1 + random_below(&random, SYSTEMS), entities = random_below(&random, 9000);
    for (uint32_t i = 0; i < systems; ++i) {
        make_recipe(&random, i, &recipes[i]);
        recipes[i].def.terms = recipes[i].terms;
        recipes[i].def.uses = &recipes[i].use;
        recipes[i].def.context = &recipes[i];
        uint32_t other = i ? random_below(&random, i) : 0;
        if (i && random_below(&random, 3) == 0 && recipes[other].def.phase == recipes[i].def.phase)
            recipes[i].def.before[0] = recipes[other].name;
        ck_assert(mica_system_add(world, &recipes[i].def).id);
    }
    for (uint32_t i = 0; i < entities; ++i) {
        mica_value values[COMPONENTS];
        uint32_t count = 0, mask = 1 + random_below(&random, 63), value = i * 2654435761u;
        for (uint32_t j = 0; j < COMPONENTS; ++j)
            if (mask >> j & 1)
                values[count++] = (mica_value){ids[j], 4, &value};
        mica_create_id(world, values, count);
    }
    return world;
}

/* Each frame as a whole; for one worker without chains that is system after system. */
static void run(uint64_t seed, uint32_t workers, bool no_fusion, uint64_t *hashes, bool compare)
{
    reports heard;
    static recipe recipes[SYSTEMS];
    mica_world *world = make_world(&heard, seed, workers, no_fusion, recipes);
    for (uint32_t frame = 0; frame < FRAMES; ++frame) {
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
        uint64_t hash = mica_world_hash(world);
        ck_assert_msg(!compare || hash == hashes[frame], "seed %llu, %u workers, frame %u", (unsigned long long)seed,
                      workers, frame);
        hashes[frame] = hash;
    }
    close_world(world, &heard);
}

START_TEST(random_graphs_have_the_outcome_of_running_one_system_after_the_other)
{
    uint32_t rounds = (uint32_t)setting_from_environment("MICA_TEST_GRAPHS", 60);
    static const uint32_t workers[] = {2, 3, 4, 7, 16};
    for (uint32_t i = 0; i < rounds; ++i) {
        uint64_t hashes[FRAMES];
        run(i, 1, true, hashes, false);
        run(i, 1, false, hashes, true);
        run(i, workers[i % COUNT_OF(workers)], i % 2, hashes, true);
    }
}
END_TEST

TEST_SUITE(stress, random_graphs_have_the_outcome_of_running_one_system_after_the_other)
