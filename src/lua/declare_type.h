/* Components from text: "f32 x, f32 y, text name, entity target, i32 slots[4], f32 scores[]". */
#ifndef MICAP_LUA_DECLARE_TYPE_H
#define MICAP_LUA_DECLARE_TYPE_H

#include "lua/script.h"

/* Defines a component of the world from the name at position 1 of the stack, the fields at 2 and the options at 3, which may be nil. Returns it, or raises an
 * error of Lua. */
mica_component micap_lua_define_component(lua_State *state, const micap_lua_script *script, mica_storage storage);

#endif
