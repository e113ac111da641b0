/* A world with components of all kinds, and scripts whose lines are kept. */
#ifndef MICA_TESTS_LUA_FIXTURE_H
#define MICA_TESTS_LUA_FIXTURE_H

#include "reports.h"
#include "test.h"

#include "mica/flow.h"
#include "mica/lua.h"
#include "mica/query_text.h"
#include "mica/relation.h"
#include "mica/resource.h"
#include "mica/split.h"

#include <stdio.h>
#include <string.h>

typedef struct Vec {
    float x, y;
} Vec;
MICA_STRUCT(Vec, x, y)

typedef enum Mood { CALM, ANGRY } Mood;
MICA_ENUM(Mood, CALM, ANGRY)

typedef struct Thing {
    Vec home;
    Mood mood;
    mica_entity target;
    char title[8];
    int8_t small;
    uint8_t byte;
    int16_t narrow;
    uint16_t word;
    int32_t whole;
    uint32_t natural;
    int64_t wide;
    uint64_t huge;
    float real;
    double precise;
    bool flag;
    int32_t slots[3];
    mica_text text;
    mica_list scores;
    mica_asset asset;
} Thing;
MICA_COMPONENT(Thing, (home, Vec), (mood, Mood), target, title, small, byte, narrow, word, whole, natural, wide, huge,
               real, precise, flag, slots, text, (scores, float), asset)

typedef struct Body {
    Vec place;
    float mass;
    float pair[2];
    char label[8];
} Body;
MICA_COMPONENT_WITH(Body, (.split = true), (place, Vec), mass, pair, label)

typedef struct Odd { /* with a field that is not described, and not in the order of the struct */
    float first;
    float hidden;
    float second;
} Odd;
MICA_COMPONENT(Odd, first, second)

typedef struct Number {
    int32_t value;
} Number;
MICA_COMPONENT_WITH(Number, (.toggle = true), value)
typedef struct Clock {
    int32_t value;
} Clock;
MICA_SINGLETON(Clock, value)
MICA_TAG(Frozen)
MICA_RELATION(Likes)

static reports heard;
static char printed[4096];

static inline void keep_line(const char *text, void *context)
{
    (void)context;
    size_t length = strlen(printed);
    snprintf(printed + length, sizeof printed - length, "%s\n", text);
}

static inline mica_world *open_scripts(mica_lua **out_lua)
{
    mica_world *world = open_world(&heard);
    printed[0] = 0;
    mica_define(world, Thing);
    mica_define(world, Body);
    mica_define(world, Odd);
    mica_define(world, Number);
    mica_define(world, Clock);
    mica_define(world, Frozen);
    mica_define(world, Likes);
    *out_lua = mica_lua_create(world, &(mica_lua_def){.print = keep_line});
    ck_assert_ptr_nonnull(*out_lua);
    return world;
}

static inline void close_scripts(mica_world *world, mica_lua *lua)
{
    mica_lua_destroy(lua);
    close_world(world, &heard);
}

static inline void load(mica_lua *lua, const char *text)
{
    ck_assert_int_eq(mica_lua_load_text(lua, "test", text, NULL), MICA_OK);
    expect_no_report(&heard);
}

/* Runs a text in all ways: without and with a sandbox. */
static const mica_lua_script_def *const ways[] = {NULL,
                                                  &(mica_lua_script_def){.sandbox = true, .time_limit_seconds = 60}};

#define FOR_EACH_WAY(way) for (size_t way = 0; way < 2; ++way)

#endif
