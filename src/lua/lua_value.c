#include "lua/lua_value.h"

#include "lua/reference.h"

#include "mica/list.h"
#include "mica/text.h"

#include <math.h>
#include <string.h>

/* Generations have 24 bits, and LuaJIT's numbers 53. */
static const double index_count = 536870912;

void micap_lua_push_entity(lua_State *state, mica_entity entity)
{
    micap_lua_push_integer(state, (int64_t)entity.generation * (int64_t)index_count + entity.index);
}

mica_entity micap_lua_check_entity(lua_State *state, int position)
{
    double number = luaL_checknumber(state, position);
    if (!(number >= 0 && number < 9007199254740992.0) || floor(number) != number)
        luaL_argerror(state, position, "an entity was expected");
    double generation = floor(number / index_count);
    return (mica_entity){(uint32_t)(number - generation * index_count), (uint32_t)generation};
}

bool micap_lua_is_scalar(mica_member member)
{
    bool is_text = member.kind == MICA_KIND_CHAR && member.count;
    return is_text || (!member.count && member.kind != MICA_KIND_STRUCT);
}

/* Reading */

static int64_t read_integer(mica_member member)
{
    int64_t value = 0;
    switch (member.element_bytes) {
    case 1: {
        uint8_t bits;
        memcpy(&bits, member.data, sizeof bits);
        return member.kind == MICA_KIND_I8 ? (int64_t)(int8_t)bits : (int64_t)bits;
    }
    case 2: {
        uint16_t bits;
        memcpy(&bits, member.data, sizeof bits);
        return member.kind == MICA_KIND_I16 ? (int64_t)(int16_t)bits : (int64_t)bits;
    }
    case 4: {
        uint32_t bits;
        memcpy(&bits, member.data, sizeof bits);
        return member.kind == MICA_KIND_I32 ? (int64_t)(int32_t)bits : (int64_t)bits;
    }
    default: memcpy(&value, member.data, sizeof value); return value;
    }
}

static void push_real(lua_State *state, mica_member member)
{
    float narrow;
    double wide;
    if (member.kind == MICA_KIND_F32) {
        memcpy(&narrow, member.data, sizeof narrow);
        wide = (double)narrow;
    } else {
        memcpy(&wide, member.data, sizeof wide);
    }
    lua_pushnumber(state, wide);
}

/* Names of constants and the like, as mica_value_write has them: a string without its quotes, or other text. */
static void push_written(lua_State *state, mica_member member)
{
    if (member.kind == MICA_KIND_ASSET && ((const mica_asset *)member.data)->path_hash == 0) {
        lua_pushliteral(state, "");
        return;
    }
    size_t length = mica_value_write(member, NULL, 0);
    char *text = lua_newuserdata(state, length + 1);
    mica_value_write(member, text, length + 1);
    bool is_quoted = length >= 2 && text[0] == '"';
    lua_pushlstring(state, text + is_quoted, is_quoted ? length - 2 : length);
    lua_remove(state, -2);
}

static void push_members(lua_State *state, mica_member member)
{
    bool is_struct = member.kind == MICA_KIND_STRUCT && !member.count;
    lua_newtable(state);
    luaL_checkstack(state, 4, "a value");
    for (uint32_t i = 0, count = mica_member_count(member); i < count; ++i) {
        mica_member part = mica_member_at(member, i);
        micap_lua_push_value(state, part);
        if (is_struct)
            lua_setfield(state, -2, part.name);
        else
            lua_rawseti(state, -2, (int)i + 1);
    }
}

void micap_lua_push_value(lua_State *state, mica_member member)
{
    if (member.kind == MICA_KIND_CHAR && member.count) {
        const char *end = memchr(member.data, 0, member.count);
        lua_pushlstring(state, member.data, end ? (size_t)(end - (const char *)member.data) : member.count);
        return;
    }
    if (member.count || member.kind == MICA_KIND_STRUCT || member.kind == MICA_KIND_LIST) {
        push_members(state, member);
        return;
    }
    switch (member.kind) {
    case MICA_KIND_BOOL: lua_pushboolean(state, *(const unsigned char *)member.data != 0); return;
    case MICA_KIND_F32:
    case MICA_KIND_F64: push_real(state, member); return;
    case MICA_KIND_ENTITY: micap_lua_push_entity(state, *(const mica_entity *)member.data); return;
    case MICA_KIND_TEXT: lua_pushlstring(state, mica_text_get(member.data), mica_text_length(member.data)); return;
    case MICA_KIND_ENUM:
    case MICA_KIND_FLAGS:
    case MICA_KIND_ASSET: push_written(state, member); return;
    default: micap_lua_push_integer(state, read_integer(member));
    }
}

/* Writing */

static mica_scalar scalar_of(lua_State *state)
{
    mica_scalar scalar = {.kind = MICA_KIND_NONE};
    switch (lua_type(state, -1)) {
    case LUA_TBOOLEAN:
        scalar.kind = MICA_KIND_BOOL;
        scalar.integer = lua_toboolean(state, -1);
        break;
    case LUA_TNUMBER:
        scalar.kind = micap_lua_integer(state, -1, &scalar.integer) ? MICA_KIND_I64 : MICA_KIND_F64;
        scalar.real = lua_tonumber(state, -1);
        break;
    case LUA_TSTRING:
        scalar.kind = MICA_KIND_TEXT;
        scalar.text = lua_tolstring(state, -1, &scalar.text_bytes);
        break;
    case LUA_TTABLE: scalar.kind = MICA_KIND_STRUCT; break;
    default: break;
    }
    return scalar;
}

static void assign_scalar(lua_State *state, micap_lua_script *script, mica_member member)
{
    if (lua_isnil(state, -1))
        luaL_error(state, "%s can't be nil", member.name ? member.name : "a value");
    if (member.kind == MICA_KIND_ENTITY) {
        *(mica_entity *)member.data = micap_lua_check_entity(state, lua_gettop(state));
        return;
    }
    mica_value_error error;
    mica_scalar scalar = scalar_of(state);
    if (member.kind == MICA_KIND_ASSET && scalar.kind == MICA_KIND_TEXT && !scalar.text_bytes)
        scalar.kind = MICA_KIND_NONE;
    if (scalar.kind == MICA_KIND_TEXT)
        micap_lua_count_changes(state, script, scalar.text_bytes / 64);
    if (mica_value_assign(member, scalar, &error) != MICA_OK)
        luaL_error(state, "%s: %s", member.name ? member.name : "a value", error.text);
}

/* The member that the key at position -2 of the stack means. */
static mica_member member_of_key(lua_State *state, mica_member member)
{
    int64_t position = 0;
    uint32_t count = mica_member_count(member);
    if (lua_type(state, -2) == LUA_TSTRING && !member.count && member.kind == MICA_KIND_STRUCT) {
        const char *name = lua_tostring(state, -2);
        for (uint32_t i = 0; i < count; ++i) {
            mica_member field = mica_member_at(member, i);
            if (strcmp(field.name, name) == 0)
                return field;
        }
        luaL_error(state, "%s has no field \"%s\"", member.type->name, name);
    }
    if (lua_type(state, -2) != LUA_TNUMBER || !micap_lua_integer(state, -2, &position) || position < 1 ||
        position > (int64_t)count || (member.kind == MICA_KIND_STRUCT && !member.count))
        luaL_error(state, "%s has no element of this key", member.name ? member.name : "the value");
    return mica_member_at(member, (uint32_t)position - 1);
}

static void assign_members(lua_State *state, micap_lua_script *script, mica_member member)
{
    luaL_checkstack(state, 8, "a value");
    if (member.kind == MICA_KIND_LIST && !member.count) {
        size_t count = lua_rawlen(state, -1);
        micap_lua_count_changes(state, script, count);
        mica_list *list = member.data;
        if (count > UINT32_MAX || mica_list_resize_type(list, member.type, (uint32_t)count) != MICA_OK ||
            (count && !mica_list_write_type(list, member.type)))
            luaL_error(state, "%s: there is no memory for %f elements", member.name ? member.name : "a list",
                       (double)count);
    }
    lua_pushnil(state);
    while (lua_next(state, -2)) {
        micap_lua_assign(state, script, member_of_key(state, member));
        lua_pop(state, 1);
    }
}

void micap_lua_assign(lua_State *state, micap_lua_script *script, mica_member member)
{
    const micap_lua_reference *reference = micap_lua_test_reference(state, script, -1);
    if (reference) {
        luaL_checkstack(state, 8, "a value");
        if (reference->is_column)
            luaL_error(state, "a column is no value: use a row of it");
        micap_lua_push_value(state, reference->member);
        lua_replace(state, -2);
    }
    bool has_members = member.count || member.kind == MICA_KIND_STRUCT || member.kind == MICA_KIND_LIST;
    if (lua_istable(state, -1) && has_members)
        assign_members(state, script, member);
    else
        assign_scalar(state, script, member);
}

/* Values of components that are being made */

static const char scratch_name[] = "mica.scratch";

typedef struct scratch {
    const mica_type *type; /* NULL: there is no value to destroy */
    void *value;
} scratch;

static int destroy_scratch(lua_State *state)
{
    scratch *made = luaL_checkudata(state, 1, scratch_name);
    if (made->type && made->type->destruct)
        made->type->destruct(made->value, 1, made->type->context);
    made->type = NULL;
    return 0;
}

void *micap_lua_push_scratch(lua_State *state, mica_component component)
{
    const mica_type *type = mica_component_type(component);
    size_t alignment = type->alignment > 16 ? type->alignment : 16;
    scratch *made = lua_newuserdata(state, sizeof *made + type->size_bytes + alignment);
    made->type = NULL;
    luaL_getmetatable(state, scratch_name);
    lua_setmetatable(state, -2);
    if (!type->size_bytes)
        return NULL;
    uintptr_t address = (uintptr_t)(made + 1);
    made->value = (void *)((address + alignment - 1) & ~(uintptr_t)(alignment - 1));
    memset(made->value, 0, type->size_bytes);
    if (type->construct ? !type->construct(made->value, 1, type->context)
                        : mica_value_reset(mica_member_of(component, made->value)) != MICA_OK)
        luaL_error(state, "there is no memory for a %s", type->name);
    made->type = type;
    return made->value;
}

void micap_lua_define_scratch(lua_State *state)
{
    luaL_newmetatable(state, scratch_name);
    lua_pushcfunction(state, destroy_scratch);
    lua_setfield(state, -2, "__gc");
    lua_pushboolean(state, false);
    lua_setfield(state, -2, "__metatable");
    lua_pop(state, 1);
}
