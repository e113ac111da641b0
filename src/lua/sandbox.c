#include "lua/sandbox.h"

#include "base/assert.h"
#include "os/clock.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HOOK_INSTRUCTIONS = 1000, /* between two looks at the clock */
    LARGE_BYTES = 4096,       /* an allocation that may take long to fill */
};

/* The most steps that a pattern may need. */
#define PATTERN_STEPS_MAX 1e7

static const uint64_t no_deadline = UINT64_MAX;

static bool is_over(const micap_lua_script *script)
{
    return script->deadline_ns != no_deadline && micap_clock_ns() > script->deadline_ns;
}

/* An allocator is told the size when a block is released. Lua does not know it if a block could not be made smaller, so each block has
 * its size before it. The blocks of a script are a list, since LuaJIT loses some if memory runs out. */
typedef struct micap_lua_block {
    _Alignas(max_align_t) struct micap_lua_block *next;
    struct micap_lua_block *previous;
    size_t bytes;
    bool is_reserve;
} block_head;

/* Scripts that nothing limits use malloc as it is. */
static bool has_heads(const micap_lua_script *script)
{
    return script->limits.sandbox || !micap_memory_is_default(&script->lua->memory);
}

/* LuaJIT crashes if memory runs out while a state is made. It gets some from elsewhere then, and the state is closed when it is complete. */
static block_head *allocate_block(micap_lua_script *script, size_t bytes)
{
    block_head *head = micap_allocate(&script->lua->memory, sizeof *head + bytes, MICAP_ARRAY_ALIGNMENT);
    bool is_reserve = !head && script->is_opening;
    if (is_reserve) {
        script->has_used_reserve = true;
        head = malloc(sizeof *head + bytes);
    }
    if (head) {
        *head = (block_head){.next = script->blocks, .bytes = bytes, .is_reserve = is_reserve};
        if (script->blocks)
            script->blocks->previous = head;
        script->blocks = head;
    }
    return head;
}

static void free_block(micap_lua_script *script, block_head *head)
{
    if (head->previous)
        head->previous->next = head->next;
    else
        script->blocks = head->next;
    if (head->next)
        head->next->previous = head->previous;
    if (head->is_reserve)
        free(head);
    else
        micap_release(&script->lua->memory, head, sizeof *head + head->bytes, MICAP_ARRAY_ALIGNMENT);
}

void micap_lua_free_blocks(micap_lua_script *script)
{
    while (script->blocks) {
        MICAP_ASSERT(!script->blocks->previous, "there is no block before the first");
        free_block(script, script->blocks);
    }
}

static void *resize_block(micap_lua_script *script, void *block, size_t bytes)
{
    if (!has_heads(script))
        return realloc(block, bytes);
    block_head *old = block ? (block_head *)block - 1 : NULL;
    if (old && bytes <= old->bytes)
        return block;
    block_head *head = allocate_block(script, bytes);
    if (head && old) {
        memcpy(head + 1, block, old->bytes);
        free_block(script, old);
    }
    return head ? head + 1 : NULL;
}

void *micap_lua_allocate(void *context, void *block, size_t old_bytes, size_t new_bytes)
{
    micap_lua_script *script = context;
    old_bytes = block ? old_bytes : 0;
    if (new_bytes == 0) {
        if (!has_heads(script))
            free(block);
        else if (block)
            free_block(script, (block_head *)block - 1);
        script->memory_bytes -= old_bytes;
        return NULL;
    }
    size_t others = script->memory_bytes - old_bytes, limit = script->limits.memory_limit_bytes;
    if (script->is_limited && new_bytes > old_bytes &&
        (new_bytes > limit || others > limit - new_bytes || (new_bytes >= LARGE_BYTES && is_over(script))))
        return NULL;
    void *resized = resize_block(script, block, new_bytes);
    if (resized)
        script->memory_bytes = others + new_bytes;
    return resized;
}

/* From then on each instruction fails, so that no pcall of the script can continue. */
static void end_when_over(lua_State *state, lua_Debug *debug)
{
    (void)debug;
    void *context = NULL;
    lua_getallocf(state, &context);
    const micap_lua_script *script = context;
    if (!is_over(script))
        return;
    lua_sethook(state, end_when_over, LUA_MASKCOUNT, 1);
    luaL_error(state, "the script takes longer than %f seconds per frame", script->limits.time_limit_seconds);
}

void micap_lua_begin_budget(micap_lua_script *script)
{
    uint64_t frame = mica_time_get(script->lua->world).frame;
    if (frame != script->frame) {
        script->frame = frame;
        script->used_ns = 0;
        script->change_count = 0;
    }
    uint64_t now = micap_clock_ns();
    double limit = script->limits.time_limit_seconds * 1e9;
    uint64_t limit_ns = limit < 1e18 ? (uint64_t)limit : (uint64_t)1e18;
    script->deadline_ns = now + (limit_ns > script->used_ns ? limit_ns - script->used_ns : 0);
    script->used_ns -= now; /* until the end, when it is added again */
    lua_sethook(script->state, end_when_over, LUA_MASKCOUNT, HOOK_INSTRUCTIONS);
}

void micap_lua_end_budget(micap_lua_script *script)
{
    script->used_ns += micap_clock_ns();
    script->deadline_ns = no_deadline;
}

/* print */

static int print_line(lua_State *state)
{
    micap_lua_script *script = micap_lua_script_of(state);
    int count = lua_gettop(state);
    luaL_Buffer line;
    lua_getglobal(state, "tostring");
    luaL_buffinit(state, &line);
    for (int i = 1; i <= count; ++i) {
        if (i > 1)
            luaL_addchar(&line, '\t');
        lua_pushvalue(state, count + 1);
        lua_pushvalue(state, i);
        lua_call(state, 1, 1);
        if (!lua_isstring(state, -1))
            return luaL_error(state, "print: tostring must return a string");
        luaL_addvalue(&line);
    }
    luaL_pushresult(&line);
    const char *text = lua_tostring(state, -1);
    if (script->limits.sandbox)
        micap_lua_count_changes(state, script, 1 + strlen(text) / 64);
    if (script->lua->def.print)
        script->lua->def.print(text, script->lua->def.print_context);
    else
        puts(text);
    return 0;
}

/* Functions of Lua's library that could run for hours, or forever, in one instruction: the original is the first upvalue. */

static int call_original(lua_State *state)
{
    lua_pushvalue(state, lua_upvalueindex(1));
    lua_insert(state, 1);
    lua_call(state, lua_gettop(state) - 1, LUA_MULTRET);
    return lua_gettop(state);
}

/* A pattern tries every length of each of its repeated items, and every place to start. */
static int match_within_limits(lua_State *state)
{
    size_t subject_bytes = 0, pattern_bytes = 0;
    luaL_checklstring(state, 1, &subject_bytes);
    const char *pattern = luaL_checklstring(state, 2, &pattern_bytes);
    double steps = (double)subject_bytes + 1;
    for (size_t i = 0; i < pattern_bytes && steps <= PATTERN_STEPS_MAX; ++i)
        if (strchr("*+-?b", pattern[i]) && (pattern[i] != 'b' || (i && pattern[i - 1] == '%')))
            steps *= (double)subject_bytes + 1;
    if (steps > PATTERN_STEPS_MAX)
        return luaL_error(state, "this pattern may take too long for a text of %d bytes in a sandbox",
                          (int)subject_bytes);
    return call_original(state);
}

static int repeat_within_limits(lua_State *state)
{
    size_t bytes = 0, gap_bytes = 0;
    luaL_checklstring(state, 1, &bytes);
    luaL_optlstring(state, 3, "", &gap_bytes);
    double count = luaL_checknumber(state, 2);
    if (count * ((double)(bytes + gap_bytes) + 1) > PATTERN_STEPS_MAX)
        return luaL_error(state, "string.rep makes at most %d bytes in a sandbox", (int)PATTERN_STEPS_MAX);
    return call_original(state);
}

/* A table with a metatable can claim any length. */
static int plain_table_only(lua_State *state)
{
    luaL_checktype(state, 1, LUA_TTABLE);
    if (lua_getmetatable(state, 1))
        return luaL_error(state, "this needs a table without a metatable in a sandbox");
    return call_original(state);
}

/* Finalizers run without limits. */
static int set_metatable(lua_State *state)
{
    if (lua_istable(state, 2)) {
        lua_pushliteral(state, "__gc");
        lua_rawget(state, 2);
        if (!lua_isnil(state, -1))
            return luaL_error(state, "there are no finalizers in a sandbox");
        lua_pop(state, 1);
    }
    return call_original(state);
}

/* Wraps a function of the table on top of the stack. */
static void wrap(lua_State *state, const char *name, lua_CFunction wrapper)
{
    lua_getfield(state, -1, name);
    if (lua_isnil(state, -1)) {
        lua_pop(state, 1);
        return;
    }
    lua_pushcclosure(state, wrapper, 1);
    lua_setfield(state, -2, name);
}

/* Leaves only these names, a list that ends with NULL, in the table on top of the stack. */
static void keep_only(lua_State *state, const char *const *names)
{
    lua_newtable(state);
    for (; *names; ++names) {
        lua_getfield(state, -2, *names);
        lua_setfield(state, -2, *names);
    }
    lua_pushnil(state);
    while (lua_next(state, -3)) {
        lua_pop(state, 1);
        lua_pushvalue(state, -1);
        lua_rawget(state, -3);
        bool is_kept = !lua_isnil(state, -1);
        lua_pop(state, 1);
        if (!is_kept) { /* clearing a field during the loop is allowed */
            lua_pushvalue(state, -1);
            lua_pushnil(state);
            lua_rawset(state, -5);
        }
    }
    lua_pop(state, 1);
}

/* There is no xpcall: its handler would run inside the hook that ends a script, where nothing ends it. Coroutines have hooks of their own. */
static void restrict_library(lua_State *state)
{
    static const char *const base[] = {"assert", "error",        "getmetatable", "ipairs", "math",     "next",
                                       "pairs",  "pcall",        "rawequal",     "rawget", "rawlen",   "rawset",
                                       "select", "bit",          "string",       "table",  "tonumber", "tostring",
                                       "type",   "setmetatable", "unpack",       "_G",     "_VERSION", NULL};
    static const char *const strings[] = {"byte",  "char",  "find", "format",  "gmatch", "gsub",  "len",
                                          "lower", "match", "rep",  "reverse", "sub",    "upper", NULL};
    static const char *const tables[] = {"concat", "insert", "remove", "sort", "unpack", NULL};
    static const char *const patterns[] = {"find", "gmatch", "gsub", "match", NULL};

    lua_getglobal(state, "_G");
    keep_only(state, base);
    wrap(state, "setmetatable", set_metatable);
    lua_getfield(state, -1, "string");
    keep_only(state, strings);
    wrap(state, "rep", repeat_within_limits);
    for (const char *const *name = patterns; *name; ++name)
        wrap(state, *name, match_within_limits);
    lua_pop(state, 1);
    lua_getfield(state, -1, "table");
    keep_only(state, tables);
    for (const char *const *name = tables; *name; ++name)
        wrap(state, *name, plain_table_only);
    lua_pop(state, 2);
}

void micap_lua_open_library(lua_State *state, micap_lua_script *script)
{
    luaL_openlibs(state);
    if (script->limits.sandbox) {
        micap_lua_interpret_only(state);
        restrict_library(state);
    }
    lua_pushcfunction(state, print_line);
    lua_setglobal(state, "print");
}
