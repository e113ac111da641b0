/* The scene: systems of all kinds over components in all storages, for some ticks. The hash of the world after each tick is what
 * must be the same everywhere. */
#include "conformance.h"
#include "mica/math.h"
#include "mica/snapshot.h"
#include "mica/transform.h"
#include "parts.h"

enum { CROWD = 6000 };

static void scatter(mica_view *view)
{
    mica_random random = mica_random_of(view);
    Speed *speed = mica_view_write(view, Speed);
    for (uint32_t i = 0; i < view->count; ++i) {
        float angle = mica_random_range(&random, 0, 6.2831853f);
        speed[i].x += mica_cosf(angle) * 0.3f;
        speed[i].y += mica_sinf(angle) * 0.3f;
    }
}

static void move(mica_view *view)
{
    Place *location = mica_view_write(view, Place);
    const Speed *speed = mica_view_read(view, Speed);
    for (uint32_t i = 0; i < view->count; ++i) { /* a multiplication and an addition that must not be fused */
        location[i].x += speed[i].x * view->dt;
        location[i].y += speed[i].y * view->dt;
    }
}

static void slow_down(uint32_t count, void *const *columns)
{
    Speed *speed = columns[0];
    for (uint32_t i = 0; i < count; ++i) {
        float length = mica_sqrtf(speed[i].x * speed[i].x + speed[i].y * speed[i].y) + 1e-6f;
        speed[i].x -= speed[i].x / length * 0.01f;
        speed[i].y -= speed[i].y / length * 0.01f;
    }
}

static void age(mica_entity entity, void *const *columns, void *context)
{
    (void)context;
    Being *being = columns[0];
    ++being->age;
    being->weight *= 1 + 1e-3 / (1 + entity.index % 5);
    being->mood = being->age % 3 ? MOOD_CALM : MOOD_ANGRY;
}

static void breed(mica_view *view)
{
    mica_random random = mica_random_of(view);
    const Place *location = mica_view_read(view, Place);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity entity = view->entities[i];
        uint32_t dice = mica_random_below(&random, 200);
        if (dice < 3)
            mica_create(view->world, MICA_WITH(Place, {location[i].x, 1}), MICA_WITH(Speed, {0, 1}));
        else if (dice < 6)
            mica_destroy(view->world, entity);
        else if (dice < 9)
            mica_command_set(mica_view_commands(view), entity, Heat, {location[i].y});
        else if (dice < 11)
            mica_add_instance(view->world, entity, Item)->kind = dice;
        else if (dice < 13)
            mica_add(view->world, entity, Asleep);
        else if (dice < 15)
            mica_set(view->world, entity, Grain, {location[i].x, 1});
    }
}

static void wake(mica_view *view)
{
    for (uint32_t i = 0; i < view->count; i += 2)
        mica_remove(view->world, view->entities[i], Asleep);
}

static void cool(mica_view *view)
{
    Heat *heat = mica_view_write(view, Heat);
    for (uint32_t i = 0; i < view->count; ++i)
        if ((heat[i].degrees *= 0.8f) < 0.05f)
            mica_remove(view->world, view->entities[i], Heat);
}

static void flow(mica_view *view)
{
    float *x = mica_view_write_field(view, Grain, x);
    const float *v = mica_view_read_field(view, Grain, v);
    for (uint32_t i = 0; i < view->count; ++i)
        x[i] += v[i] * 0.1f;
}

/* Reads components of other entities, which no system writes at the same time. */
static void follow(mica_view *view)
{
    Being *being = mica_view_write(view, Being);
    for (uint32_t i = 0; i < view->count; ++i) {
        const Place *there = mica_get(view->world, being[i].friend, Place);
        being[i].path[0].x = there ? mica_atan2f(there->y, there->x) : -1;
    }
}

static void turn(mica_view *view)
{
    mica_local *local = mica_view_write(view, mica_local);
    float half = (float)view->frame->tick * 0.02f;
    for (uint32_t i = 0; i < view->count; i += 5) {
        local[i].rotation[1] = mica_sinf(half);
        local[i].rotation[3] = mica_cosf(half);
    }
}

static void add_place(mica_view *view, void *sum, void *context)
{
    (void)context;
    const Place *location = mica_view_read(view, Place);
    for (uint32_t i = 0; i < view->count; ++i)
        *(double *)sum += (double)location[i].x * 1e-3;
}

static void add_sums(void *sum, const void *later, void *context)
{
    (void)context;
    *(double *)sum += *(const double *)later;
}

static void total(const mica_frame *frame)
{
    static const double zero;
    Total *total = mica_singleton_write(frame->world, Total);
    mica_reduce_query(frame->query,
                      &(mica_reduction){.zero = &zero, .bytes = sizeof zero, .view = add_place, .combine = add_sums},
                      &total->sum);
    total->seen += mica_query_count(frame->query);
}

static void see_changes(mica_view *view)
{
    Count *count = mica_view_write(view, Count);
    for (uint32_t i = 0; i < view->count; ++i)
        if (++count[i].value % 16 == 0)
            mica_command_disable(mica_view_commands(view), view->entities[i], Count);
}

static void collect(const mica_frame *frame)
{
    mica_pool_gc(mica_pool_of(frame->world, Seen), 64);
    mica_remove_all(frame->query, Shown);
}

static void count_death(const mica_event *seen)
{
    mica_singleton_write(seen->world, Total)->deaths += seen->count;
}

static void add_systems(mica_world *world)
{
    mica_system_add(world, MICA_SYSTEM(scatter, MICA_WRITE(Speed)));
    mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Place), MICA_READ(Speed), MICA_WITHOUT(Asleep)));
    mica_system_add(world, MICA_SYSTEM(slow_down, MICA_WRITE(Speed)));
    mica_system_add(world, MICA_SYSTEM(age, MICA_WRITE(Being)));
    mica_system_add(world,
                    MICA_SYSTEM_WITH(breed, (.parallel = MICA_PARALLEL_EVEN), MICA_READ(Place), MICA_HAS(Speed)));
    mica_system_add(world,
                    MICA_SYSTEM_WITH(wake, (.parallel = MICA_PARALLEL_EVERY, .parallel_rows = 100), MICA_HAS(Asleep)));
    mica_system_add(world, MICA_SYSTEM(cool, MICA_WRITE(Heat)));
    mica_system_add(world, MICA_SYSTEM(flow, MICA_WRITE(Grain)));
    mica_system_add(world, MICA_SYSTEM_WITH(follow, (MICA_USES(MICA_USE_READ(Place))), MICA_WRITE(Being)));
    mica_system_add(world, MICA_SYSTEM(turn, MICA_WRITE(mica_local)));
    mica_system_add(world,
                    MICA_SYSTEM_WITH(see_changes, (.phase = MICA_PHASE_FIXED), MICA_WRITE(Count), MICA_CHANGED(Place)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(
                               total, (MICA_TERMS(MICA_READ(Place), MICA_WRITE(Total)), .phase = MICA_PHASE_END)));
    mica_system_add(world,
                    MICA_SYSTEM_ONCE_WITH(collect, (.exclusive = true, .phase = MICA_PHASE_END, .every_frames = 4,
                                                    MICA_TERMS(MICA_HAS(Shown), MICA_DISABLED(Count)))));
    mica_transform_add_system(world, MICA_PHASE_END);
    mica_observer_add(world, MICA_OBSERVER_DESTROY(count_death));
}

static void populate(mica_world *world)
{
    mica_entity last = mica_nil();
    for (uint32_t i = 0; i < CROWD; ++i) {
        mica_entity made = mica_create(world, MICA_WITH(Place, {(float)i, 0}), MICA_WITH(Speed, {0, 1}));
        if (i % 5 == 0)
            mica_set(world, made, Being, {.friend = last, .weight = 60, .skills = SKILL_SING, .title = "singer"});
        if (i % 11 == 0)
            mica_set(world, made, Count, {i % 97});
        if (i % 13 == 0)
            mica_add(world, made, Shown);
        if (i % 3 == 0)
            mica_set(world, made, Heat, {(float)(i % 13)});
        if (i % 7 == 0)
            mica_set(world, made, Seen, {i});
        if (i % 17 == 0)
            mica_set(world, made, Wear, {i});
        if (i % 19 == 0) {
            mica_set(world, made, mica_local, MICA_LOCAL_AT(1, 2, 3));
            mica_add(world, made, mica_global_matrix);
            mica_set_parent(world, made, i % 57 ? last : mica_nil());
            last = made;
        }
    }
}

static uint64_t play_tick(mica_world *world, uint32_t tick)
{
    EXPECT(mica_step(world, tick % 4 == 3 ? 1.0f / 30 : 1.0f / 60) == MICA_OK);
    return mica_world_hash(world);
}

/* Goes back some ticks and plays them again: the outcome is what it was. */
static void play_again(mica_world *world, mica_history *history, uint32_t from, uint32_t to, uint64_t hash)
{
    EXPECT(mica_history_restore(history, from) == MICA_OK);
    uint64_t again = 0;
    for (uint32_t tick = from; tick <= to; ++tick)
        again = play_tick(world, tick);
    EXPECT(again == hash);
}

void play_scene(uint32_t worker_count, uint32_t tick_count)
{
    mica_world *world = open_world();
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = worker_count;
    def.seed = 42;
    EXPECT(mica_flow_configure(world, &def) == MICA_OK);
    add_systems(world);
    populate(world);
    mica_history *history = mica_history_create(world, 6);
    for (uint32_t tick = 0; tick < tick_count; ++tick) {
        EXPECT(mica_history_take(history, tick) == MICA_OK);
        uint64_t hash = play_tick(world, tick);
        print_hash("tick", tick, hash);
        if (tick % 10 == 9)
            play_again(world, history, tick - 4, tick, hash);
    }
    close_world(world, 0);
}
