/* Random agents that move, jump, breed, die, hit each other, and gain and lose components of all kinds. What they do follows from their own
 * values, so that the model also runs in a plain world, which finds neighbours by comparing all with all. */
#include "models.h"
#include "mica/split.h"
#include "mica/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Position { float x, y; } Position;
typedef struct Agent { uint64_t seed; uint32_t met; int32_t energy; uint32_t hits; } Agent;
typedef struct Label { mica_text text; mica_list marks; } Label;
typedef struct Armour { uint32_t plates; bool is_heavy; } Armour;
typedef struct Wound { int32_t depth; } Wound;
typedef struct Spin { float x, y; uint8_t kind; } Spin;
typedef struct Hit { int32_t force; bool is_hard; } Hit;
MICA_COMPONENT(Position, x, y)
MICA_COMPONENT(Agent, seed, met, energy, hits)
MICA_COMPONENT(Label, text, (marks, uint32_t))
MICA_COMPONENT_WITH(Armour, (.toggle = true), plates, is_heavy)
MICA_POOL_WITH(Wound, (.many = true), depth)
MICA_COMPONENT_WITH(Spin, (.split = true), x, y, kind)
MICA_TAG(Calm)
MICA_STRUCT(Hit, force, is_hard)

enum { SIZE = 40, REACH = 3, NEAR_MAX = 4096 };

static mica_cluster *the_cluster;
static uint64_t the_tick;

/* What an agent sees of another. */
typedef struct seen {
    Position position;
    uint64_t seed;
    uint64_t identity;
    mica_entity entity; /* of a plain world */
    uint32_t armour;    /* 1 + plates; 0: none */
    uint32_t label;     /* of all that is in it; 0: none */
} seen;

static seen *plain_agents; /* of a plain world, as they were when the step began */
static uint32_t plain_count;
static struct {
    mica_entity target;
    Hit hit;
} * plain_hits;
static uint32_t plain_hit_count;

static uint32_t word_of(const Label *label)
{
    uint64_t word = 1;
    for (const char *at = label ? mica_text_get(&label->text) : ""; *at; ++at)
        word = mix(word, (unsigned char)*at);
    const uint32_t *marks = label ? mica_list_items(&label->marks, uint32_t) : NULL;
    for (uint32_t i = 0; label && i < mica_list_count(&label->marks); ++i)
        word = mix(word, marks[i]);
    return label ? (uint32_t)word & 0xFFFF : 0;
}

static uint32_t see(mica_entity entity, const Position *own, seen *out)
{
    uint32_t count = 0;
    if (the_cluster) {
        static _Thread_local mica_cluster_neighbour near[NEAR_MAX];
        count = mica_cluster_around(the_cluster, entity, REACH, near, NEAR_MAX);
        for (uint32_t i = 0; i < count; ++i) {
            const Agent *agent = mica_cluster_read(the_cluster, &near[i], MICA_ID(Agent));
            const Armour *armour = mica_cluster_read(the_cluster, &near[i], MICA_ID(Armour));
            out[i] = (seen){.seed = agent->seed,
                            .identity = near[i].identity,
                            .armour = armour ? 1 + armour->plates : 0,
                            .label = word_of(mica_cluster_read(the_cluster, &near[i], MICA_ID(Label)))};
        }
        return count;
    }
    for (uint32_t i = 0; i < plain_count; ++i) {
        double x = (double)plain_agents[i].position.x - own->x, y = (double)plain_agents[i].position.y - own->y;
        if (x * x + y * y <= REACH * REACH && !mica_same(plain_agents[i].entity, entity))
            out[count++] = plain_agents[i];
    }
    return count;
}

static void hit(mica_world *world, mica_entity from, const seen *target, Hit hit)
{
    (void)world;
    if (the_cluster)
        mica_cluster_send(the_cluster, from, target->identity, (mica_value)MICA_FROM(Hit, &hit));
    else
        plain_hits[plain_hit_count].target = target->entity, plain_hits[plain_hit_count++].hit = hit;
}

static void take_hit(const mica_message *message)
{
    Agent *agents = message->values;
    const Hit *hit = message->data;
    for (uint32_t i = 0; i < message->count; ++i) {
        agents[i].energy -= hit->force;
        agents[i].hits = agents[i].hits * 31 + (uint32_t)hit->force * 2 + hit->is_hard; /* the order matters */
    }
}

static void change_components(mica_world *world, mica_entity entity, const Agent *agent, uint64_t choice)
{
    char text[64];
    snprintf(text, sizeof text, "agent %016llx at tick %llu", (unsigned long long)agent->seed,
             (unsigned long long)the_tick);
    switch (choice % 24) {
    case 0: mica_add(world, entity, Calm); break;
    case 1:
        if (mica_has(world, entity, Calm))
            mica_remove(world, entity, Calm);
        break;
    case 2: mica_set(world, entity, Label, {.text = mica_text_of(text + choice / 24 % 20)}); break;
    case 3:
        if (mica_has(world, entity, Label))
            mica_remove(world, entity, Label);
        break;
    case 4: mica_set(world, entity, Armour, {(uint32_t)choice >> 10 & 3, choice & 1 << 8}); break;
    case 5:
        if (mica_has(world, entity, Armour))
            mica_enable_id(world, entity, MICA_ID(Armour), choice & 1 << 9);
        break;
    case 6:
        ((Wound *)mica_add_instance_id(world, entity, MICA_ID(Wound)))->depth = (int32_t)(choice >> 8 & 0xFF);
        break;
    case 7:
        if (mica_has(world, entity, Wound))
            mica_remove(world, entity, Wound);
        break;
    case 8: mica_set(world, entity, Spin, {(float)(choice & 0xFF), 2, (uint8_t)(choice >> 9)}); break;
    case 9:
        snprintf(text, sizeof text, "n%016llx", (unsigned long long)agent->seed);
        mica_name_set(world, entity, mica_nil(), text);
        break;
    case 10:
        if (mica_has(world, entity, Armour))
            mica_remove(world, entity, Armour);
        break;
    default: break;
    }
}

static void act(mica_view *view)
{
    Position *position = mica_view_write(view, Position);
    Agent *agent = mica_view_write(view, Agent);
    static _Thread_local seen others[NEAR_MAX];
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity entity = view->entities[i];
        uint64_t chance = mix(agent[i].seed, the_tick), lowest = 0;
        uint32_t count = see(entity, &position[i], others);
        for (uint32_t k = 0; k < count; ++k) {
            agent[i].met += (uint32_t)(others[k].seed & 0xFFFF) + others[k].armour + others[k].label;
            lowest = others[k].seed < others[lowest].seed ? k : lowest;
        }
        agent[i].energy += 2 - (int32_t)(count > 6 ? 6 : count) / 2;
        if (count && chance % 4 == 0)
            hit(view->world, entity, &others[lowest], (Hit){1 + (int32_t)(chance >> 8 & 1), chance >> 9 & 1});
        position[i].x += (float)(chance >> 10 & 0xFF) / 256 - 0.498f;
        position[i].y += (float)(chance >> 18 & 0xFF) / 256 - 0.498f;
        if ((chance >> 26) % 40 == 0)
            position[i] =
                (Position){(float)(chance >> 32 & 0xFFF) / 4096 * SIZE, (float)(chance >> 44 & 0xFFF) / 4096 * SIZE};
        if (agent[i].energy <= 0) {
            mica_destroy(view->world, entity);
            continue;
        }
        if (agent[i].energy > 24) {
            agent[i].energy /= 3;
            mica_create(view->world, MICA_WITH(Position, {position[i].x, position[i].y}),
                        MICA_WITH(Agent, {.seed = mix(agent[i].seed, the_tick + 77), .energy = agent[i].energy}));
        }
        change_components(view->world, entity, &agent[i], mix(chance, 5));
    }
}

/* Lists grow, and shrink again. */
static void mark(mica_view *view)
{
    Label *label = mica_view_write(view, Label);
    const Agent *agent = mica_view_read(view, Agent);
    for (uint32_t i = 0; i < view->count; ++i) {
        if (mica_list_count(&label[i].marks) > 5)
            mica_list_clear(&label[i].marks, uint32_t);
        *mica_list_append(&label[i].marks, uint32_t) = agent[i].met;
    }
}

static mica_cluster *create(mica_world *world, const settings *settings)
{
    if (!settings->is_plain)
        the_cluster = mica_cluster_create(
            world,
            &(mica_cluster_def){
                .grid = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 2, .maximum = {SIZE, SIZE}},
                .reach = REACH,
                .ghosts = (const mica_component[]){MICA_ID(Agent), MICA_ID(Calm), MICA_ID(Armour), MICA_ID(Label)},
                .ghost_count = 4,
                .messages = (const mica_component[]){MICA_ID(Hit)},
                .message_count = 1,
                .balance_steps = settings->balance,
                .seed = settings->seed,
                .time_limit_seconds = settings->hangs != UINT64_MAX ? 2 : 60});
    mica_define(world, Label), mica_define(world, Armour), mica_define(world, Wound), mica_define(world, Spin);
    mica_define(world, Calm);
    mica_handler_add(world, MICA_HANDLER(Agent, Hit, take_hit));
    mica_system_add(world, MICA_SYSTEM(act, MICA_WRITE(Position), MICA_WRITE(Agent)));
    mica_system_add(world, MICA_SYSTEM(mark, MICA_WRITE(Label), MICA_READ(Agent)));
    if (settings->resume)
        return the_cluster;
    uint32_t count = settings->agents + (the_cluster && mica_cluster_rank(the_cluster) == settings->differs);
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t seed = mix(settings->seed, i + 1);
        Position position = {(float)(seed & 0xFFF) / 4096 * SIZE, (float)(seed >> 12 & 0xFFF) / 4096 * SIZE};
        mica_create(world, MICA_FROM(Position, &position), MICA_WITH(Agent, {.seed = seed, .energy = 10}));
    }
    return the_cluster;
}

static uint32_t armour_of(mica_world *world, mica_entity entity)
{
    const Armour *armour = mica_get(world, entity, Armour);
    return armour ? 1 + armour->plates : 0;
}

static bool plain_step(mica_world *world)
{
    mica_query *agents = mica_query_create(world, MICA_QUERY(MICA_READ(Position), MICA_READ(Agent)));
    plain_count = plain_hit_count = 0;
    plain_agents = realloc(plain_agents, (size_t)mica_query_count(agents) * sizeof *plain_agents);
    plain_hits = realloc(plain_hits, (size_t)mica_query_count(agents) * sizeof *plain_hits);
    for (mica_view view = mica_query_begin(agents); mica_view_next(&view);) {
        const Position *position = mica_view_read(&view, Position);
        const Agent *agent = mica_view_read(&view, Agent);
        for (uint32_t i = 0; i < view.count; ++i)
            plain_agents[plain_count++] = (seen){position[i],
                                                 agent[i].seed,
                                                 0,
                                                 view.entities[i],
                                                 armour_of(world, view.entities[i]),
                                                 word_of(mica_get(world, view.entities[i], Label))};
    }
    mica_query_destroy(agents);
    bool done = mica_step(world, 0.125f) == MICA_OK;
    for (uint32_t i = 0; i < plain_hit_count; ++i)
        if (mica_is_alive(world, plain_hits[i].target))
            mica_send_id(world, plain_hits[i].target, (mica_value)MICA_FROM(Hit, &plain_hits[i].hit), MICA_HERE);
    return done;
}

static uint64_t content_of(mica_world *world, mica_entity entity, const Position *position, const Agent *agent)
{
    uint32_t bits[2];
    memcpy(bits, position, sizeof bits);
    uint64_t hash = mix(mix(mix(agent->seed, agent->met), (uint32_t)agent->energy), (uint64_t)bits[0] << 32 | bits[1]);
    char json[4096];
    for (int k = 0; k < 4; ++k) {
        mica_component kinds[] = {MICA_ID(Label), MICA_ID(Armour), MICA_ID(Calm), MICA_ID(Wound)};
        hash = mix(hash, mica_has_id(world, entity, kinds[k]));
    }
    const Label *label = mica_get(world, entity, Label);
    size_t length =
        label ? mica_value_write(mica_member_of(MICA_ID(Label), (void *)(uintptr_t)label), json, sizeof json) : 0;
    for (size_t i = 0; i < length; ++i)
        hash = mix(hash, (uint8_t)json[i]);
    Spin spin = {0};
    if (mica_get_value_id(world, entity, MICA_ID(Spin), &spin))
        hash = mix(hash, (uint64_t)spin.x << 8 | spin.kind);
    hash = mix(hash, mica_is_enabled_id(world, entity, MICA_ID(Armour)));
    for (const char *name = mica_name_get(world, entity); name && *name; ++name)
        hash = mix(hash, (uint8_t)*name);
    mica_pool *wounds = mica_pool_of_id(world, MICA_ID(Wound));
    for (mica_instance it = mica_pool_find(wounds, entity); !mica_instance_is_nil(it); it = mica_pool_next(wounds, it))
        hash = mix(hash, (uint32_t)((const Wound *)mica_instance_read_id(wounds, it))->depth);
    return hash;
}

/* Called after each step. */
static uint64_t content(mica_world *world)
{
    ++the_tick;
    uint64_t sum = 0;
    mica_query *agents = mica_query_create(world, MICA_QUERY(MICA_READ(Position), MICA_READ(Agent)));
    for (mica_view view = mica_query_begin(agents); mica_view_next(&view);) {
        const Position *position = mica_view_read(&view, Position);
        const Agent *agent = mica_view_read(&view, Agent);
        for (uint32_t i = 0; i < view.count; ++i)
            sum += content_of(world, view.entities[i], &position[i], &agent[i]);
    }
    mica_query_destroy(agents);
    return sum;
}

static void resume(uint64_t tick)
{
    the_tick = tick;
}

const model wanderers_model = {
    .name = "wanderers", .create = create, .content = content, .plain_step = plain_step, .resume = resume};
