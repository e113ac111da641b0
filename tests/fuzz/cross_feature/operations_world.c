/* What is done to a world as a whole, and to the program: memory that fails, steps that repeat. */
#include "../../support/index_count.h"
#include "program.h"

static void clear(program *program, scene *scene)
{
    (void)program;
    mica_world_clear(scene->world);
}

static void trim(program *program, scene *scene)
{
    (void)program;
    mica_world_trim(scene->world);
}

static void seal(program *program, scene *scene)
{
    scene->is_sealed = !take_one_in(program, 3);
    mica_world_seal(scene->world, scene->is_sealed);
}

static void mark(program *program, scene *scene)
{
    (void)program;
    scene->mark = mica_world_mark(scene->world);
}

static void define(program *program, scene *scene)
{
    (void)program;
    scene_define(scene);
}

static void stats(program *program, scene *scene)
{
    (void)program;
    mica_world_get_stats(scene->world);
    mica_world_take_error(scene->world);
    mica_time_get(scene->world);
    mica_worker_count(scene->world);
    for (mica_component at = mica_component_next(scene->world, 0); at; at = mica_component_next(scene->world, at))
        mica_component_type(at);
}

static void recreate(program *program, scene *scene)
{
    uint8_t config = take(program);
    scene_close(program, scene);
    scene_open(program, scene, config);
}

/* In the next step on this world, one allocation fails, or all from there on. */
static void fail_memory(program *program, scene *scene)
{
    if (!scene->has_allocator || program->depth > 0)
        return;
    program->used_faults = true;
    uint32_t k = 1 + take_below(program, 32);
    faulty_allocator_fail_at(&scene->allocator, k, take_one_in(program, 3));
}

/* What may grow for a reason: lists that are not read, snapshots, rows of the dead that wait to be collected. */
static bool may_grow(const scene *scene)
{
    bool keeps = scene->history != NULL || scene->removals != NULL || scene->streams[0] || scene->streams[1] ||
                 scene->requests || scene->is_traced || scene->database || scene->is_recording;
    for (uint32_t i = 0; i < SNAPSHOTS; ++i)
        keeps = keeps || scene->snapshots[i].snapshot.id;
    return keeps || (scene->config & CONFIG_KINDS) != 0 || scene->recorded_count > 0 || scene->defer_depth > 0;
}

typedef struct population {
    bool may_grow;
    uint64_t entity_count[WORLDS_MAX];
    uint32_t archetype_count[WORLDS_MAX];
    uint32_t name_count[WORLDS_MAX];
    uint64_t index_count[WORLDS_MAX];
    size_t memory_bytes[WORLDS_MAX];
} population;

/* Rows that die at the flush wait for one, unless a delta kills them: a world that only follows need never be flushed. */
static population count_population(program *program)
{
    population population = {.may_grow = program->defers_in_bodies || program->used_faults};
    for (uint32_t i = 0; i < program->scene_count; ++i) {
        scene *scene = &program->scenes[i];
        if ((!scene->replica || !scene->only_follows) && mica_flush(scene->world) != MICA_OK)
            population.may_grow = true; /* it is tried again, and rows that die at a flush wait for it */
        mica_world_stats stats = mica_world_get_stats(scene->world);
        population.may_grow = population.may_grow || may_grow(scene);
        population.entity_count[i] = stats.entity_count;
        population.archetype_count[i] = stats.archetype_count;
        population.name_count[i] = stats.name_count;
        population.memory_bytes[i] = stats.memory_bytes;
        population.index_count[i] = used_index_count(scene->world);
    }
    return population;
}

static bool has_same_counts(const population *a, const population *b, uint32_t world)
{
    return a->entity_count[world] == b->entity_count[world] && a->archetype_count[world] == b->archetype_count[world] &&
           a->name_count[world] == b->name_count[world];
}

/* The entities of a world pass through its replicas, even if they are cleared at once: what follows a world that grows grows, too. */
static bool is_constant(const program *program, const population *a, const population *b, uint32_t world)
{
    const scene *followed = &program->scenes[world];
    bool same = true;
    for (uint32_t i = 0; same && followed && i < program->scene_count; ++i, followed = followed->followed)
        same = has_same_counts(a, b, (uint32_t)(followed - program->scenes));
    return same;
}

/* Performs steps several times, and counts the population afterwards. */
static population repeat_steps(program *program, uint32_t first, uint32_t count, uint32_t rounds)
{
    for (uint32_t round = 0; round < rounds; ++round) {
        program->next = first;
        for (uint32_t i = 0; i < count && program->next < program->step_count; ++i)
            program_step(program, &program->steps[program->next++]);
    }
    return count_population(program);
}

static bool has_more_memory(const program *program, const population *after, const population *before)
{
    bool more = false;
    for (uint32_t i = 0; i < program->scene_count; ++i)
        more = more || (is_constant(program, before, after, i) && after->memory_bytes[i] != before->memory_bytes[i]);
    return more;
}

/* The steps that follow, many times. Where the population stays the same, so do handles and memory. What is only created after many
 * frames, such as the list of chunks of a system that is measured now and then, is created once: after it nothing grows for as long. */
static void repeat(program *program, scene *scene)
{
    enum { INTERVAL = 50, LONG = 4 * INTERVAL };
    (void)scene;
    if (program->is_repeating)
        return;
    uint32_t count = 1 + take_below(program, 4);
    uint32_t first = program->next;
    program->is_repeating = true;
    population before = repeat_steps(program, first, count, INTERVAL);
    population middle = repeat_steps(program, first, count, INTERVAL);
    population after = repeat_steps(program, first, count, INTERVAL);
    bool may_grow = before.may_grow || middle.may_grow;
    if (!may_grow && !after.may_grow && has_more_memory(program, &after, &middle)) {
        program->repeated_longer = true;
        middle = after;
        after = repeat_steps(program, first, count, LONG);
    }
    program->is_repeating = false;
    if (may_grow || middle.may_grow || after.may_grow)
        return;
    for (uint32_t i = 0; i < program->scene_count; ++i) {
        if (!is_constant(program, &before, &middle, i) || !is_constant(program, &middle, &after, i))
            continue;
        EXPECT(program, middle.index_count[i] == after.index_count[i], "handles grow with a constant population");
        EXPECT(program, middle.memory_bytes[i] == after.memory_bytes[i], "memory grows with a constant population");
    }
}

const operation world_operations[] = {
    {"clear", clear, IN_BODY | AS_INPUT}, {"trim", trim, IN_BODY | AS_INPUT | SLOW},
    {"seal", seal, IN_BODY | AS_INPUT},   {"mark", mark, IN_BODY | READS},
    {"define", define, IN_BODY | READS},  {"stats", stats, IN_BODY | READS},
    {"recreate", recreate, SLOW},         {"fail_memory", fail_memory, WHILE_RECORDING | KEEPS_FOLLOWING},
    {"repeat", repeat, KEEPS_FOLLOWING},
};
OPERATIONS(world)
