/* The two engines, LuaJIT (Lua 5.1 with additions of 5.2) and Lua 5.4, as one. No other folder includes headers of Lua. */
#ifndef MICAP_LUA_ENGINE_H
#define MICAP_LUA_ENGINE_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include <stdbool.h>
#include <stdint.h>

#if LUA_VERSION_NUM < 502
#    define MICAP_LUA_HAS_FFI true
#    define lua_rawlen lua_objlen
#else
#    define MICAP_LUA_HAS_FFI false
#endif

/* Turns the compiler off: compiled code calls no hooks, so that nothing could end it. */
void micap_lua_interpret_only(lua_State *state);

/* Whether a number is an integer that fits 64 bits, and which. */
bool micap_lua_integer(lua_State *state, int position, int64_t *out_value);

/* Pushes an integer, as a real number where the engine has no others. */
void micap_lua_push_integer(lua_State *state, int64_t value);

/* Calls a C function in protected mode, also if there is no memory to push it. Returns whether it succeeded. */
bool micap_lua_protect(lua_State *state, lua_CFunction function);

/* Pushes a function that makes a column of LuaJIT from a description in C and an address; nil where there is no FFI. */
void micap_lua_push_ffi(lua_State *state);

#endif
