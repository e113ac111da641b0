/* What a script can use of the library of Lua, and the limits of a sandbox. */
#ifndef MICAP_LUA_SANDBOX_H
#define MICAP_LUA_SANDBOX_H

#include "lua/script.h"

/* The allocator of a state, whose context is the script. */
void *micap_lua_allocate(void *script, void *block, size_t old_bytes, size_t new_bytes);

/* Frees what a closed state has left. */
void micap_lua_free_blocks(micap_lua_script *script);

/* Opens the library: all of it, or what a sandbox has. May raise an error of Lua. */
void micap_lua_open_library(lua_State *state, micap_lua_script *script);

/* Starts to measure the time of the outermost call; the budget is new in every frame. Ends it. */
void micap_lua_begin_budget(micap_lua_script *script);
void micap_lua_end_budget(micap_lua_script *script);

#endif
