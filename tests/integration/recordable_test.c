/* Every operation that changes the world, while changes are recorded: inside a system, inside mica_defer and inside a hook. It has the
 * result there that it has at once, or it is refused with a report and changes nothing. */
#include "mica/disable.h"
#include "mica/flow.h"
#include "mica/hierarchy.h"
#include "mica/snapshot.h"
#include "support/components.h"
#include "support/faulty_allocator.h"
#include "support/reports.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static reports heard;

typedef struct Item {
    uint32_t number;
} Item;
MICA_POOL_WITH(Item, (.many = true), number)
typedef struct Fire {
    uint32_t number;
} Fire;
MICA_POOL(Fire, number)
MICA_POOL_TAG(Marked)
MICA_TAG(Trigger)

/* One entity of everything, numbered by their creation. */
enum { ROOT = 0, CHILD, GRANDCHILD, OTHER, RICH, ENTITIES };

typedef struct scene {
    mica_world *world;
    mica_entity entities[ENTITIES];
    mica_query *all;
    mica_query *frozen;
} scene;

/* The observer of events: it adds to the health of the entity, which shows how often and in which order it was called. */
static void heal(const mica_event *event)
{
    const Health *old = mica_get(event->world, event->entities[0], Health);
    int32_t more = event->data ? ((const Health *)event->data)->current : 1;
    mica_set(event->world, event->entities[0], Health, {(old ? old->current : 0) * 3 + more, 0});
}

static scene scene_open(uint32_t workers)
{
    scene scene = {.world = open_world(&heard)};
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = workers;
    ck_assert_int_eq(mica_flow_configure(scene.world, &flow), MICA_OK);
    for (uint32_t i = 0; i < ENTITIES; ++i)
        scene.entities[i] = mica_create(scene.world, MICA_WITH(Number, {i}));
    mica_set_parent(scene.world, scene.entities[CHILD], scene.entities[ROOT]);
    mica_set_parent(scene.world, scene.entities[GRANDCHILD], scene.entities[CHILD]);
    mica_name_set(scene.world, scene.entities[ROOT], mica_nil(), "root");
    mica_name_set(scene.world, scene.entities[CHILD], scene.entities[ROOT], "child");
    mica_set(scene.world, scene.entities[RICH], Health, {1, 2});
    mica_set(scene.world, scene.entities[RICH], Fire, {9});
    mica_add(scene.world, scene.entities[OTHER], Frozen);
    for (uint32_t i = 0; i < 4; ++i)
        mica_add_instance(scene.world, scene.entities[RICH], Item)->number = 10 + i;
    mica_observer_add(scene.world, &(mica_observer_def){.event = MICA_EVENT_USER, .fn = heal});
    scene.all = mica_query_create(scene.world, &(mica_query_def){.with_hidden = true});
    scene.frozen = mica_query_create(scene.world, MICA_QUERY(MICA_HAS(Frozen), MICA_READ(Number)));
    return scene;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int number_of(const mica_world *world, mica_entity entity)
{
    const Number *number = mica_is_nil(entity) ? NULL : mica_get(world, entity, Number);
    return number ? (int)number->value : -1;
}

/* Everything that a program can see of an entity, without handles: those of recorded creations are others. */
static char *describe(const mica_world *world, mica_entity entity)
{
    enum { BYTES = 512 };
    char *text = malloc(BYTES);
    const char *name = mica_name_get(world, entity);
    const Health *health = mica_get(world, entity, Health);
    const Fire *fire = mica_get(world, entity, Fire);
    int length = snprintf(
        text, BYTES, "%d below %d before %d, %u children, %s in %d, health %d %d, fire %d,", number_of(world, entity),
        number_of(world, mica_parent(world, entity)), number_of(world, mica_next_sibling(world, entity)),
        mica_child_count(world, entity), name ? name : "-", number_of(world, mica_name_get_scope(world, entity)),
        health ? health->current : -1, mica_is_enabled(world, entity, Health), fire ? (int)fire->number : -1);
    length += snprintf(text + length, BYTES - (size_t)length, " frozen %d marked %d disabled %d, items",
                       mica_has(world, entity, Frozen), mica_has(world, entity, Marked),
                       mica_entity_is_disabled(world, entity));
    const mica_pool *pool = mica_pool_of((mica_world *)(uintptr_t)world, Item);
    for (mica_instance at = mica_pool_find(pool, entity); !mica_instance_is_nil(at); at = mica_pool_next(pool, at))
        length += snprintf(text + length, BYTES - (size_t)length, " %u", mica_instance_read(pool, at, Item)->number);
    return text;
}

/* One line for each entity, in alphabetical order. */
static char *summary(const scene *scene)
{
    enum { LINES_MAX = 64 };
    char *lines[LINES_MAX];
    uint32_t count = 0;
    for (mica_view view = mica_query_begin(scene->all); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            ck_assert(count < LINES_MAX);
            if (!mica_has(scene->world, view.entities[i], Trigger))
                lines[count++] = describe(scene->world, view.entities[i]);
        }
    qsort(lines, count, sizeof *lines, compare_lines);
    char *text = calloc(1, (size_t)count * 512 + 1);
    for (uint32_t i = 0; i < count; ++i) {
        strcat(strcat(text, lines[i]), "\n");
        free(lines[i]);
    }
    return text;
}

/* Each returns whether the call was accepted. */
typedef bool (*operation_fn)(scene *scene);

static bool create(scene *scene)
{
    return !mica_is_nil(mica_create(scene->world, MICA_WITH(Number, {50}), MICA_WITH(Fire, {3}), MICA_WITH(Frozen)));
}
static bool create_many(scene *scene)
{
    return mica_create_many(scene->world, 3, NULL, 0, NULL) == MICA_OK;
}
static bool create_child(scene *scene)
{
    return !mica_is_nil(mica_create_child(scene->world, scene->entities[CHILD], MICA_WITH(Number, {60})));
}
static bool destroy(scene *scene)
{
    return mica_destroy(scene->world, scene->entities[CHILD]);
}
static bool destroy_many(scene *scene)
{
    return mica_destroy_many(scene->world, scene->entities + GRANDCHILD, 2) == 2;
}
static bool destroy_with(scene *scene)
{
    return mica_destroy_with(scene->world, scene->entities[ROOT], MICA_ORPHANS_STAY);
}
static bool destroy_children(scene *scene)
{
    return mica_destroy_children(scene->world, scene->entities[ROOT]) == 1;
}
static bool add(scene *scene)
{
    mica_add(scene->world, scene->entities[OTHER], Health)->current = 4;
    return mica_add(scene->world, scene->entities[RICH], Frozen) &&
           mica_add(scene->world, scene->entities[ROOT], Marked);
}
static bool set(scene *scene)
{
    return mica_set(scene->world, scene->entities[RICH], Health, {7, 8}) &&
           mica_set(scene->world, scene->entities[ROOT], Fire, {5}) &&
           mica_set(scene->world, scene->entities[RICH], Item, {99});
}
static bool remove_components(scene *scene)
{
    return mica_remove(scene->world, scene->entities[OTHER], Frozen) &&
           mica_remove(scene->world, scene->entities[RICH], Fire) &&
           mica_remove(scene->world, scene->entities[RICH], Item);
}
static bool disable(scene *scene)
{
    return mica_disable(scene->world, scene->entities[RICH], Health);
}
static bool entity_disable(scene *scene)
{
    return mica_entity_disable(scene->world, scene->entities[RICH]);
}
static bool tree_disable(scene *scene)
{
    return mica_tree_disable(scene->world, scene->entities[ROOT]) == 3;
}
static bool clone(scene *scene)
{
    return !mica_is_nil(mica_clone(scene->world, scene->entities[RICH]));
}
static bool clone_tree(scene *scene)
{
    return !mica_is_nil(mica_clone_tree(scene->world, scene->entities[ROOT]));
}
static bool name(scene *scene)
{
    return mica_name_set(scene->world, scene->entities[OTHER], scene->entities[ROOT], "other") == MICA_OK;
}
static bool rename_chain(scene *scene)
{
    return mica_name_set(scene->world, scene->entities[ROOT], mica_nil(), "first") == MICA_OK &&
           mica_name_set(scene->world, scene->entities[RICH], mica_nil(), "root") == MICA_OK &&
           mica_name_set(scene->world, scene->entities[ROOT], mica_nil(), "first") == MICA_OK &&
           mica_name_set(scene->world, scene->entities[ROOT], mica_nil(), "last") == MICA_OK;
}
static bool remove_name(scene *scene)
{
    return mica_name_set(scene->world, scene->entities[CHILD], mica_nil(), NULL) == MICA_OK &&
           mica_name_set(scene->world, scene->entities[OTHER], mica_nil(), "") == MICA_OK;
}
static bool name_created(scene *scene)
{
    mica_entity created = mica_create(scene->world, MICA_WITH(Number, {70}));
    return mica_name_set(scene->world, created, scene->entities[OTHER], "new") == MICA_OK;
}
static bool name_child(scene *scene)
{
    return mica_name_child(scene->world, scene->entities[GRANDCHILD], "grandchild") == MICA_OK;
}
static bool name_the_dying(scene *scene)
{
    return mica_name_set(scene->world, scene->entities[OTHER], mica_nil(), "dying") == MICA_OK &&
           mica_destroy(scene->world, scene->entities[OTHER]);
}
static bool set_parent(scene *scene)
{
    return mica_set_parent(scene->world, scene->entities[CHILD], scene->entities[OTHER]) == MICA_OK;
}
static bool set_parents(scene *scene)
{
    mica_entity parents[2] = {scene->entities[OTHER], scene->entities[RICH]};
    return mica_set_parents(scene->world, scene->entities + CHILD, parents, 2) == MICA_OK;
}
static bool detach_children(scene *scene)
{
    return mica_detach_children(scene->world, scene->entities[ROOT]) == MICA_OK;
}
static bool place(scene *scene)
{
    return mica_place_before(scene->world, scene->entities[OTHER], scene->entities[CHILD]) == MICA_OK &&
           mica_place_after(scene->world, scene->entities[RICH], scene->entities[CHILD]) == MICA_OK;
}
static bool add_instance(scene *scene)
{
    Item *first = mica_add_instance(scene->world, scene->entities[RICH], Item);
    first->number = 20;
    Item *second = mica_add_instance(scene->world, scene->entities[ROOT], Item);
    second->number = 21;
    return first && second;
}
static mica_instance nth_item(const scene *scene, uint32_t nth)
{
    const mica_pool *pool = mica_pool_of(scene->world, Item);
    mica_instance at = mica_pool_find(pool, scene->entities[RICH]);
    while (nth-- > 0)
        at = mica_pool_next(pool, at);
    return at;
}
static bool remove_instance(scene *scene)
{
    return mica_pool_remove(mica_pool_of(scene->world, Item), nth_item(scene, 1)) &&
           mica_add_instance(scene->world, scene->entities[RICH], Item);
}
static bool remove_only_instance(scene *scene)
{
    const mica_pool *pool = mica_pool_of(scene->world, Fire);
    return mica_pool_remove((mica_pool *)(uintptr_t)pool, mica_pool_find(pool, scene->entities[RICH]));
}
static bool pool_add(scene *scene)
{
    return !mica_instance_is_nil(mica_pool_add(mica_pool_of(scene->world, Item), scene->entities[OTHER]));
}
static int by_number(const void *a, const void *b, void *context)
{
    (void)context;
    return (int)((const Number *)a)->value - (int)((const Number *)b)->value;
}
static bool pool_sort(scene *scene)
{
    return mica_pool_sort(mica_pool_of(scene->world, Fire), by_number, NULL) == MICA_OK;
}
static bool group(scene *scene)
{
    return mica_group(scene->world, Fire, Fire) == MICA_OK;
}
static bool emit(scene *scene)
{
    mica_value first = MICA_WITH(Health, {5, 0}), second = MICA_WITH(Health, {7, 0});
    return mica_event_emit(scene->world, MICA_EVENT_USER, 0, scene->entities[RICH], first) &&
           mica_event_emit(scene->world, MICA_EVENT_USER, 0, scene->entities[RICH], second) &&
           mica_event_emit(scene->world, MICA_EVENT_USER, 0, scene->entities[OTHER], (mica_value){0});
}
static bool propagate(scene *scene)
{
    mica_value data = MICA_WITH(Health, {5, 0});
    return mica_set(scene->world, scene->entities[CHILD], Health, {4, 0}) &&
           mica_event_propagate(scene->world, MICA_EVENT_USER, 0, scene->entities[GRANDCHILD], data) &&
           mica_event_propagate(scene->world, MICA_EVENT_USER, 0, scene->entities[CHILD], data);
}
static bool add_all(scene *scene)
{
    return mica_add_all_tag(scene->all, Marked) == MICA_OK;
}
static bool remove_all(scene *scene)
{
    return mica_remove_all(scene->frozen, Frozen) == MICA_OK;
}
static bool destroy_all(scene *scene)
{
    return mica_destroy_all(scene->frozen) == MICA_OK;
}
static bool sort_rows(scene *scene)
{
    return mica_query_sort_rows(scene->frozen, MICA_ID(Number), by_number, NULL) == MICA_OK;
}
static bool clear(scene *scene)
{
    return mica_world_clear(scene->world) == MICA_OK;
}
static bool snapshot(scene *scene)
{
    return mica_snapshot_take(scene->world).id != 0;
}

typedef struct operation {
    const char *name;
    operation_fn run;
    bool is_refused;
} operation;

static const operation operations[] = {
    {"mica_create", create, false},
    {"mica_create_many", create_many, false},
    {"mica_create_child", create_child, false},
    {"mica_destroy", destroy, false},
    {"mica_destroy_many", destroy_many, false},
    {"mica_destroy_with", destroy_with, false},
    {"mica_destroy_children", destroy_children, false},
    {"mica_destroy_all", destroy_all, false},
    {"mica_add", add, false},
    {"mica_add_all", add_all, false},
    {"mica_add_instance", add_instance, false},
    {"mica_set", set, false},
    {"mica_remove", remove_components, false},
    {"mica_remove_all", remove_all, false},
    {"mica_disable", disable, false},
    {"mica_entity_disable", entity_disable, false},
    {"mica_tree_disable", tree_disable, false},
    {"mica_clone", clone, false},
    {"mica_clone_tree", clone_tree, false},
    {"mica_name_set", name, false},
    {"mica_name_set, a name that another gives up", rename_chain, false},
    {"mica_name_set without a name", remove_name, false},
    {"mica_name_set of a created entity", name_created, false},
    {"mica_name_set before a destruction", name_the_dying, false},
    {"mica_name_child", name_child, false},
    {"mica_set_parent", set_parent, false},
    {"mica_set_parents", set_parents, false},
    {"mica_detach_children", detach_children, false},
    {"mica_place_before, mica_place_after", place, false},
    {"mica_event_emit", emit, false},
    {"mica_event_propagate", propagate, false},
    {"mica_pool_add", pool_add, true},
    {"mica_pool_remove of one of many", remove_instance, false},
    {"mica_pool_remove of the only one", remove_only_instance, false},
    {"mica_pool_sort", pool_sort, true},
    {"mica_group", group, true},
    {"mica_query_sort_rows", sort_rows, true},
    {"mica_world_clear", clear, true},
    {"mica_snapshot_take", snapshot, true},
};

/* What runs inside of systems and hooks. */
static struct {
    const operation *operation;
    scene *scene;
    bool was_accepted;
} now;

static void run_now(void)
{
    now.was_accepted = now.operation->run(now.scene);
}

static void run_in_system(const mica_frame *frame)
{
    (void)frame;
    run_now();
}

static void run_in_hook(const mica_event *event)
{
    (void)event;
    run_now();
}

typedef enum way { IN_SYSTEM, IN_DEFER, IN_HOOK, WAYS } way;
static const char *const ways[WAYS] = {"a system", "mica_defer", "a hook"};

static void run_recording(scene *scene, const operation *operation, way way)
{
    now.operation = operation;
    now.scene = scene;
    now.was_accepted = false;
    switch (way) {
    case IN_SYSTEM:
        mica_system_add(scene->world,
                        MICA_SYSTEM_ONCE_WITH(run_in_system, (MICA_TERMS(MICA_READ(Number), MICA_READ(Health),
                                                                         MICA_READ(Fire), MICA_READ(Item)))));
        mica_step(scene->world, 1);
        break;
    case IN_DEFER:
        mica_defer(scene->world);
        run_now();
        mica_flush(scene->world);
        break;
    default:
        mica_hook_set(scene->world, Trigger, MICA_EVENT_ADD, run_in_hook, NULL);
        mica_create(scene->world, MICA_WITH(Trigger));
        break;
    }
}

START_TEST(operations_have_the_result_they_have_at_once_or_are_refused)
{
    const operation *operation = &operations[_i];
    for (way way = 0; way < WAYS; ++way) {
        if (operation->is_refused && way == IN_SYSTEM && STOPS_AT_MISTAKES)
            continue;
        scene at_once = scene_open(0);
        if (!operation->is_refused)
            ck_assert_msg(operation->run(&at_once), "%s at once", operation->name);
        char *expected = summary(&at_once);
        close_world(at_once.world, &heard);
        scene recorded = scene_open(0);
        run_recording(&recorded, operation, way);
        ck_assert_msg(now.was_accepted != operation->is_refused, "%s in %s: accepted %d", operation->name, ways[way],
                      now.was_accepted);
        if (operation->is_refused)
            expect_report(&heard, MICA_ERROR_REFUSED, "");
        char *found = summary(&recorded);
        ck_assert_msg(strcmp(expected, found) == 0, "%s in %s:\n%s\ninstead of\n%s", operation->name, ways[way], found,
                      expected);
        free(expected);
        free(found);
        close_world(recorded.world, &heard);
    }
}
END_TEST

enum { BABIES = 300 };

static struct {
    faulty_allocator allocator;
    uint64_t fail_at;
    mica_result result;
} nursery;

static void give_birth(const mica_frame *frame)
{
    static Number numbers[BABIES];
    faulty_allocator_fail_at(&nursery.allocator, nursery.fail_at, false);
    nursery.result = mica_create_many(frame->world, BABIES, (mica_value[]){MICA_COLUMN(Number, numbers)}, 1, NULL);
    faulty_allocator_fail_at(&nursery.allocator, 0, false);
}

/* A system has a buffer of its own, with a stock of handles. */
START_TEST(a_system_creates_all_or_none)
{
    faulty_allocator_init(&nursery.allocator);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&nursery.allocator);
    mica_world *world = open_world_with(&heard, def);
    mica_create(world, MICA_WITH(Number, {1}));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(give_birth, (MICA_TERMS(MICA_READ(Number)))));
    nursery.result = MICA_ERROR_MEMORY;
    for (nursery.fail_at = 1; nursery.result != MICA_OK; ++nursery.fail_at) {
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
        ck_assert(nursery.result == MICA_OK || nursery.result == MICA_ERROR_MEMORY);
        ck_assert_uint_eq(mica_world_get_stats(world).entity_count, nursery.result == MICA_OK ? BABIES + 1 : 1);
        ck_assert_int_eq(mica_world_validate(world), MICA_OK);
        forget_reports(&heard);
    }
    ck_assert_uint_gt(nursery.fail_at, 3);
    close_world(world, &heard);
    faulty_allocator_free(&nursery.allocator);
}
END_TEST

enum { CROWD = 3000 };

static void name_self(mica_view *view)
{
    char text[32];
    const Number *number = mica_view_read(view, Number);
    for (uint32_t i = 0; i < view->count; ++i) {
        if (number[i].value % 100)
            continue;
        snprintf(text, sizeof text, "%u", number[i].value % 2000);
        ck_assert_int_eq(mica_name_set(view->world, view->entities[i], mica_nil(), text), MICA_OK);
    }
}

static void change_items(mica_view *view)
{
    mica_pool *pool = mica_pool_of(view->world, Item);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_instance second = mica_pool_next(pool, mica_pool_find(pool, view->entities[i]));
        mica_add_instance(view->world, view->entities[i], Item)->number =
            mica_instance_read(pool, second, Item)->number;
        ck_assert(mica_pool_remove(pool, second));
        ck_assert_msg(!mica_pool_remove(pool, second), "once");
    }
}

static mica_query *crowd;

/* On several threads at once: creations of many, and a change of all that a query shows. */
static void change_crowd(mica_view *view)
{
    Fire fires[3];
    const Number *number = mica_view_read(view, Number);
    for (uint32_t i = 0; i < view->count; ++i) {
        if (number[i].value % 50)
            continue;
        for (uint32_t k = 0; k < 3; ++k)
            fires[k].number = number[i].value + k;
        ck_assert_int_eq(mica_create_many(view->world, 3, (mica_value[]){MICA_COLUMN(Fire, fires)}, 1, NULL), MICA_OK);
        if (number[i].value % 1000 == 0)
            ck_assert_int_eq(mica_add_all(crowd, Mass, {(float)number[i].value}), MICA_OK);
    }
}

/* The hash of a world in which systems recorded names, instances and bulk changes, many of which meet. */
static uint64_t run_crowd(uint32_t workers)
{
    mica_world *world = open_world(&heard);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = workers;
    ck_assert_int_eq(mica_flow_configure(world, &flow), MICA_OK);
    for (uint32_t i = 0; i < CROWD; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Number, {i}));
        for (uint32_t k = 0; k < 3; ++k)
            mica_add_instance(world, entity, Item)->number = 3 * i + k;
    }
    mica_system_add(world, MICA_SYSTEM_WITH(name_self, (.parallel = MICA_PARALLEL_EVEN), MICA_READ(Number)));
    mica_system_add(world,
                    MICA_SYSTEM_WITH(change_items, (.parallel = MICA_PARALLEL_EVEN, MICA_USES(MICA_USE_READ(Item))),
                                     MICA_READ(Number)));
    mica_define(world, Fire);
    mica_define(world, Mass);
    crowd = mica_query_create(world, MICA_QUERY(MICA_HAS(Number), MICA_WITHOUT(Mass)));
    mica_system_add(world, MICA_SYSTEM_WITH(change_crowd, (.parallel = MICA_PARALLEL_EVEN), MICA_READ(Number)));
    mica_step(world, 1);
    ck_assert_uint_eq(mica_query_count(crowd), 0);
    for (uint32_t i = 0; i < (CROWD - 2000) / 100; ++i) /* the first has the name */
        expect_report(&heard, MICA_ERROR_EXISTS, "belongs to entity");
    mica_step(world, 1);
    forget_reports(&heard);
    uint64_t hash = mica_world_hash(world);
    close_world(world, &heard);
    return hash;
}

START_TEST(the_order_does_not_depend_on_the_number_of_workers)
{
    uint64_t hash = run_crowd(0);
    ck_assert_uint_eq(run_crowd(1), hash);
    ck_assert_uint_eq(run_crowd(4), hash);
}
END_TEST

static void name_wrongly(const mica_frame *frame)
{
    const scene *scene = now.scene;
    mica_world *world = frame->world;
    ck_assert_int_eq(mica_name_set(world, mica_nil(), mica_nil(), "a"), MICA_ERROR_DEAD);
    ck_assert_int_eq(mica_name_set(world, scene->entities[OTHER], scene->entities[OTHER], "a"), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_name_set(world, scene->entities[OTHER], mica_nil(), "a/b"), MICA_ERROR_INVALID);
    mica_destroy(world, scene->entities[RICH]);
    ck_assert_int_eq(mica_name_set(world, scene->entities[OTHER], scene->entities[RICH], "a"), MICA_ERROR_DEAD);
    ck_assert_int_eq(mica_name_set(world, scene->entities[OTHER], mica_nil(), "root"), MICA_OK);
    ck_assert(!mica_pool_remove(mica_pool_of(world, Item), (mica_instance){0}));
    ck_assert_ptr_null(mica_add_instance(world, scene->entities[OTHER], Fire));
}

START_TEST(recorded_mistakes_are_reported)
{
    scene scene = scene_open(0);
    now.scene = &scene;
    mica_pool_of(scene.world, Item);
    mica_system_add(scene.world, MICA_SYSTEM_ONCE(name_wrongly));
    ck_assert_int_eq(mica_step(scene.world, 1), MICA_ERROR_EXISTS);
    expect_report(&heard, MICA_ERROR_DEAD, "name");
    expect_report(&heard, MICA_ERROR_INVALID, "its own scope");
    expect_report(&heard, MICA_ERROR_INVALID, "contains a '/'");
    expect_report(&heard, MICA_ERROR_DEAD, "name: scope");
    expect_report(&heard, MICA_ERROR_INVALID, "not for many instances");
    expect_report(&heard, MICA_ERROR_EXISTS, "\"root\" belongs to entity");
    ck_assert_ptr_null(mica_name_get(scene.world, scene.entities[OTHER]));
    ck_assert_ptr_null(mica_add_instance(scene.world, scene.entities[OTHER], Fire));
    expect_report(&heard, MICA_ERROR_INVALID, "not for many instances");
    ck_assert_ptr_null(mica_add_instance(scene.world, scene.entities[OTHER], Number));
    expect_report(&heard, MICA_ERROR_INVALID, "not kept in a pool");
    ck_assert_ptr_null(mica_add_instance(scene.world, mica_nil(), Item));
    expect_report(&heard, MICA_ERROR_DEAD, "pool_add");
    close_world(scene.world, &heard);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("recordable");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, operations_have_the_result_they_have_at_once_or_are_refused, 0, COUNT_OF(operations));
    tcase_add_test(cases, the_order_does_not_depend_on_the_number_of_workers);
    tcase_add_test(cases, recorded_mistakes_are_reported);
    tcase_add_test(cases, a_system_creates_all_or_none);
    return test_run("recordable", cases);
}
