/* The layout of a component as a declaration in C, for LuaJIT's FFI. */
#ifndef MICAP_LUA_COLUMN_LAYOUT_H
#define MICAP_LUA_COLUMN_LAYOUT_H

#include "mica/describe.h"

/* Writes the type of a pointer to its values. Returns false for components that scripts get as checked columns: with fields that FFI would
 * show differently (text, lists, entities, enums, 64-bit integers, arrays), or a text that does not fit. */
bool micap_lua_describe_column(const mica_type *type, bool is_writable, char *text, size_t capacity);

#endif
