/* Random programs in Lua, for mods that must do no harm whatever they contain. */
#ifndef MICA_TESTS_SUPPORT_LUA_PROGRAMS_H
#define MICA_TESTS_SUPPORT_LUA_PROGRAMS_H

#include "random.h"

#include "mica/world.h"

#include <stddef.h>

/* Defines the components that programs use, and one that they can't name: it has a secret. */
void lua_programs_define(mica_world *world);
bool lua_programs_secret_is_kept(mica_world *world);

/* Writes a program that often declares something sensible. */
void lua_programs_write(random_source *random, char *text, size_t capacity);

#endif
