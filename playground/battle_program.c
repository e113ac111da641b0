/* The battle of `make show`: its simulation is examples/show/battle.c. */
#include "battle.h"
#include "program.h"

enum { SOLDIERS, SPEED, STRENGTH, COURAGE };

static const uint32_t army_colors[2] = {0x3f83f8ff, 0xf2682aff};
static const uint32_t spark_color = 0xe3a00800;
static battle both_armies;

static void adjust_rules(mica_world *world, const float *values)
{
    Rules *rules = mica_singleton_write(world, Rules);
    if (rules)
        *rules = (Rules){.speed = values[SPEED], .strength = values[STRENGTH], .courage = values[COURAGE]};
}

static bool start_battle(mica_world *world, const float *values)
{
    if (!battle_begin(&both_armies, world, (uint32_t)values[SOLDIERS]))
        return false;
    adjust_rules(world, values);
    return true;
}

/* Sparks are where a soldier fell. */
static void draw_sparks(picture *picture)
{
    for (mica_view view = mica_query_begin(both_armies.sparks); mica_view_next(&view);) {
        picture->numbers[2] += (float)view.count;
        const Place *location = mica_view_read(&view, Place);
        const Spark *spark = mica_view_read(&view, Spark);
        for (uint32_t i = 0; i < view.count; ++i) {
            uint32_t light = (uint32_t)(spark[i].seconds * 8) * 40 & 255; /* few colours draw faster than many */
            picture_add(picture,
                        (mark){.x = location[i].x, .y = location[i].y, .size = 5, .color = spark_color | light});
        }
    }
}

static void draw_battle(mica_world *world, picture *picture)
{
    (void)world;
    for (int32_t army = 0; army < 2; ++army) {
        float health = 0;
        for (mica_view view = mica_query_begin(both_armies.soldiers); mica_view_next(&view);) {
            const Place *location = mica_view_read(&view, Place);
            const Soldier *soldier = mica_view_read(&view, Soldier);
            for (uint32_t i = 0; i < view.count; ++i)
                if (soldier[i].army == army) {
                    health += soldier[i].health;
                    picture_add(picture,
                                (mark){.x = location[i].x, .y = location[i].y, .size = 4, .color = army_colors[army]});
                }
        }
        picture->numbers[army] = health / (float)(both_armies.size ? both_armies.size : 1);
    }
    draw_sparks(picture);
}

const program battle_program = {
    .name = "battle",
    .shows = "Two armies follow the scent of the enemy, fight where they meet, and get reinforcements. Systems declare "
             "what they read and write; soldiers are created and destroyed while the systems run.",
    .sources = "battle.h battle.c battle_program.c",
    .width = BATTLE_WIDTH,
    .height = BATTLE_HEIGHT,
    .frames_per_second = 30,
    .frame_seconds = 1.0f / 30,
    .parameters = {{"soldiers", 500, 20000, 500, 8000, true},
                   {"speed", 20, 160, 5, 60, false},
                   {"strength", 0, 300, 10, 90, false},
                   {"courage", -200, 400, 20, 200, false}},
    .numbers = {{"health of blue", 0x3f83f8ff}, {"health of orange", 0xf2682aff}, {"falling", 0xe3a008ff}},
    .start = start_battle,
    .adjust = adjust_rules,
    .draw = draw_battle,
};
