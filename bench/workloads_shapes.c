/* Changes to entities of other shapes than the two small components of most workloads: many components, a large one, observers, and
 * recorded changes of several kinds. */
#include "bench.h"
#include "components.h"
#include "population.h"
#include "raw_pool.h"

#include "mica/flow.h"

enum { MORE_COLUMNS = 6 };

#define EACH_EXTRA(apply) apply(Extra0) apply(Extra1) apply(Extra2) apply(Extra3) apply(Extra4) apply(Extra5)
#define DESCRIBE_EXTRA(name)                                                                                           \
    typedef Position name;                                                                                             \
    MICA_COMPONENT(name, x, y, z)
EACH_EXTRA(DESCRIBE_EXTRA)

typedef struct Body { float values[16]; } Body;
MICA_COMPONENT(Body, values)
MICA_TAG(Chosen)

static measurement create_8_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i) {
        Position position = position_of(i);
        Velocity velocity = velocity_of(i);
#define WITH_POSITION(name) , MICA_FROM(name, &position)
        mica_create(world, MICA_FROM(Position, &position), MICA_FROM(Velocity, &velocity) EACH_EXTRA(WITH_POSITION));
    }
    return finish_mica(world, (now_ns() - start) / n);
}

static measurement create_8_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    Position *extra[MORE_COLUMNS] = {NULL};
    uint32_t capacity = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i) {
        uint32_t row = raw_create(&world);
        if (world.capacity != capacity) {
            capacity = world.capacity;
            for (uint32_t k = 0; k < MORE_COLUMNS; ++k)
                extra[k] = resized(extra[k], capacity * sizeof *extra[k]);
        }
        world.position[row] = position_of(i);
        world.velocity[row] = velocity_of(i);
        for (uint32_t k = 0; k < MORE_COLUMNS; ++k)
            extra[k][row] = position_of(i);
    }
    double time = (now_ns() - start) / n;
    for (uint32_t k = 0; k < MORE_COLUMNS; ++k)
        free(extra[k]);
    return finish_raw(&world, time);
}

static measurement add_remove_large_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity *ids = populate_mica(world, n, NULL);
    uint64_t sum = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i)
        mica_add(world, ids[i], Body)->values[3] = mass_of(i);
    for (uint32_t i = 0; i < n; ++i)
        sum += mica_remove(world, ids[i], Body);
    double time = (now_ns() - start) / n;
    free(ids);
    measurement result = finish_mica(world, time);
    result.checksum += sum;
    return result;
}

static measurement add_remove_large_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    raw_id *ids = populate_raw(&world, n, NULL);
    raw_pool bodies = {0};
    uint64_t sum = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i) {
        require(raw_is_alive(&world, ids[i]), "an entity is dead");
        Body *body = raw_pool_add(&bodies, ids[i].index, sizeof *body);
        *body = (Body){.values[3] = mass_of(i)};
    }
    for (uint32_t i = 0; i < n; ++i)
        sum += raw_is_alive(&world, ids[i]) && raw_pool_remove(&bodies, ids[i].index, sizeof(Body));
    double time = (now_ns() - start) / n;
    raw_pool_free(&bodies);
    free(ids);
    measurement result = finish_raw(&world, time);
    result.checksum += sum;
    return result;
}

static void count_seen(const mica_event *event)
{
    *(uint64_t *)event->context += event->count;
}

/* One observer of additions and one of removals. */
static measurement observers_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity *ids = populate_mica(world, n, NULL);
    uint64_t seen = 0;
    static const mica_event_kind kinds[] = {MICA_EVENT_ADD, MICA_EVENT_REMOVE};
    for (uint32_t i = 0; i < 2; ++i)
        mica_observer_add(
            world,
            &(mica_observer_def){.component = MICA_ID(Mass), .event = kinds[i], .fn = count_seen, .context = &seen});
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i)
        mica_set(world, ids[i], Mass, {mass_of(i)});
    for (uint32_t i = 0; i < n; ++i)
        mica_remove(world, ids[i], Mass);
    double time = (now_ns() - start) / n;
    free(ids);
    measurement result = finish_mica(world, time);
    result.checksum += seen;
    return result;
}

typedef void (*observe_fn)(raw_id id, void *context);

static void count_seen_raw(raw_id id, void *context)
{
    *(uint64_t *)context += id.generation != 0;
}

/* A list of functions for each event. */
static measurement observers_raw(uint32_t n)
{
    static observe_fn volatile on_add[] = {count_seen_raw}, on_remove[] = {count_seen_raw};
    raw_world world = raw_world_make();
    raw_id *ids = populate_raw(&world, n, NULL);
    uint64_t seen = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i) {
        raw_add_mass(&world, ids[i])->value = mass_of(i);
        on_add[0](ids[i], &seen);
    }
    for (uint32_t i = 0; i < n; ++i) {
        on_remove[0](ids[i], &seen);
        raw_remove_mass(&world, ids[i]);
    }
    double time = (now_ns() - start) / n;
    free(ids);
    measurement result = finish_raw(&world, time);
    result.checksum += seen;
    return result;
}

static measurement deferred_tag_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity *ids = populate_mica(world, n, NULL);
    mica_query *chosen = mica_query_create(world, MICA_QUERY(MICA_HAS(Chosen)));
    double start = now_ns();
    mica_defer(world);
    for (uint32_t i = 0; i < n; ++i)
        mica_add(world, ids[i], Chosen);
    mica_flush(world);
    uint64_t sum = mica_query_count(chosen);
    mica_defer(world);
    for (uint32_t i = 0; i < n; ++i)
        mica_remove(world, ids[i], Chosen);
    mica_flush(world);
    double time = (now_ns() - start) / n;
    sum += mica_query_count(chosen);
    free(ids);
    measurement result = finish_mica(world, time);
    result.checksum += sum;
    return result;
}

static measurement deferred_tag_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    raw_id *ids = populate_raw(&world, n, NULL);
    raw_queue queue = {0};
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i)
        raw_queue_add_mass(&queue, ids[i], (Mass){0});
    raw_queue_apply(&queue, &world);
    uint64_t sum = world.mass_count;
    for (uint32_t i = 0; i < n; ++i)
        raw_queue_remove_mass(&queue, ids[i]);
    raw_queue_apply(&queue, &world);
    double time = (now_ns() - start) / n;
    sum += world.mass_count;
    free(queue.changes);
    free(ids);
    measurement result = finish_raw(&world, time);
    result.checksum += sum;
    return result;
}

/* Changes of five kinds in turn: a new value, a component, a tag, a death, a new entity with a component. */
enum { SET, ADD, TAG, DESTROY, CREATE, CHANGE_KINDS };

static measurement deferred_mixed_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity *ids = populate_mica(world, n, NULL);
    double start = now_ns();
    mica_defer(world);
    for (uint32_t i = 0; i < n; ++i) {
        Position position = position_of(n - i);
        Velocity velocity = velocity_of(i);
        switch (i % CHANGE_KINDS) {
        case SET: mica_set_from(world, ids[i], Position, &position); break;
        case ADD: mica_set(world, ids[i], Mass, {mass_of(i)}); break;
        case TAG: mica_add(world, ids[i], Chosen); break;
        case DESTROY: mica_destroy(world, ids[i]); break;
        default:
            mica_create(world, MICA_FROM(Position, &position), MICA_FROM(Velocity, &velocity),
                        MICA_WITH(Mass, {mass_of(i)}));
        }
    }
    mica_flush(world);
    double time = (now_ns() - start) / n;
    mica_query *heavy = mica_query_create(world, MICA_QUERY(MICA_HAS(Mass))),
               *chosen = mica_query_create(world, MICA_QUERY(MICA_HAS(Chosen)));
    uint64_t sum = mica_query_count(heavy) + mica_query_count(chosen);
    free(ids);
    measurement result = finish_mica(world, time);
    result.checksum += sum;
    return result;
}

typedef struct mixed_change {
    uint32_t kind;
    raw_id id;
    Position position;
    Velocity velocity;
    Mass mass;
} mixed_change;

static void apply_mixed(raw_world *world, raw_pool *chosen, const mixed_change *change)
{
    uint32_t row;
    switch (change->kind) {
    case SET: *raw_get_position(world, change->id) = change->position; break;
    case ADD: *raw_add_mass(world, change->id) = change->mass; break;
    case TAG:
        if (raw_is_alive(world, change->id))
            *(uint32_t *)raw_pool_add(chosen, change->id.index, sizeof(uint32_t)) = 1;
        break;
    case DESTROY:
        raw_pool_remove(chosen, change->id.index, sizeof(uint32_t));
        raw_destroy(world, change->id);
        break;
    default:
        row = raw_create(world);
        world->position[row] = change->position;
        world->velocity[row] = change->velocity;
        *raw_add_mass(world, world->owner[row]) = change->mass;
    }
}

static measurement deferred_mixed_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    raw_id *ids = populate_raw(&world, n, NULL);
    raw_pool chosen = {0};
    mixed_change *changes = NULL;
    uint32_t count = 0, capacity = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i) {
        if (count == capacity) {
            capacity = capacity ? capacity * 2 : 64;
            changes = resized(changes, capacity * sizeof *changes);
        }
        changes[count++] = (mixed_change){i % CHANGE_KINDS, ids[i], position_of(n - i), velocity_of(i), {mass_of(i)}};
    }
    for (uint32_t i = 0; i < count; ++i)
        apply_mixed(&world, &chosen, &changes[i]);
    double time = (now_ns() - start) / n;
    uint64_t sum = world.mass_count + chosen.count;
    free(changes);
    raw_pool_free(&chosen);
    free(ids);
    measurement result = finish_raw(&world, time);
    result.checksum += sum;
    return result;
}

const workload shape_workloads[] = {
    {"create_8", 1000000, create_8_mica, create_8_raw, 1.6, UNIT_RATIO},
    {"add_remove_64_bytes", 100000, add_remove_large_mica, add_remove_large_raw, 1.6, UNIT_RATIO},
    {"observers_100k", 100000, observers_mica, observers_raw, 1.3, UNIT_RATIO},
    {"deferred_tag_100k", 100000, deferred_tag_mica, deferred_tag_raw, 2.0, UNIT_RATIO},
    {"deferred_mixed_100k", 100000, deferred_mixed_mica, deferred_mixed_raw, 2.0, UNIT_RATIO},
    {0},
};
