/* The functions of the table `mica` that read and change the world. */
#ifndef MICAP_LUA_WORLD_ACCESS_H
#define MICAP_LUA_WORLD_ACCESS_H

#include "lua/script.h"

/* Adds the functions to the table on top of the stack. */
void micap_lua_open_access(lua_State *state);

#endif
