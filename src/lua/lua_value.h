/* Described values from and to values of Lua. A struct is a table by the names of its fields, an array or list a table from 1 on, text a
 * string, an enum the name of its constant, an entity a number, and no entity is 0. */
#ifndef MICAP_LUA_VALUE_H
#define MICAP_LUA_VALUE_H

#include "lua/script.h"

#include "mica/value.h"

/* An entity as a number that LuaJIT can hold exactly. */
void micap_lua_push_entity(lua_State *state, mica_entity entity);
mica_entity micap_lua_check_entity(lua_State *state, int position);

/* Whether scripts get a value of Lua, not a reference: numbers, text and lists. */
bool micap_lua_is_scalar(mica_member member);

/* Pushes a copy. */
void micap_lua_push_value(lua_State *state, mica_member member);

/* Sets a value from the one on top of the stack, or raises an error of Lua. A struct gets the fields that the table names. */
void micap_lua_assign(lua_State *state, micap_lua_script *script, mica_member member);

/* Pushes a new value of a component in the memory of the script, which destroys it, too. Returns it, or NULL for a tag. */
void *micap_lua_push_scratch(lua_State *state, mica_component component);
void micap_lua_define_scratch(lua_State *state);

#endif
