/* What scripts declared, in the world: systems, observers and handlers that call them. */
#ifndef MICAP_LUA_REGISTRATION_H
#define MICAP_LUA_REGISTRATION_H

#include "lua/script.h"

/* Adds what a script declared, in place of what an old one did, which may be NULL: systems of the same name keep their place. Returns
 * false with a report, and then nothing changed. */
bool micap_lua_register(micap_lua_script *script, micap_lua_script *old);

/* Removes what a script declared, except systems that `successor`, which may be NULL, has taken over. */
void micap_lua_unregister(micap_lua_script *script, const micap_lua_script *successor);

/* Removes handlers of the world that have no handlers in Lua. */
void micap_lua_drop_pairs(mica_lua *lua);

/* Calls the functions of mica.start. Returns false if one failed. */
bool micap_lua_start(micap_lua_script *script);

#endif
