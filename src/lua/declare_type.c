#include "lua/declare_type.h"

#include "mica/component.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = 40, ARRAY_MAX = 65536, VALUE_BYTES_MAX = 1 << 20 };

typedef struct builder {
    lua_State *state;
    const micap_lua_script *script;
    const char *text; /* what is left */
    mica_type type;
    mica_field fields[FIELDS_MAX];
    char names[FIELDS_MAX][MICAP_LUA_NAME_BYTES];
} builder;

/* In the order of their names in scripts. */
static const struct {
    const char *name;
    const mica_type *type;
} simple_types[] = {
    {"bool", &mica_type_of_bool},      {"char", &mica_type_of_char},          {"i8", &mica_type_of_int8_t},
    {"u8", &mica_type_of_uint8_t},     {"i16", &mica_type_of_int16_t},        {"u16", &mica_type_of_uint16_t},
    {"i32", &mica_type_of_int32_t},    {"u32", &mica_type_of_uint32_t},       {"i64", &mica_type_of_int64_t},
    {"u64", &mica_type_of_uint64_t},   {"f32", &mica_type_of_float},          {"f64", &mica_type_of_double},
    {"text", &mica_type_of_mica_text}, {"entity", &mica_type_of_mica_entity},
};

static void skip_spaces(builder *builder)
{
    builder->text += strspn(builder->text, " \t\r\n");
}

static void take_word(builder *builder, char *word)
{
    skip_spaces(builder);
    size_t length = 0;
    while (isalnum((unsigned char)builder->text[length]) || builder->text[length] == '_')
        ++length;
    if (!length || length >= MICAP_LUA_NAME_BYTES || isdigit((unsigned char)builder->text[0]))
        luaL_error(builder->state,
                   "fields are written as \"f32 x, text name, i32 slots[4], f32 scores[]\"; a word was "
                   "expected at \"%s\"",
                   builder->text);
    memcpy(word, builder->text, length);
    word[length] = 0;
    builder->text += length;
}

static const mica_type *find_type(const builder *builder, const char *name)
{
    for (size_t i = 0; i < sizeof simple_types / sizeof *simple_types; ++i)
        if (strcmp(simple_types[i].name, name) == 0)
            return simple_types[i].type;
    mica_component component = mica_component_find(builder->script->lua->world, name);
    const mica_type *type = component ? mica_component_type(component) : NULL;
    if (!type || !type->size_bytes || type->split)
        luaL_error(builder->state,
                   "there is no type \"%s\"; there are bool, char, i8 to i64, u8 to u64, f32, f64, text, "
                   "entity and components with data",
                   name);
    return type;
}

/* Takes "[4]", "[]" or nothing. Returns the count, 0 for a list. */
static uint32_t take_count(builder *builder)
{
    skip_spaces(builder);
    if (*builder->text != '[')
        return 1;
    char *end = NULL;
    unsigned long count = strtoul(builder->text + 1, &end, 10);
    bool is_list = end == builder->text + 1 && *end == ']';
    if (*end != ']' || (!is_list && (count < 1 || count > ARRAY_MAX)))
        luaL_error(builder->state, "a number from 1 to %d and ']' were expected at \"%s\"", (int)ARRAY_MAX,
                   builder->text);
    builder->text = end + 1;
    return is_list ? 0 : (uint32_t)count;
}

static void add_field(builder *builder)
{
    char type_name[MICAP_LUA_NAME_BYTES];
    uint32_t position = builder->type.field_count++;
    if (position >= FIELDS_MAX)
        luaL_error(builder->state, "a component has at most %d fields", (int)FIELDS_MAX);
    take_word(builder, type_name);
    const mica_type *type = find_type(builder, type_name);
    take_word(builder, builder->names[position]);
    uint32_t count = take_count(builder);
    bool is_list = count == 0;
    uint32_t alignment = is_list ? (uint32_t) _Alignof(mica_list) : type->alignment;
    mica_field *field = &builder->fields[position];
    *field = (mica_field){.name = builder->names[position],
                          .type = is_list || type->kind == MICA_KIND_STRUCT ? type : NULL,
                          .offset = (builder->type.size_bytes + alignment - 1) & ~(alignment - 1),
                          .element_bytes = is_list ? (uint32_t)sizeof(mica_list) : type->size_bytes,
                          .count = is_list ? 1 : count,
                          .kind = is_list ? MICA_KIND_LIST : type->kind};
    uint64_t end = field->offset + (uint64_t)field->element_bytes * field->count;
    if (end > VALUE_BYTES_MAX)
        luaL_error(builder->state, "a component of a script has at most %d bytes", (int)VALUE_BYTES_MAX);
    builder->type.size_bytes = (uint32_t)end;
    if (alignment > builder->type.alignment)
        builder->type.alignment = alignment;
}

static bool option(lua_State *state, const char *name)
{
    lua_getfield(state, 3, name);
    bool value = lua_toboolean(state, -1);
    lua_pop(state, 1);
    return value;
}

static void take_options(builder *builder)
{
    lua_State *state = builder->state;
    mica_type *type = &builder->type;
    if (lua_isnoneornil(state, 3))
        return;
    luaL_checktype(state, 3, LUA_TTABLE);
    if (option(state, "pool"))
        type->storage = MICA_STORAGE_POOL;
    type->toggle = option(state, "toggle");
    type->track_added = option(state, "track_added");
    type->track_changed = option(state, "track_changed");
    type->split = option(state, "split");
}

mica_component micap_lua_define_component(lua_State *state, const micap_lua_script *script, mica_storage storage)
{
    const char *name = luaL_checkstring(state, 1);
    const char *fields = luaL_optstring(state, 2, "");
    lua_settop(state, 3);
    builder *builder = lua_newuserdata(state, sizeof *builder);
    memset(builder, 0, sizeof *builder);
    builder->state = state;
    builder->script = script;
    builder->text = fields;
    builder->type = (mica_type){.name = name, .kind = MICA_KIND_STRUCT, .storage = storage, .fields = builder->fields};
    skip_spaces(builder);
    while (*builder->text) {
        add_field(builder);
        skip_spaces(builder);
        if (*builder->text == ',')
            ++builder->text;
        else if (*builder->text)
            luaL_error(state, "',' was expected at \"%s\"", builder->text);
    }
    mica_type *type = &builder->type;
    if (type->field_count)
        type->size_bytes = (type->size_bytes + type->alignment - 1) & ~(type->alignment - 1);
    else if (storage == MICA_STORAGE_CHUNK)
        type->storage = MICA_STORAGE_TAG;
    take_options(builder);
    const char *problem = mica_type_problem(type);
    if (problem)
        luaL_error(state, "component \"%s\": %s", name, problem);
    mica_component component = mica_component_define(script->lua->world, type);
    if (!component)
        luaL_error(state, "the component \"%s\" can't be defined: see the report before this one", name);
    return component;
}
