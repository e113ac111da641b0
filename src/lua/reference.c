#include "lua/reference.h"

#include "lua/lua_value.h"

#include <string.h>

static const char reference_name[] = "mica.reference";

void micap_lua_check_valid(lua_State *state, const micap_lua_script *script, uint64_t call, mica_version structure)
{
    const micap_lua_call *running = script->call;
    while (running && running->number != call)
        running = running->outer;
    if (!running || structure != mica_world_structure(script->lua->world))
        luaL_error(state,
                   "this value is no longer valid: views, columns and values last until the function returns, or "
                   "until entities or components are added or removed");
}

static void push(lua_State *state, const micap_lua_script *script, micap_lua_reference reference)
{
    micap_lua_reference *made = lua_newuserdata(state, sizeof *made);
    reference.call = script->call->number;
    reference.structure = mica_world_structure(script->lua->world);
    *made = reference;
    luaL_getmetatable(state, reference_name);
    lua_setmetatable(state, -2);
}

void micap_lua_push_reference(lua_State *state, const micap_lua_script *script, mica_member member, bool is_writable)
{
    push(state, script, (micap_lua_reference){.member = member, .is_writable = is_writable});
}

void micap_lua_push_column(lua_State *state, const micap_lua_script *script, mica_member first, uint32_t row_count,
                           uint32_t stride, bool is_writable)
{
    push(state, script,
         (micap_lua_reference){
             .member = first, .row_count = row_count, .stride = stride, .is_column = true, .is_writable = is_writable});
}

void micap_lua_push_entities(lua_State *state, const micap_lua_script *script, const mica_entity *entities,
                             uint32_t count)
{
    mica_member first = {
        .data = (void *)(uintptr_t)entities, .kind = MICA_KIND_ENTITY, .element_bytes = sizeof *entities};
    micap_lua_push_column(state, script, first, count, sizeof *entities, false);
}

const micap_lua_reference *micap_lua_test_reference(lua_State *state, const micap_lua_script *script, int position)
{
    const micap_lua_reference *reference = luaL_testudata(state, position, reference_name);
    if (reference)
        micap_lua_check_valid(state, script, reference->call, reference->structure);
    return reference;
}

/* The member that the key at position 2 of the stack means, or an error of Lua. */
static mica_member find(lua_State *state, const micap_lua_reference *reference)
{
    mica_member member = reference->member;
    if (!reference->is_column && !member.count && member.kind == MICA_KIND_STRUCT) {
        const char *name = luaL_checkstring(state, 2);
        for (uint32_t i = 0, count = mica_member_count(member); i < count; ++i) {
            mica_member field = mica_member_at(member, i);
            if (strcmp(field.name, name) == 0)
                return field;
        }
        luaL_error(state, "%s has no field \"%s\"", member.type->name, name);
    }
    int64_t position = 0;
    uint32_t count = reference->is_column ? reference->row_count : member.count;
    if (lua_type(state, 2) != LUA_TNUMBER || !micap_lua_integer(state, 2, &position) || position < 1 ||
        position > count)
        luaL_error(state, "there are rows 1 to %d", (int)count);
    if (!reference->is_column)
        return mica_member_at(member, (uint32_t)position - 1);
    member.data = (char *)member.data + (size_t)(position - 1) * reference->stride;
    return member;
}

static const micap_lua_reference *check_reference(lua_State *state, const micap_lua_script *script)
{
    const micap_lua_reference *reference = luaL_checkudata(state, 1, reference_name);
    micap_lua_check_valid(state, script, reference->call, reference->structure);
    return reference;
}

static int get(lua_State *state)
{
    micap_lua_script *script = micap_lua_script_of(state);
    const micap_lua_reference *reference = check_reference(state, script);
    mica_member member = find(state, reference);
    if (micap_lua_is_scalar(member))
        micap_lua_push_value(state, member);
    else
        micap_lua_push_reference(state, script, member, reference->is_writable);
    return 1;
}

static int set(lua_State *state)
{
    micap_lua_script *script = micap_lua_script_of(state);
    const micap_lua_reference *reference = check_reference(state, script);
    if (!reference->is_writable)
        return luaL_error(state, "this is not declared as written: use a term with write");
    mica_member member = find(state, reference);
    lua_settop(state, 3);
    micap_lua_assign(state, script, member);
    return 0;
}

static int length(lua_State *state)
{
    micap_lua_script *script = micap_lua_script_of(state);
    const micap_lua_reference *reference = check_reference(state, script);
    micap_lua_push_integer(state, reference->is_column ? reference->row_count : mica_member_count(reference->member));
    return 1;
}

void micap_lua_define_references(lua_State *state)
{
    static const luaL_Reg functions[] = {{"__index", get}, {"__newindex", set}, {"__len", length}, {NULL, NULL}};
    luaL_newmetatable(state, reference_name);
    luaL_setfuncs(state, functions, 0);
    lua_pushboolean(state, false);
    lua_setfield(state, -2, "__metatable");
    lua_pop(state, 1);
    micap_lua_define_scratch(state);
}
