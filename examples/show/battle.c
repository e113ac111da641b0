#include "battle.h"

#include <string.h>

enum { SPREAD_STEPS = 4, SQUADS = 9 };
static const float crowd_most = 12, spark_seconds = 0.6f;
static const Rules usual_rules = {.speed = 60, .strength = 90, .courage = 200};

/* The soldiers of each army per cell, and a scent that spreads from them: soldiers move towards the scent of the enemy. */
typedef struct Field {
    float crowd[2][BATTLE_CELLS];
    float scent[2][BATTLE_CELLS];
    uint32_t living[2];
} Field;
MICA_SINGLETON(Field, living)

static int32_t cell_of(const Place *location)
{
    int32_t column = (int32_t)location->x / BATTLE_CELL, row = (int32_t)location->y / BATTLE_CELL;
    return row * BATTLE_COLUMNS + column;
}

static void count(const mica_frame *frame)
{
    Field *field = mica_singleton_write(frame->world, Field);
    memset(field->crowd, 0, sizeof field->crowd);
    memset(field->living, 0, sizeof field->living);
    for (mica_view view = mica_query_begin(frame->query); mica_view_next(&view);) {
        const Place *location = mica_view_read(&view, Place);
        const Soldier *soldier = mica_view_read(&view, Soldier);
        for (uint32_t i = 0; i < view.count; ++i) {
            field->crowd[soldier[i].army][cell_of(&location[i])] += 1;
            ++field->living[soldier[i].army];
        }
    }
}

/* Some steps of diffusion in each frame: word spreads a cell at a time, and fades. */
static void diffuse(float *scent, const float *crowd)
{
    float old[BATTLE_CELLS];
    memcpy(old, scent, sizeof old);
    for (int32_t row = 0; row < BATTLE_ROWS; ++row)
        for (int32_t column = 0; column < BATTLE_COLUMNS; ++column) {
            int32_t cell = row * BATTLE_COLUMNS + column;
            float left = old[column > 0 ? cell - 1 : cell], right = old[column + 1 < BATTLE_COLUMNS ? cell + 1 : cell];
            float up = old[row > 0 ? cell - BATTLE_COLUMNS : cell];
            float down = old[row + 1 < BATTLE_ROWS ? cell + BATTLE_COLUMNS : cell];
            scent[cell] = 0.2499f * (left + right + up + down) + crowd[cell];
        }
}

static void spread(const mica_frame *frame)
{
    Field *field = mica_singleton_write(frame->world, Field);
    for (int step = 0; step < SPREAD_STEPS; ++step)
        for (int army = 0; army < 2; ++army)
            diffuse(field->scent[army], field->crowd[army]);
}

/* The height of a field at a place, between the middles of the four cells around it. */
static float height_at(const float *field, float x, float y)
{
    float across = x / BATTLE_CELL - 0.5f, down = y / BATTLE_CELL - 0.5f;
    across = across < 0 ? 0 : across > BATTLE_COLUMNS - 1.01f ? BATTLE_COLUMNS - 1.01f : across;
    down = down < 0 ? 0 : down > BATTLE_ROWS - 1.01f ? BATTLE_ROWS - 1.01f : down;
    int32_t column = (int32_t)across, row = (int32_t)down;
    float right = across - (float)column, below = down - (float)row;
    const float *corner = field + row * BATTLE_COLUMNS + column;
    float top = corner[0] + (corner[1] - corner[0]) * right;
    float bottom = corner[BATTLE_COLUMNS] + (corner[BATTLE_COLUMNS + 1] - corner[BATTLE_COLUMNS]) * right;
    return top + (bottom - top) * below;
}

/* The slope of a field relative to its height: far away it still points the right way. */
static Motion slope_at(const float *field, const Place *location)
{
    float height = height_at(field, location->x, location->y) + 1e-9f;
    float x = height_at(field, location->x + BATTLE_CELL, location->y) -
              height_at(field, location->x - BATTLE_CELL, location->y);
    float y = height_at(field, location->x, location->y + BATTLE_CELL) -
              height_at(field, location->x, location->y - BATTLE_CELL);
    return (Motion){x / height, y / height};
}

static void steer(mica_view *view)
{
    const Field *field = mica_singleton_get(view->world, Field);
    const Rules *rules = mica_singleton_get(view->world, Rules);
    const Place *location = mica_view_read(view, Place);
    const Soldier *soldier = mica_view_read(view, Soldier);
    Motion *motion = mica_view_write(view, Motion);
    mica_random random = mica_random_of(view);
    for (uint32_t i = 0; i < view->count; ++i) {
        int32_t army = soldier[i].army;
        Motion enemy = slope_at(field->scent[1 - army], &location[i]),
               crowd = slope_at(field->crowd[army], &location[i]);
        float push = 12 * height_at(field->crowd[army], location[i].x, location[i].y) / crowd_most;
        motion[i].x += (rules->courage * enemy.x - push * crowd.x + mica_random_range(&random, -60, 60)) * view->dt;
        motion[i].y += (rules->courage * enemy.y - push * crowd.y + mica_random_range(&random, -60, 60)) * view->dt;
        float squared = motion[i].x * motion[i].x + motion[i].y * motion[i].y;
        if (squared > rules->speed * rules->speed) { /* slows down without a root: the same bits everywhere */
            motion[i].x *= 0.9f;
            motion[i].y *= 0.9f;
        }
    }
}

static float keep_within(float at, float end)
{
    return at < 0 ? 0 : at > end - 0.01f ? end - 0.01f : at;
}

static void move(mica_view *view)
{
    Place *location = mica_view_write(view, Place);
    const Motion *motion = mica_view_read(view, Motion);
    for (uint32_t i = 0; i < view->count; ++i) {
        location[i].x = keep_within(location[i].x + motion[i].x * view->dt, BATTLE_WIDTH);
        location[i].y = keep_within(location[i].y + motion[i].y * view->dt, BATTLE_HEIGHT);
    }
}

static void fight(mica_view *view)
{
    const Field *field = mica_singleton_get(view->world, Field);
    const Rules *rules = mica_singleton_get(view->world, Rules);
    const Place *location = mica_view_read(view, Place);
    Soldier *soldier = mica_view_write(view, Soldier);
    mica_random random = mica_random_of(view);
    for (uint32_t i = 0; i < view->count; ++i) {
        float enemies = height_at(field->crowd[1 - soldier[i].army], location[i].x, location[i].y);
        if (enemies <= 0)
            continue;
        float friends = height_at(field->crowd[soldier[i].army], location[i].x, location[i].y) + 1;
        soldier[i].health -= rules->strength * enemies / (enemies + friends) * mica_random_unit(&random) * view->dt;
        if (soldier[i].health > 0)
            continue;
        mica_destroy(view->world, view->entities[i]);
        mica_create(view->world, MICA_WITH(Place, {location[i].x, location[i].y}), MICA_WITH(Spark, {spark_seconds}));
    }
}

static void fade(mica_view *view)
{
    Spark *spark = mica_view_write(view, Spark);
    for (uint32_t i = 0; i < view->count; ++i)
        if ((spark[i].seconds -= view->dt) <= 0)
            mica_destroy(view->world, view->entities[i]);
}

/* A soldier of a squad, which stands around a place of its own: the first army on the left, the second on the right. */
static void enlist(mica_world *world, mica_random *random, int32_t army, Place squad, float size)
{
    float x = squad.x + size * (mica_random_unit(random) + mica_random_unit(random) - 1);
    float y = squad.y + size * (mica_random_unit(random) + mica_random_unit(random) - 1);
    Place location = {keep_within(army == 0 ? x : BATTLE_WIDTH - x, BATTLE_WIDTH), keep_within(y, BATTLE_HEIGHT)};
    mica_create(world, MICA_WITH(Place, {location.x, location.y}), MICA_WITH(Motion, {0, 0}),
                MICA_WITH(Soldier, {100, army}));
}

/* New soldiers come from the edges, now here and now there. */
static void reinforce(const mica_frame *frame)
{
    const battle *battle = frame->context;
    const Field *field = mica_singleton_get(frame->world, Field);
    mica_random random = mica_random_of_frame(frame);
    for (int32_t army = 0; army < 2; ++army) {
        mica_random where = mica_random_make(frame->tick / 45, (uint64_t)army);
        Place squad = {0, mica_random_range(&where, 0, BATTLE_HEIGHT)};
        uint32_t missing = battle->size > field->living[army] ? battle->size - field->living[army] : 0;
        uint32_t most = battle->size / 60 + 1;
        for (uint32_t i = 0; i < missing && i < most; ++i)
            enlist(frame->world, &random, army, squad, 40);
    }
}

uint64_t battle_count(const battle *battle, int32_t army)
{
    return mica_singleton_get(battle->world, Field)->living[army];
}

bool battle_begin(battle *battle, mica_world *world, uint32_t soldiers)
{
    *battle = (struct battle){.world = world, .size = soldiers / 2};
    Rules *rules = mica_singleton_write(world, Rules);
    if (!rules)
        return false;
    *rules = usual_rules;
    battle->soldiers = mica_query_create(world, MICA_QUERY(MICA_READ(Place), MICA_READ(Soldier)));
    battle->sparks = mica_query_create(world, MICA_QUERY(MICA_READ(Place), MICA_READ(Spark)));
    const mica_system_def *const defs[] = {
        MICA_SYSTEM_WITH(count, (MICA_USES(MICA_USE_WRITE(Field))), MICA_READ(Place), MICA_READ(Soldier)),
        MICA_SYSTEM_ONCE_WITH(spread, (MICA_USES(MICA_USE_WRITE(Field)))),
        MICA_SYSTEM_WITH(steer, (MICA_USES(MICA_USE_READ(Field), MICA_USE_READ(Rules))), MICA_WRITE(Motion),
                         MICA_READ(Place), MICA_READ(Soldier)),
        MICA_SYSTEM_WITH(fight, (MICA_USES(MICA_USE_READ(Field), MICA_USE_READ(Rules))), MICA_READ(Place),
                         MICA_WRITE(Soldier)),
        MICA_SYSTEM(move, MICA_WRITE(Place), MICA_READ(Motion)),
        MICA_SYSTEM(fade, MICA_WRITE(Spark)),
        MICA_SYSTEM_ONCE_WITH(reinforce, (.context = battle, MICA_USES(MICA_USE_READ(Field)))),
    };
    bool added = battle->soldiers && battle->sparks;
    for (uint32_t i = 0; i < sizeof defs / sizeof *defs && added; ++i) {
        battle->systems[battle->system_count++] = mica_system_add(world, defs[i]);
        added = battle->systems[i].id != 0;
    }
    mica_random random = mica_random_make(42, 1);
    Place squads[2][SQUADS];
    for (int i = 0; i < 2 * SQUADS; ++i)
        squads[i % 2][i / 2] = (Place){mica_random_range(&random, 40, 0.4f * BATTLE_WIDTH),
                                       mica_random_range(&random, 40, BATTLE_HEIGHT - 40.0f)};
    for (uint32_t i = 0; i < soldiers; ++i)
        enlist(world, &random, (int32_t)(i % 2), squads[i % 2][i / 2 % SQUADS], 110);
    return added && mica_world_take_error(world) == MICA_OK;
}
