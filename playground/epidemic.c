/* An epidemic on a network of contacts: the contacts are a relation, and infections are messages. As examples/cluster_epidemic.c, on a
 * map. */
#include "mica/index.h"
#include "mica/message.h"
#include "mica/relation.h"
#include "program.h"

#include <stdlib.h>

typedef enum State { SUSCEPTIBLE, ILL, IMMUNE } State;
typedef struct Home { float x, y; } Home;
typedef struct Health { State state; int32_t days; } Health; /* days in this state */
typedef struct Cough { int32_t count; } Cough;
typedef struct Disease { float risk, days_ill, days_immune; } Disease;
MICA_ENUM(State, SUSCEPTIBLE, ILL, IMMUNE)
MICA_COMPONENT(Home, x, y)
MICA_COMPONENT(Health, (state, State), days)
MICA_STRUCT(Cough, count)
MICA_SINGLETON(Disease, risk, days_ill, days_immune)
MICA_RELATION_WITH(Knows, (.symmetric = true))

enum { WIDTH = 200, HEIGHT = 110, PERSONS = 2400, CONTACTS = 3, NEAREST = 12, VISITOR_DAYS = 40 };
enum { FAR_CONTACTS, RISK, DAYS_ILL, DAYS_IMMUNE };

static const uint32_t state_colors[] = {0x8a94a6ff, 0xe02424ff, 0x0e9f6eff}, cough_color = 0xe0242450;
static mica_query *persons;

/* The ill cough at those they know. */
static void meet(mica_view *view)
{
    const Disease *disease = mica_singleton_get(view->world, Disease);
    const Health *health = mica_view_read(view, Health);
    mica_random random = mica_random_of(view);
    for (uint32_t i = 0; i < view->count; ++i)
        if (health[i].state == ILL)
            for (mica_edges at = mica_targets(view->world, view->entities[i], Knows); mica_edge_next(&at);)
                if (mica_random_range(&random, 0, 100) < disease->risk)
                    mica_send(view->world, at.entity, Cough, {1});
}

/* Called after the system above: messages are delivered when the frame ends. */
static void take_cough(const mica_message *message)
{
    Health *health = message->values;
    for (uint32_t i = 0; i < message->count; ++i)
        if (health[i].state == SUSCEPTIBLE)
            health[i] = (Health){.state = ILL};
}

/* Time heals, immunity ends, and now and then a visitor brings the disease again. */
static void pass_a_day(mica_view *view)
{
    const Disease *disease = mica_singleton_get(view->world, Disease);
    Health *health = mica_view_write(view, Health);
    mica_random random = mica_random_of(view);
    for (uint32_t i = 0; i < view->count; ++i) {
        float days = (float)++health[i].days;
        if (health[i].state == ILL && days > disease->days_ill)
            health[i] = (Health){.state = IMMUNE};
        else if (health[i].state == IMMUNE && days > disease->days_immune)
            health[i] = (Health){.state = SUSCEPTIBLE};
        else if (health[i].state == SUSCEPTIBLE && mica_random_below(&random, PERSONS * VISITOR_DAYS) == 0)
            health[i] = (Health){.state = ILL};
    }
}

/* Relates a person to some of the nearest ones, and sometimes to one far away. */
static void add_contacts(mica_world *world, const mica_index *map, const mica_entity *all, uint32_t person,
                         float far_contacts, mica_random *random)
{
    const Home *home = mica_get(world, all[person], Home);
    mica_neighbour near[NEAREST];
    uint32_t count = mica_grid_nearest(map, (mica_point){(double)home->x, (double)home->y, 0}, near, NEAREST);
    for (int i = 0; i < CONTACTS && count; ++i) {
        bool is_far = mica_random_range(random, 0, 100) < far_contacts;
        mica_entity other =
            is_far ? all[mica_random_below(random, PERSONS)] : near[mica_random_below(random, count)].entity;
        if (!mica_same(other, all[person]))
            mica_relate(world, all[person], Knows, other);
    }
}

/* Most persons live in the towns, which lie anywhere. */
static Home find_home(mica_random *random, uint32_t person)
{
    mica_random town = mica_random_make(7, person % 14);
    float size = person % 5 ? 16 : 400;
    float x = mica_random_range(&town, 12, WIDTH - 12), y = mica_random_range(&town, 12, HEIGHT - 12);
    x += size * (mica_random_unit(random) + mica_random_unit(random) - 1);
    y += size * (mica_random_unit(random) + mica_random_unit(random) - 1);
    bool is_inside = x > 2 && x < WIDTH - 2 && y > 2 && y < HEIGHT - 2;
    return is_inside ? (Home){x, y} : find_home(random, person);
}

static bool create_persons(mica_world *world, float far_contacts)
{
    mica_entity *all = calloc(PERSONS, sizeof *all);
    mica_random random = mica_random_make(1, 0);
    for (uint32_t i = 0; all && i < PERSONS; ++i) {
        Home home = find_home(&random, i);
        all[i] = mica_create(world, MICA_WITH(Home, {home.x, home.y}),
                             MICA_WITH(Health, {i % 600 == 1 ? ILL : SUSCEPTIBLE, 0}));
    }
    mica_index *map = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Home),
                                                                 .fields = "x, y",
                                                                 .cell_size = 5,
                                                                 .maximum = {WIDTH, HEIGHT},
                                                                 .location = MICA_HERE});
    bool fine = all && map && mica_index_update(map) == MICA_OK;
    for (uint32_t i = 0; fine && i < PERSONS; ++i)
        add_contacts(world, map, all, i, far_contacts, &random);
    mica_index_destroy(map);
    free(all);
    return fine;
}

static void adjust_disease(mica_world *world, const float *values)
{
    Disease *disease = mica_singleton_write(world, Disease);
    if (disease)
        *disease = (Disease){values[RISK], values[DAYS_ILL], values[DAYS_IMMUNE]};
}

static bool start_epidemic(mica_world *world, const float *values)
{
    adjust_disease(world, values);
    mica_define(world, Knows);
    mica_handler_add(world, MICA_HANDLER(Health, Cough, take_cough));
    mica_system_add(
        world, MICA_SYSTEM_WITH(meet, (MICA_USES(MICA_USE_READ(Knows), MICA_USE_READ(Disease))), MICA_READ(Health)));
    mica_system_add(world, MICA_SYSTEM_WITH(pass_a_day, (MICA_USES(MICA_USE_READ(Disease))), MICA_WRITE(Health)));
    persons = mica_query_create(world, MICA_QUERY(MICA_READ(Home), MICA_READ(Health)));
    return persons && create_persons(world, values[FAR_CONTACTS]) && mica_world_take_error(world) == MICA_OK;
}

static void draw_coughs(mica_world *world, picture *picture, mica_entity person, const Home *home)
{
    for (mica_edges at = mica_targets(world, person, Knows); mica_edge_next(&at);) {
        const Home *other = mica_get(world, at.entity, Home);
        if (mica_get(world, at.entity, Health)->state == SUSCEPTIBLE)
            picture_add(picture, (mark){home->x, home->y, other->x - home->x, other->y - home->y, 0.25f, cough_color});
    }
}

static void draw_epidemic(mica_world *world, picture *picture)
{
    for (int state = SUSCEPTIBLE; state <= IMMUNE; ++state) {
        for (mica_view view = mica_query_begin(persons); mica_view_next(&view);) {
            const Home *home = mica_view_read(&view, Home);
            const Health *health = mica_view_read(&view, Health);
            for (uint32_t i = 0; i < view.count; ++i) {
                if ((int)health[i].state != state)
                    continue;
                ++picture->numbers[state];
                picture_add(picture, (mark){.x = home[i].x,
                                            .y = home[i].y,
                                            .size = state == ILL ? 1.1f : 0.8f,
                                            .color = state_colors[state]});
                if (state == ILL)
                    draw_coughs(world, picture, view.entities[i], &home[i]);
            }
        }
    }
}

const program epidemic_program = {
    .name = "epidemic",
    .shows =
        "The ill infect the persons they know, mostly their neighbours. Contacts are edges of a relation, infections "
        "are messages; both are stored in the world and rewind with it.",
    .sources = "epidemic.c",
    .width = WIDTH,
    .height = HEIGHT,
    .frames_per_second = 12,
    .frame_seconds = 1,
    .parameters = {{"far contacts in %", 0, 30, 1, 3, true},
                   {"risk in % a day", 0, 40, 1, 5, false},
                   {"days ill", 1, 30, 1, 8, false},
                   {"days immune", 0, 200, 5, 60, false}},
    .numbers = {{"susceptible", 0x8a94a6ff}, {"ill", 0xe02424ff}, {"immune", 0x0e9f6eff}},
    .start = start_epidemic,
    .adjust = adjust_disease,
    .draw = draw_epidemic,
};
