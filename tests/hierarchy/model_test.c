/* Random changes of a tree, at once and recorded in three buffers, copies and disabling of subtrees, and events that go up, against a
 * tree of plain arrays that is searched by brute force. MICA_SEED and MICA_STEPS set another or a longer run. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/require.h"
#include "../support/test.h"
#include "mica/disable.h"
#include "mica/hierarchy.h"
#include "mica/observer.h"

#include <stdio.h>
#include <string.h>

enum { NODES = 48, BUFFERS = 3, ACTIONS_MAX = 64 };

typedef enum kind { SET_PARENT, BEFORE, AFTER, WORD, DESTROY } kind;

typedef struct action {
    kind kind;
    int node;
    int other; /* -1: nil; for WORD the mica_orphans */
} action;

typedef struct node {
    bool alive;
    bool unborn; /* created in the recording under way */
    bool disabled;
    int children[NODES];
    int child_count;
    int parent; /* -1 */
    int word;   /* -1, or a mica_orphans for the flush under way */
} node;

typedef struct model {
    mica_world *world;
    mica_commands *commands[BUFFERS]; /* [0]: the world's own */
    random_source random;
    mica_entity handles[NODES];
    node nodes[NODES];
    mica_orphans orphans;
    bool recording;
    action actions[BUFFERS][ACTIONS_MAX];
    int action_counts[BUFFERS];
    bool doomed[BUFFERS][NODES]; /* destroyed by this buffer */
    int told[NODES];             /* where an event arrived, in order */
    int told_count;
    int stop_after; /* so many arrivals; 0: it goes up to the root */
} model;

static uint64_t reported;
static void count_report(const mica_report *report, void *context)
{
    (void)report;
    (void)context;
    ++reported;
}

/* The naive tree. */

static void cut(model *model, int at)
{
    node *node = &model->nodes[at];
    if (node->parent < 0)
        return;
    struct node *above = &model->nodes[node->parent];
    int location = 0;
    while (above->children[location] != at)
        ++location;
    memmove(above->children + location, above->children + location + 1,
            (size_t)(above->child_count - location - 1) * sizeof(int));
    --above->child_count;
    node->parent = -1;
}

static void insert(model *model, int at, int parent, int location)
{
    node *above = &model->nodes[parent];
    memmove(above->children + location + 1, above->children + location,
            (size_t)(above->child_count - location) * sizeof(int));
    above->children[location] = at;
    ++above->child_count;
    model->nodes[at].parent = parent;
}

static bool is_within(const model *model, int at, int top)
{
    for (; at >= 0; at = model->nodes[at].parent)
        if (at == top)
            return true;
    return false;
}

static int place_of(const model *model, int at)
{
    const node *above = &model->nodes[model->nodes[at].parent];
    int location = 0;
    while (above->children[location] != at)
        ++location;
    return location;
}

/* Whether the link makes sense, and makes it then. */
static bool link_naively(model *model, action action)
{
    int at = action.node, parent = action.kind == SET_PARENT ? action.other : model->nodes[action.other].parent;
    if (at == action.other || (action.kind != SET_PARENT && parent < 0) ||
        (parent >= 0 && is_within(model, parent, at)))
        return false;
    if (action.kind == SET_PARENT && parent == model->nodes[at].parent)
        return true;
    cut(model, at);
    if (parent >= 0)
        insert(model, at, parent,
               action.kind == SET_PARENT ? model->nodes[parent].child_count
                                         : place_of(model, action.other) + (action.kind == AFTER));
    return true;
}

/* Marks what dies with a node; `dying` has room for all. */
static void doom_below(const model *model, int at, bool *dying)
{
    for (int i = 0; i < model->nodes[at].child_count; ++i) {
        int child = model->nodes[at].children[i];
        dying[child] = true;
        if (model->nodes[child].word != MICA_ORPHANS_STAY)
            doom_below(model, child, dying);
    }
}

static void doom(const model *model, int at, bool *dying)
{
    int word = model->nodes[at].word >= 0 ? model->nodes[at].word : (int)model->orphans;
    dying[at] = true;
    if (word == MICA_ORPHANS_DIE)
        doom_below(model, at, dying);
}

static void bury(model *model, const bool *dying)
{
    for (int at = 0; at < NODES; ++at) {
        if (!dying[at])
            continue;
        cut(model, at);
        while (model->nodes[at].child_count)
            cut(model, model->nodes[at].children[0]);
        model->nodes[at].alive = model->nodes[at].unborn = false;
    }
}

/* Steps. */

static int any_living(model *model)
{
    int start = (int)random_below(&model->random, NODES);
    for (int i = 0; i < NODES; ++i)
        if (model->nodes[(start + i) % NODES].alive)
            return (start + i) % NODES;
    return -1;
}

static void create(model *model, int buffer)
{
    int at = 0, parent = any_living(model);
    while (at < NODES && model->nodes[at].alive)
        ++at;
    if (at == NODES)
        return;
    model->nodes[at] = (node){.alive = true, .parent = -1, .word = -1, .unborn = model->recording};
    bool is_child = parent >= 0 && random_one_in(&model->random, 2) && !(model->recording && buffer != 0) &&
                    !model->doomed[0][parent];
    if (is_child)
        model->handles[at] = mica_create_child(model->world, model->handles[parent], MICA_WITH(Number, {(uint32_t)at}));
    else if (model->recording && buffer)
        model->handles[at] = mica_command_create(model->commands[buffer], MICA_WITH(Number, {(uint32_t)at}));
    else
        model->handles[at] = mica_create(model->world, MICA_WITH(Number, {(uint32_t)at}));
    REQUIRE(!mica_is_nil(model->handles[at]));
    action link = {SET_PARENT, at, parent};
    if (is_child && model->recording)
        model->actions[0][model->action_counts[0]++] = link;
    else if (is_child)
        REQUIRE(link_naively(model, link));
}

static mica_result link_now(model *model, action action)
{
    mica_entity other = action.other < 0 ? mica_nil() : model->handles[action.other];
    switch (action.kind) {
    case SET_PARENT: return mica_set_parent(model->world, model->handles[action.node], other);
    case BEFORE: return mica_place_before(model->world, model->handles[action.node], other);
    default: return mica_place_after(model->world, model->handles[action.node], other);
    }
}

static bool link_later(model *model, action action, int buffer)
{
    mica_entity other = action.other < 0 ? mica_nil() : model->handles[action.other];
    if (buffer == 0)
        return link_now(model, action) == MICA_OK;
    if (action.kind == SET_PARENT)
        return mica_command_set_parent(model->commands[buffer], model->handles[action.node], other);
    return mica_command_place_id(model->commands[buffer], model->handles[action.node], other, action.kind == AFTER,
                                 MICA_HERE);
}

static void link_some(model *model, int buffer)
{
    action action = {(kind)random_below(&model->random, 3), any_living(model), any_living(model)};
    if (action.node < 0)
        return;
    if (action.kind == SET_PARENT && random_one_in(&model->random, 4))
        action.other = -1;
    if (!model->recording) {
        mica_result expected = link_naively(model, action) ? MICA_OK : MICA_ERROR_INVALID;
        REQUIRE(link_now(model, action) == expected);
        return;
    }
    bool sense = action.node != action.other && !model->doomed[buffer][action.node] &&
                 !(action.other >= 0 && model->doomed[buffer][action.other]);
    REQUIRE(link_later(model, action, buffer) == sense);
    if (sense)
        model->actions[buffer][model->action_counts[buffer]++] = action;
}

static int subtree_size(const model *model, int at)
{
    int size = 1;
    for (int i = 0; i < model->nodes[at].child_count; ++i)
        size += subtree_size(model, model->nodes[at].children[i]);
    return size;
}

static int free_count(const model *model)
{
    int count = 0;
    for (int at = 0; at < NODES; ++at)
        count += !model->nodes[at].alive;
    return count;
}

/* Copies the naive tree below a node, in the order in which a walk through the copy visits it. Returns the copy of the node. */
static int copy_naively(model *model, int from, int parent, mica_entity root, mica_entity *copy)
{
    int at = 0;
    while (model->nodes[at].alive)
        ++at;
    model->nodes[at] = (node){.alive = true, .parent = -1, .word = -1, .disabled = model->nodes[from].disabled};
    model->handles[at] = *copy;
    REQUIRE(!mica_is_nil(*copy) && mica_get(model->world, *copy, Number)->value == (uint32_t)from);
    mica_set(model->world, *copy, Number, {(uint32_t)at});
    if (parent >= 0)
        insert(model, at, parent, model->nodes[parent].child_count);
    *copy = mica_tree_next(model->world, root, *copy);
    for (int i = 0; i < model->nodes[from].child_count; ++i)
        copy_naively(model, model->nodes[from].children[i], at, root, copy);
    return at;
}

static void clone_some(model *model)
{
    int from = any_living(model);
    if (from < 0 || subtree_size(model, from) > free_count(model))
        return;
    mica_entity root = mica_clone_tree(model->world, model->handles[from]), copy = root;
    copy_naively(model, from, -1, root, &copy);
    REQUIRE(mica_is_nil(copy));
}

static uint32_t disable_naively(model *model, int at, bool disabled)
{
    uint32_t changed = model->nodes[at].disabled != disabled;
    model->nodes[at].disabled = disabled;
    for (int i = 0; i < model->nodes[at].child_count; ++i)
        changed += disable_naively(model, model->nodes[at].children[i], disabled);
    return changed;
}

static void disable_some(model *model)
{
    int at = any_living(model);
    if (at < 0)
        return;
    bool disabled = random_one_in(&model->random, 2);
    uint32_t changed = disable_naively(model, at, disabled);
    mica_entity root = model->handles[at];
    REQUIRE((disabled ? mica_tree_disable(model->world, root) : mica_tree_enable(model->world, root)) == changed);
}

enum { CALL = MICA_EVENT_USER };

static void on_call(const mica_event *event)
{
    model *model = event->context;
    REQUIRE(model->told_count < NODES);
    model->told[model->told_count++] = (int)mica_get(event->world, event->entities[0], Number)->value;
    if (model->told_count == model->stop_after)
        REQUIRE(mica_event_stop(event));
}

static void propagate_some(model *model)
{
    int at = any_living(model), count = 0;
    if (at < 0)
        return;
    model->told_count = 0;
    model->stop_after = (int)random_below(&model->random, 4);
    REQUIRE(mica_event_propagate(model->world, CALL, 0, model->handles[at], (mica_value){0}));
    for (; at >= 0 && (!model->stop_after || count < model->stop_after); at = model->nodes[at].parent, ++count)
        REQUIRE(count < model->told_count && model->told[count] == at);
    REQUIRE(count == model->told_count);
}

static void destroy_some(model *model, int buffer)
{
    int at = any_living(model), word = (int)random_below(&model->random, 4) - 2;
    if (at < 0)
        return;
    mica_entity entity = model->handles[at];
    mica_commands *commands = model->commands[buffer];
    bool done = word < 0 ? (commands ? mica_command_destroy(commands, entity) : mica_destroy(model->world, entity))
                         : (commands ? mica_command_destroy_with(commands, entity, (mica_orphans)word)
                                     : mica_destroy_with(model->world, entity, (mica_orphans)word));
    if (model->recording) {
        REQUIRE(done != model->doomed[buffer][at]);
        if (done && word >= 0)
            model->actions[buffer][model->action_counts[buffer]++] = (action){WORD, at, word};
        if (done)
            model->actions[buffer][model->action_counts[buffer]++] = (action){DESTROY, at, -1};
        model->doomed[buffer][at] = true;
        return;
    }
    REQUIRE(done);
    bool dying[NODES] = {false};
    model->nodes[at].word = word >= 0 ? word : -1;
    doom(model, at, dying);
    bury(model, dying);
}

/* First the links and words of all buffers, in order; then the deaths. */
static void flush(model *model)
{
    bool sense = true, dying[NODES] = {false};
    for (int buffer = 0; buffer < BUFFERS; ++buffer)
        for (int i = 0; i < model->action_counts[buffer]; ++i) {
            action action = model->actions[buffer][i];
            if (action.kind == WORD)
                model->nodes[action.node].word = action.other;
            else if (action.kind != DESTROY)
                sense &= link_naively(model, action);
        }
    for (int buffer = 0; buffer < BUFFERS; ++buffer)
        for (int i = 0; i < model->action_counts[buffer]; ++i)
            if (model->actions[buffer][i].kind == DESTROY)
                doom(model, model->actions[buffer][i].node, dying);
    bury(model, dying);
    REQUIRE(mica_flush(model->world) == (sense ? MICA_OK : MICA_ERROR_INVALID));
    memset(model->action_counts, 0, sizeof model->action_counts);
    memset(model->doomed, 0, sizeof model->doomed);
    for (int at = 0; at < NODES; ++at) {
        model->nodes[at].unborn = false;
        model->nodes[at].word = -1;
    }
    model->recording = false;
}

/* Comparing. */

static int number_of(const model *model, mica_entity entity)
{
    return mica_is_nil(entity) ? -1 : (int)mica_get(model->world, entity, Number)->value;
}

static void expect_node(const model *model, int at)
{
    const node *node = &model->nodes[at];
    const mica_world *world = model->world;
    mica_entity entity = model->handles[at];
    REQUIRE(number_of(model, mica_parent(world, entity)) == node->parent);
    REQUIRE((int)mica_child_count(world, entity) == node->child_count);
    mica_entity forward = mica_first_child(world, entity), backward = mica_last_child(world, entity);
    for (int i = 0; i < node->child_count; ++i) {
        REQUIRE(number_of(model, forward) == node->children[i]);
        REQUIRE(number_of(model, backward) == node->children[node->child_count - 1 - i]);
        forward = mica_next_sibling(world, forward);
        backward = mica_previous_sibling(world, backward);
    }
    REQUIRE(mica_is_nil(forward) && mica_is_nil(backward));
    REQUIRE(mica_entity_is_disabled(world, entity) == node->disabled);
    int depth = 0, root = at;
    for (; model->nodes[root].parent >= 0; root = model->nodes[root].parent)
        ++depth;
    REQUIRE((int)mica_depth(world, entity) == depth);
    REQUIRE(number_of(model, mica_root(world, entity)) == root);
    int walked = 0, within = 0;
    for (mica_entity below = entity; !mica_is_nil(below); below = mica_tree_next(world, entity, below), ++walked)
        REQUIRE(is_within(model, number_of(model, below), at));
    for (int other = 0; other < NODES; ++other)
        within += model->nodes[other].alive && is_within(model, other, at);
    REQUIRE(walked == within);
}

static void expect_alike(model *model)
{
    if (random_one_in(&model->random, 32)) /* it walks every slot */
        REQUIRE(mica_world_validate(model->world) == MICA_OK);
    for (int at = 0; at < NODES; ++at) {
        if (!mica_is_nil(model->handles[at]))
            REQUIRE_SAYING(mica_is_alive(model->world, model->handles[at]) == model->nodes[at].alive, "node %d", at);
        if (model->nodes[at].alive && !model->nodes[at].unborn)
            expect_node(model, at);
    }
}

static void step(model *model)
{
    uint32_t dice = random_below(&model->random, 100);
    int buffer = model->recording ? (int)random_below(&model->random, BUFFERS) : 0;
    if (model->action_counts[buffer] > ACTIONS_MAX - 4 || (dice < 8 && model->recording)) {
        flush(model);
    } else if (dice < 8) {
        mica_defer(model->world);
        model->recording = true;
    } else if (dice < 38) {
        create(model, buffer);
    } else if (dice < 80) {
        link_some(model, buffer);
    } else if (dice < 85 && !model->recording) {
        void (*const steps[])(struct model *) = {clone_some, disable_some, propagate_some};
        steps[random_below(&model->random, 3)](model);
    } else if (dice < 85) {
        link_some(model, buffer);
    } else if (dice < 97) {
        destroy_some(model, buffer);
    } else if (!model->recording) {
        model->orphans = (mica_orphans)random_below(&model->random, 2);
        mica_set_orphans(model->world, model->orphans);
        if (random_one_in(&model->random, 10))
            mica_world_trim(model->world);
    }
}

START_TEST(a_tree_is_what_a_naive_tree_is)
{
    uint64_t seed = setting_from_environment("MICA_SEED", 1);
    uint64_t steps = setting_from_environment("MICA_STEPS", UNDER_SANITIZER ? 5000 : 60000);
    for (uint64_t run = seed; run < seed + 4; ++run) {
        static model model;
        model = (struct model){.random = {run}};
        mica_world_def def = mica_world_def_default();
        def.report = count_report;
        def.chunk_bytes_first = def.chunk_bytes_last = 512;
        def.dead_target = MICA_DEAD_TARGET_IGNORE;
        model.world = mica_world_create(&def);
        for (int buffer = 1; buffer < BUFFERS; ++buffer)
            model.commands[buffer] = mica_commands_create(model.world);
        mica_observer_add(model.world, &(mica_observer_def){.event = CALL, .fn = on_call, .context = &model});
        for (uint64_t i = 0; i < steps; ++i) {
            step(&model);
            if (!model.recording || random_one_in(&model.random, 16))
                expect_alike(&model);
        }
        flush(&model);
        expect_alike(&model);
        mica_world_destroy(model.world);
    }
    ck_assert_msg(reported > 0, "some steps are invalid");
}
END_TEST

TEST_SUITE(model, a_tree_is_what_a_naive_tree_is)
