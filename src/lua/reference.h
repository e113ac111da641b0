/* Values and columns in the memory of the world, as userdata. Every access is checked: that the call which made the reference still runs,
 * that nothing moved since, that the row exists, and that it may be written. */
#ifndef MICAP_LUA_REFERENCE_H
#define MICAP_LUA_REFERENCE_H

#include "lua/script.h"

#include "mica/value.h"

typedef struct micap_lua_reference {
    mica_member member; /* the value, or that of the first row */
    uint64_t call;      /* the number of the call that made it */
    mica_version structure;
    uint32_t row_count; /* of a column; 0: one value */
    uint32_t stride;
    bool is_column;
    bool is_writable;
} micap_lua_reference;

/* Makes the metatables. */
void micap_lua_define_references(lua_State *state);

/* Pushes a reference to one value, or to a column. */
void micap_lua_push_reference(lua_State *state, const micap_lua_script *script, mica_member member, bool is_writable);
void micap_lua_push_column(lua_State *state, const micap_lua_script *script, mica_member first, uint32_t row_count,
                           uint32_t stride, bool is_writable);

/* Pushes a column of handles. */
void micap_lua_push_entities(lua_State *state, const micap_lua_script *script, const mica_entity *entities,
                             uint32_t count);

/* The reference at a position of the stack, or NULL; an error of Lua if it is no longer valid. */
const micap_lua_reference *micap_lua_test_reference(lua_State *state, const micap_lua_script *script, int position);

/* An error of Lua unless a call of this number runs, and nothing moved since. */
void micap_lua_check_valid(lua_State *state, const micap_lua_script *script, uint64_t call, mica_version structure);

#endif
