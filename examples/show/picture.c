#include "picture.h"

#include <stdio.h>

static const uint32_t night = 0x0A0D13, panel = 0x141922, dim = 0x6B7686, bright = 0xE6EAF0;
static const uint32_t armies[2] = {0x143A78, 0x7A3410};
static const uint32_t system_colors[BATTLE_SYSTEMS_MAX] = {0x4E79A7, 0xA0CBE8, 0xF28E2B, 0xE15759,
                                                           0x59A14F, 0xB07AA1, 0xEDC948, 0x9C755F};

static const box bar = {16, BATTLE_HEIGHT + 14, PICTURE_WIDTH - 32, 14};
static const box graph = {16, BATTLE_HEIGHT + 40, 2 * TIMELINE_TICKS, 92};

void costs_note(costs *costs, const battle *battle, uint64_t tick)
{
    for (uint32_t i = 0; i < battle->system_count; ++i) {
        mica_system_stats stats = {0};
        mica_stats_get_system(battle->world, battle->systems[i], 0, &stats);
        costs->of_system[tick % TIMELINE_TICKS][i] = (float)stats.time_ns / 1e6f;
    }
}

static void draw_battle(canvas *canvas, const battle *battle)
{
    canvas_fill(canvas, (box){0, 0, BATTLE_WIDTH, BATTLE_HEIGHT}, night);
    for (mica_view view = mica_query_begin(battle->soldiers); mica_view_next(&view);) {
        const Place *location = mica_view_read(&view, Place);
        const Soldier *soldier = mica_view_read(&view, Soldier);
        for (uint32_t i = 0; i < view.count; ++i)
            for (int corner = 0; corner < 4; ++corner) {
                int x = (int)location[i].x + (corner & 1), y = (int)location[i].y + (corner >> 1);
                if (y < BATTLE_HEIGHT)
                    canvas_glow(canvas, x, y, armies[soldier[i].army]);
            }
    }
    for (mica_view view = mica_query_begin(battle->sparks); mica_view_next(&view);) {
        const Place *location = mica_view_read(&view, Place);
        const Spark *spark = mica_view_read(&view, Spark);
        for (uint32_t i = 0; i < view.count; ++i) {
            uint32_t light = (uint32_t)(spark[i].seconds * 150) & 255;
            for (int y = -1; y <= 1; ++y)
                for (int x = -1; x <= 1; ++x)
                    if ((int)location[i].y + y < BATTLE_HEIGHT)
                        canvas_glow(canvas, (int)location[i].x + x, (int)location[i].y + y,
                                    light << 16 | light << 8 | light / 2);
        }
    }
}

static int x_of_tick(const timeline *timeline, uint64_t tick)
{
    uint64_t newest = timeline->first + TIMELINE_TICKS - 1;
    newest = newest < timeline->last ? timeline->last : newest;
    return bar.x + (int)((tick - timeline->first) * (uint64_t)bar.width / (newest - timeline->first + 1));
}

int64_t picture_tick_at(const timeline *timeline, int x, int y)
{
    if (x < bar.x || x >= bar.x + bar.width || y < bar.y - 6 || y >= bar.y + bar.height + 6)
        return -1;
    uint64_t tick = timeline->first + (uint64_t)((x - bar.x) * TIMELINE_TICKS / bar.width);
    return (int64_t)(tick > timeline->last ? timeline->last : tick);
}

static void draw_timeline(canvas *canvas, const timeline *timeline)
{
    canvas_fill(canvas, bar, 0x252C38);
    canvas_fill(canvas, (box){bar.x, bar.y, x_of_tick(timeline, timeline->last) - bar.x, bar.height}, 0x3A4658);
    canvas_fill(canvas, (box){x_of_tick(timeline, timeline->at) - 1, bar.y - 3, 4, bar.height + 6}, bright);
}

/* A column per tick, the costs of the systems on top of each other: 16 milliseconds are the full height. */
static void draw_costs(canvas *canvas, const battle *battle, const timeline *timeline, const costs *costs)
{
    canvas_fill(canvas, graph, 0x0E1219);
    for (uint64_t tick = timeline->first + 1; tick <= timeline->last; ++tick) {
        int x = graph.x + 2 * (int)(tick - timeline->first), bottom = graph.y + graph.height;
        for (uint32_t i = 0; i < battle->system_count && bottom > graph.y; ++i) {
            int height = (int)(costs->of_system[tick % TIMELINE_TICKS][i] * (float)graph.height / 16 + 0.5f);
            height = height > bottom - graph.y ? bottom - graph.y : height;
            bottom -= height;
            canvas_fill(canvas, (box){x, bottom, tick == timeline->at ? 2 : 1, height}, system_colors[i]);
        }
    }
    canvas_text(canvas, graph.x + 4, graph.y + 4, 1, dim, "16 ms");
    for (uint32_t i = 0; i < battle->system_count; ++i) {
        char text[64];
        int x = graph.x + graph.width + 24 + 190 * (int)(i / 4), y = graph.y + 4 + 22 * (int)(i % 4);
        snprintf(text, sizeof text, "%-9s %5.2f ms", mica_system_name(battle->world, battle->systems[i]),
                 (double)costs->of_system[timeline->at % TIMELINE_TICKS][i]);
        canvas_fill(canvas, (box){x, y, 10, 10}, system_colors[i]);
        canvas_text(canvas, x + 16, y, 2, bright, text);
    }
}

void picture_draw(canvas *canvas, const battle *battle, const timeline *timeline, const costs *costs, const char *state)
{
    draw_battle(canvas, battle);
    canvas_fill(canvas, (box){0, BATTLE_HEIGHT, PICTURE_WIDTH, PICTURE_HEIGHT - BATTLE_HEIGHT}, panel);
    draw_timeline(canvas, timeline);
    draw_costs(canvas, battle, timeline, costs);

    char text[128];
    snprintf(text, sizeof text, "tick %u  %s", (unsigned)timeline->at, state);
    int right = PICTURE_WIDTH - 16 - 84 * FONT_WIDTH;
    canvas_text(canvas, right, graph.y + 4, 2, bright, text);
    snprintf(text, sizeof text, "%u : %u soldiers", (unsigned)battle_count(battle, 0),
             (unsigned)battle_count(battle, 1));
    canvas_text(canvas, right, graph.y + 26, 2, bright, text);
    snprintf(text, sizeof text, "history %.1f MB", (double)timeline_bytes(timeline) / 1e6);
    canvas_text(canvas, right, graph.y + 48, 2, bright, text);
    canvas_text(canvas, right, graph.y + 72, 2, dim, "space pause  <  > step  drag to rewind");
}
