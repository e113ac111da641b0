#include "scene.h"

#include <stdio.h>

static scene *current; /* of the systems: a test plays one scene at a time */

static void scatter(mica_view *view)
{
    mica_random random = mica_random_of(view);
    Velocity *velocity = mica_view_write(view, Velocity);
    for (uint32_t i = 0; i < view->count; ++i)
        velocity[i].x += mica_random_range(&random, -1, 1);
}

static void move(mica_view *view)
{
    Position *position = mica_view_write(view, Position);
    const Velocity *velocity = mica_view_read(view, Velocity);
    for (uint32_t i = 0; i < view->count; ++i) {
        position[i].x += velocity[i].x * view->dt;
        if (position[i].x > 4 || position[i].x < -4)
            mica_stream_push(current->hits, Hit, {view->entities[i], position[i].x});
    }
}

static void live_and_die(mica_view *view)
{
    mica_random random = mica_random_of(view);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity self = view->entities[i];
        switch (mica_random_below(&random, 60)) {
        case 0: mica_create(view->world, MICA_WITH(Position, {1, 0, 0}), MICA_WITH(Velocity, {1, 0, 0})); break;
        case 1: mica_destroy(view->world, self); break;
        case 2: mica_set(view->world, self, Mass, {1}); break;
        case 3: mica_remove(view->world, self, Mass); break;
        case 4: mica_add(view->world, self, Frozen); break;
        case 5: mica_set(view->world, self, Poison, {2}); break;
        case 6: mica_set(view->world, self, Heat, {3}); break;
        case 7: mica_add(view->world, self, Marked); break;
        case 8: mica_remove(view->world, self, Marked); break;
        case 9: mica_send(view->world, self, Hit, {self, 1}); break;
        case 10: mica_request_post(current->questions, i % 3, self, Question, {self.index}); break;
        case 11: mica_set(view->world, self, Light, {(float)i, 1}); break;
        default: break;
        }
    }
}

static void thaw(mica_view *view)
{
    for (uint32_t i = 0; i < view->count; i += 2)
        mica_remove(view->world, view->entities[i], Frozen);
}

static void wither(mica_view *view)
{
    Poison *poison = mica_view_write(view, Poison);
    for (uint32_t i = 0; i < view->count; ++i) {
        poison[i].strength -= 0.25f;
        if (poison[i].strength < 0)
            mica_remove(view->world, view->entities[i], Poison);
    }
}

static void cool(mica_view *view)
{
    Heat *heat = mica_view_write(view, Heat);
    for (uint32_t i = 0; i < view->count; ++i)
        heat[i].degrees *= 0.5f;
}

static void count_changes(mica_view *view)
{
    Number *number = mica_view_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        ++number[i].value;
}

static void count_matrices(mica_view *view)
{
    Age *age = mica_view_write(view, Age);
    for (uint32_t i = 0; i < view->count; ++i)
        ++age[i].frames;
}

static void keep_score(const mica_frame *frame)
{
    Score *score = mica_singleton_write(frame->world, Score);
    uint32_t count;
    for (const Hit *hits; (hits = mica_stream_read(current->hits, Hit, &count));)
        for (uint32_t i = 0; i < count; ++i)
            score->hits += hits[i].target.index;
}

static void swing(mica_view *view)
{
    mica_local *local = mica_view_write(view, mica_local);
    for (uint32_t i = 0; i < view->count; ++i)
        if (view->entities[i].index % 4 == view->frame->tick % 4)
            local[i].position[0] += 0.5f;
}

static void suffer(const mica_message *message)
{
    Velocity *velocity = message->values;
    for (uint32_t i = 0; i < message->count; ++i)
        velocity[i].y += ((const Hit *)message->data)->force;
}

static void answer(const mica_request_group *group)
{
    Number *numbers = group->answers;
    const Question *questions = group->questions;
    for (uint32_t i = 0; i < group->count; ++i)
        numbers[i].value = questions[i].number % 10 + group->count;
}

static void add_systems(scene *scene)
{
    mica_world *world = scene->world;
    mica_stream *asked = mica_requests_stream(scene->questions);
    mica_system_add(world, MICA_SYSTEM(scatter, MICA_WRITE(Velocity)));
    mica_system_add(world, MICA_SYSTEM_WITH(move, (MICA_USES(MICA_USE_STREAM_WRITE(scene->hits))), MICA_WRITE(Position),
                                            MICA_READ(Velocity), MICA_WITHOUT(Frozen)));
    mica_system_add(world,
                    MICA_SYSTEM_WITH(live_and_die, (MICA_USES(MICA_USE_STREAM_WRITE(asked))), MICA_HAS(Position)));
    mica_system_add(world, MICA_SYSTEM(thaw, MICA_HAS(Frozen)));
    mica_system_add(world, MICA_SYSTEM(wither, MICA_WRITE(Poison)));
    mica_system_add(world, MICA_SYSTEM(cool, MICA_WRITE(Heat)));
    mica_system_add(world, MICA_SYSTEM(count_changes, MICA_WRITE(Number), MICA_CHANGED(Position)));
    mica_system_add(world, MICA_SYSTEM_WITH(swing, (.every_frames = 3), MICA_WRITE(mica_local)));
    mica_system_add(world, MICA_SYSTEM_WITH(count_matrices, (.phase = MICA_PHASE_BEGIN), MICA_WRITE(Age),
                                            MICA_CHANGED(mica_global_matrix)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(keep_score, (.phase = MICA_PHASE_END, MICA_TERMS(MICA_WRITE(Score)),
                                                              MICA_USES(MICA_USE_STREAM_READ(scene->hits)))));
    mica_transform_add_system(world, MICA_PHASE_END);
    mica_handler_add(world, MICA_HANDLER(Velocity, Hit, suffer));
}

void scene_open(scene *scene, uint32_t workers)
{
    mica_world_def def = mica_world_def_default();
    def.dead_target = MICA_DEAD_TARGET_IGNORE;
    def.chunk_bytes_first = 512;
    def.chunk_bytes_last = 16 << 10;
    current = scene;
    scene->world = open_world_with(&scene->heard, def);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = workers;
    flow.seed = 42;
    ck_assert_int_eq(mica_flow_configure(scene->world, &flow), MICA_OK);
    scene->hits = mica_stream_create(scene->world, MICA_STREAM_WITH(Hit, (.keep_frames = 2)));
    scene->questions = mica_requests_create(scene->world, MICA_REQUESTS(Question, Number, answer, NULL));
    scene->removals = mica_removals_create_id(scene->world, MICA_ID(Mass));
    ck_assert(scene->hits && scene->questions && scene->removals);
    add_systems(scene);
    mica_entity parent = mica_nil();
    for (uint32_t i = 0; i < 700; ++i) {
        mica_entity made = mica_create(scene->world, MICA_WITH(Position, {0}), MICA_WITH(Velocity, {1, 0, 0}));
        if (i % 3 == 0)
            mica_set(scene->world, made, Number, {i});
        if (i % 5 == 0)
            mica_set(scene->world, made, Item, {i, parent});
        if (i % 7 == 0) {
            mica_set(scene->world, made, mica_local, MICA_LOCAL_AT((float)i, 0, 0));
            mica_add(scene->world, made, mica_global_matrix);
            mica_set(scene->world, made, Age, {0});
            ck_assert_int_eq(mica_set_parent(scene->world, made, i % 35 ? parent : mica_nil()), MICA_OK);
            parent = made;
        }
    }
}

void scene_close(scene *scene)
{
    close_world(scene->world, &scene->heard);
}

/* A random entity that has a Position. */
static mica_entity random_entity(mica_world *world, random_source *random)
{
    mica_query *query = mica_query_create(world, &(mica_query_def){MICA_TERMS(MICA_HAS(Position))});
    uint64_t count = mica_query_count(query), wanted = count ? random_below(random, (uint32_t)count) : 0;
    mica_entity found = mica_nil();
    for (mica_view view = mica_query_begin(query); mica_is_nil(found) && mica_view_next(&view); wanted -= view.count)
        if (wanted < view.count)
            found = view.entities[wanted];
    mica_query_destroy(query);
    return found;
}

void scene_input(scene *scene, uint64_t number)
{
    mica_world *world = scene->world;
    random_source random = {number * 77 + 5};
    for (uint32_t i = random_below(&random, 6); i > 0; --i) {
        mica_entity entity = random_entity(world, &random), other = random_entity(world, &random);
        if (mica_is_nil(entity) || mica_is_nil(other))
            return;
        char name[16];
        snprintf(name, sizeof name, "n%u", random_below(&random, 20));
        switch (random_below(&random, 8)) {
        case 0: mica_set_parent(world, entity, other); break;
        case 1: mica_name_set(world, entity, mica_nil(), name); break;
        case 2: mica_pool_add(mica_pool_of_id(world, MICA_ID(Item)), entity); break;
        case 3: mica_destroy(world, entity); break;
        case 4: mica_send(world, entity, Hit, {other, 2}); break;
        case 5: mica_pool_gc(mica_pool_of_id(world, MICA_ID(Item)), 20); break;
        case 6: mica_stream_push(scene->hits, Hit, {other, 1}); break;
        default:
            for (uint32_t k = random_below(&random, 40); k > 0; --k)
                mica_create(world, MICA_WITH(Position, {(float)k, 0, 0}), MICA_WITH(Velocity, {1, 0, 0}),
                            MICA_WITH(Mass, {1}));
        }
    }
    mica_entity removed[8];
    while (random_one_in(&random, 2) && mica_removals_read(scene->removals, removed, 8))
        ++mica_singleton_write(world, Score)->changes;
    forget_reports(&scene->heard); /* cycles and names that are taken */
}

void scene_step(scene *scene)
{
    ck_assert_int_eq(mica_step(scene->world, 1.0f / 60), MICA_OK);
}
