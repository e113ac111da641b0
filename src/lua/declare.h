/* The functions of the table `mica` that declare something, while a script is loaded. */
#ifndef MICAP_LUA_DECLARE_H
#define MICAP_LUA_DECLARE_H

#include "lua/script.h"

/* Adds the functions to the table on top of the stack. */
void micap_lua_open_declarations(lua_State *state);

#endif
