/* Components declared with MICA_OPAQUE, without described fields: two in chunks and two in pools, one of each with functions for one value
 * and one with functions for several. A value owns a token. Each token is given back exactly once: the test ends if one is given back
 * twice, and counts those that are left. */
#include "play.h"

#include <stdio.h>
#include <string.h>

enum { LIFE_START = 7 };

/* By token; token 0 is none. */
typedef struct token {
    uint32_t number;
    uint32_t next_free;
    bool is_alive;
} token;

static struct {
    token *list;
    uint32_t count, capacity;
    uint32_t first_free;
    uint32_t alive;
} tokens;

static _Noreturn void stop(const char *why)
{
    fprintf(stderr, "a value without described fields %s\n", why);
    abort(); /* inside a call of the library: there is no sane way on */
}

static uint32_t token_take(uint32_t number)
{
    uint32_t taken = tokens.first_free;
    if (taken) {
        tokens.first_free = tokens.list[taken].next_free;
    } else {
        taken = tokens.count ? tokens.count : 1;
        tokens.count = taken + 1;
        if (tokens.count > tokens.capacity) {
            tokens.capacity = 2 * tokens.count + 64;
            tokens.list = model_grow(tokens.list, tokens.capacity, sizeof *tokens.list);
        }
    }
    tokens.list[taken] = (token){.number = number, .is_alive = true};
    ++tokens.alive;
    return taken;
}

static void token_give(uint32_t given)
{
    if (given >= tokens.count || !tokens.list[given].is_alive)
        stop("is destroyed twice");
    tokens.list[given] = (token){.next_free = tokens.first_free};
    tokens.first_free = given;
    --tokens.alive;
}

/* A value that may be moved by copying its bytes. Zero owns nothing. */
typedef struct PlayOpaque {
    uint32_t number;
    uint32_t token;
    char padding[9];
} PlayOpaque;
typedef PlayOpaque PlayOpaquePool;

static void one_destroy(void *value)
{
    PlayOpaque *opaque = value;
    if (opaque->token)
        token_give(opaque->token);
}

static bool one_copy(void *to, const void *from)
{
    PlayOpaque *opaque = to;
    *opaque = *(const PlayOpaque *)from;
    opaque->token = opaque->token ? token_take(opaque->number) : 0;
    return true;
}

MICA_OPAQUE(PlayOpaque, (.destroy_one = one_destroy, .copy_one = one_copy))
MICA_OPAQUE(PlayOpaquePool, (.storage = MICA_STORAGE_POOL, .destroy_one = one_destroy, .copy_one = one_copy))

/* A value that knows its address. */
typedef struct PlayLife {
    PlayOpaque value;
    struct PlayLife *self;
} PlayLife;
typedef PlayLife PlayLifePool;

static PlayLife *expect_self(PlayLife *life)
{
    if (life->self != life)
        stop("was moved by copying bytes, or was destroyed");
    return life;
}

static void life_make(PlayLife *life, uint32_t number)
{
    *life = (PlayLife){.value = {.number = number, .token = token_take(number)}, .self = life};
}

static bool life_construct(void *values, uint32_t count, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < count; ++i)
        life_make((PlayLife *)values + i, LIFE_START);
    return true;
}

static void life_destruct(void *values, uint32_t count, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < count; ++i) {
        PlayLife *life = expect_self((PlayLife *)values + i);
        token_give(life->value.token);
        life->self = NULL;
    }
}

static bool life_copy(void *to, const void *from, uint32_t count, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < count; ++i)
        life_make((PlayLife *)to + i, expect_self((PlayLife *)(uintptr_t)from + i)->value.number);
    return true;
}

static void life_move(void *to, void *from, uint32_t count, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < count; ++i) {
        PlayLife *moved = (PlayLife *)to + i, *old = expect_self((PlayLife *)from + i);
        *moved = *old;
        moved->self = moved;
        old->self = NULL;
    }
}

#define LIFE .construct = life_construct, .destruct = life_destruct, .copy = life_copy, .move = life_move
MICA_OPAQUE(PlayLife, (LIFE))
MICA_OPAQUE(PlayLifePool, (.storage = MICA_STORAGE_POOL, .index = MICA_INDEX_HASH, LIFE))

enum { OPAQUE, LIFE_IN_CHUNK, OPAQUE_POOL, LIFE_POOL };

static bool is_life(uint32_t which)
{
    return which == LIFE_IN_CHUNK || which == LIFE_POOL;
}

static mica_type *const types[] = {[OPAQUE] = &mica_type_of_PlayOpaque,
                                   [LIFE_IN_CHUNK] = &mica_type_of_PlayLife,
                                   [OPAQUE_POOL] = &mica_type_of_PlayOpaquePool,
                                   [LIFE_POOL] = &mica_type_of_PlayLifePool};

static mica_component id_of(uint32_t which)
{
    return mica_type_id(types[which]);
}

static PlayOpaque *opaque_in(uint32_t which, void *value)
{
    return is_life(which) ? &expect_self(value)->value : value;
}

/* A value that exists gets another number, and a token if it has none. */
static void assign(uint32_t which, void *value, uint32_t number)
{
    PlayOpaque *opaque = opaque_in(which, value);
    opaque->number = number;
    if (!opaque->token)
        opaque->token = token_take(number);
    tokens.list[opaque->token].number = number;
}

static bool holds(uint32_t which, const void *value, uint32_t number)
{
    const PlayOpaque *opaque = opaque_in(which, (void *)(uintptr_t)value);
    const token *owned = &tokens.list[opaque->token];
    return opaque->number == number && (opaque->token ? owned->is_alive && owned->number == number : number == 0);
}

/* A value for a call, which copies it. */
typedef union value_room {
    PlayOpaque opaque;
    PlayLife life;
} value_room;

static mica_value value_begin(uint32_t which, value_room *room, uint32_t number)
{
    memset(room, 0, sizeof *room);
    if (is_life(which))
        life_make(&room->life, number);
    else
        room->opaque = (PlayOpaque){.number = number, .token = token_take(number)};
    return (mica_value){id_of(which), is_life(which) ? sizeof room->life : sizeof room->opaque, room};
}

static void value_end(uint32_t which, value_room *room)
{
    token_give(is_life(which) ? room->life.value.token : room->opaque.token);
}

void play_opaque_begin(play *play)
{
    static const uint32_t pairs[] = {1u << OPAQUE | 1u << LIFE_POOL, 1u << LIFE_IN_CHUNK | 1u << OPAQUE_POOL, 0};
    play->opaques = pairs[play->config.seed / 2 % 3];
    for (uint32_t which = 0; which < MODEL_OPAQUES; ++which)
        if (play->opaques >> which & 1)
            EXPECT(play, mica_component_define(play->world, types[which]));
}

void play_opaque_end(play *play)
{
    EXPECT_SAYING(play, tokens.alive == 0, "%u values without described fields are left", tokens.alive);
}

uint32_t play_opaques_in_chunks(const model_entity *entity)
{
    return entity->opaques & (1u << OPAQUE | 1u << LIFE_IN_CHUNK);
}

void play_compare_opaque(play *play, const model_entity *entity)
{
    for (uint32_t which = 0; play->opaques >> which; ++which) {
        if (!(play->opaques >> which & 1))
            continue;
        const void *value = mica_get_id(play->world, entity->handle, id_of(which));
        EXPECT_SAYING(play, (value != NULL) == (entity->opaques >> which & 1), "opaque %u", which);
        EXPECT_SAYING(play, !value || holds(which, value, entity->opaque_numbers[which]), "opaque %u is not %u", which,
                      entity->opaque_numbers[which]);
    }
}

void play_compare_opaque_total(play *play)
{
    uint32_t expected = 0;
    for (uint32_t i = 0; play->opaques && i < play->model.living_count; ++i) {
        const model_entity *entity = &play->model.slots[play->model.living[i].index];
        for (uint32_t which = 0; which < MODEL_OPAQUES; ++which)
            expected += (entity->opaques >> which & 1) && entity->opaque_numbers[which];
    }
    /* Snapshots have copies. */
    EXPECT_SAYING(play, play->snapshot_count ? tokens.alive >= expected : tokens.alive == expected,
                  "%u values own something, not %u", tokens.alive, expected);
}

static uint32_t draw_opaque(play *play)
{
    uint32_t which = random_below(&play->random, MODEL_OPAQUES);
    while (!(play->opaques >> which & 1))
        which = (which + 1) % MODEL_OPAQUES;
    return which;
}

/* Not zero, which is the number of values that own nothing. */
static uint32_t draw_number(play *play)
{
    return 1 + random_below(&play->random, 1000000);
}

void play_record_opaque(play *play, uint32_t buffer, mica_entity entity)
{
    model_knowledge knowledge = model_buffer_knows(&play->model, &play->buffers[buffer], entity);
    if (!knowledge.promised || knowledge.doomed)
        return;
    uint32_t which = draw_opaque(play);
    bool known = knowledge.opaques >> which & 1, done;
    model_command command = {.kind = MODEL_COMMAND_OPAQUE, .entity = entity, .rival = which};
    mica_commands *commands = play->commands[buffer];
    command.enabled = !random_one_in(&play->random, 3);
    if (command.enabled) {
        value_room room;
        command.number = draw_number(play);
        mica_value value = value_begin(which, &room, command.number);
        done =
            buffer ? mica_command_set_id(commands, entity, value, MICA_HERE) : mica_set_id(play->world, entity, value);
        value_end(which, &room);
        EXPECT(play, done);
    } else {
        done = buffer ? mica_command_remove_id(commands, entity, id_of(which), MICA_HERE)
                      : mica_remove_id(play->world, entity, id_of(which));
        EXPECT(play, done == known);
    }
    model_record(&play->buffers[buffer], command);
}

static void set(play *play)
{
    model_entity *entity = model_find(&play->model, play_draw_living(play));
    if (!entity)
        return;
    uint32_t which = draw_opaque(play), number = draw_number(play);
    value_room room;
    mica_value value = value_begin(which, &room, number);
    EXPECT(play, mica_set_id(play->world, entity->handle, value));
    value_end(which, &room);
    model_opaque(entity, which, true, number);
    play_compare_entity(play, entity);
}

/* With its default value, which is then written, or not. */
static void add(play *play)
{
    model_entity *entity = model_find(&play->model, play_draw_living(play));
    if (!entity)
        return;
    uint32_t which = draw_opaque(play), number = is_life(which) ? LIFE_START : 0;
    if (entity->opaques >> which & 1)
        number = entity->opaque_numbers[which];
    void *value = mica_add_id(play->world, entity->handle, id_of(which));
    EXPECT_SAYING(play, value && holds(which, value, number), "opaque %u is not %u", which, number);
    if (random_one_in(&play->random, 2))
        assign(which, value, number = draw_number(play));
    model_opaque(entity, which, true, number);
    play_compare_entity(play, entity);
}

static void take(play *play)
{
    model_entity *entity = model_find(&play->model, play_draw_living(play));
    if (!entity)
        return;
    uint32_t which = draw_opaque(play);
    EXPECT(play, mica_remove_id(play->world, entity->handle, id_of(which)) == (entity->opaques >> which & 1));
    model_opaque(entity, which, false, 0);
    play_compare_entity(play, entity);
}

static void write_one(play *play)
{
    model_entity *entity = model_find(&play->model, play_draw_living(play));
    uint32_t which = draw_opaque(play);
    if (!entity)
        return;
    void *value = mica_write_id(play->world, entity->handle, id_of(which));
    EXPECT(play, (value != NULL) == (entity->opaques >> which & 1));
    if (!value)
        return;
    uint32_t number = draw_number(play);
    assign(which, value, number);
    model_opaque(entity, which, true, number);
}

static void create(play *play)
{
    if (play_is_full(play))
        return;
    uint32_t which = draw_opaque(play), number = draw_number(play);
    value_room room;
    mica_value value = value_begin(which, &room, number);
    mica_entity handle = mica_create_id(play->world, &value, 1);
    value_end(which, &room);
    model_entity *entity = model_spawn(&play->model, handle, MODEL_LIVING);
    EXPECT_SAYING(play, entity, "{%u, %u} is not a new handle", handle.index, handle.generation);
    model_opaque(entity, which, true, number);
    play_compare_entity(play, entity);
}

const play_operation play_opaque_operations[] = {
    {"set opaque", 14, set, false},          {"add opaque", 8, add, false},
    {"remove opaque", 8, take, false},       {"write opaque", 6, write_one, false},
    {"create with opaque", 4, create, false},
};
const uint32_t play_opaque_count = sizeof play_opaque_operations / sizeof *play_opaque_operations;
