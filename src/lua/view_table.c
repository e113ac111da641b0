#include "lua/view_table.h"

#include "lua/column_layout.h"
#include "lua/lua_value.h"
#include "lua/reference.h"

#include "mica/split.h"

#include <string.h>

static const char view_name[] = "mica.view";

/* In element 0 of the table of a view. */
typedef struct holder {
    mica_view *view;
    mica_view own; /* of a loop over a query */
    mica_query *query;
    uint64_t call;
    mica_version structure;
    const mica_term *terms;
    uint32_t term_count;
} holder;

static void set_number(lua_State *state, const char *name, double value)
{
    lua_pushnumber(state, value);
    lua_setfield(state, -2, name);
}

static void set_integer(lua_State *state, const char *name, uint64_t value)
{
    micap_lua_push_integer(state, (int64_t)value);
    lua_setfield(state, -2, name);
}

void micap_lua_push_frame(lua_State *state, const mica_frame *frame)
{
    lua_newtable(state);
    if (frame) {
        set_number(state, "dt", (double)frame->dt);
        set_number(state, "seconds", frame->seconds);
        set_integer(state, "tick", frame->tick);
    }
}

/* Pushes columns of LuaJIT's FFI if the script has them: `description` is text, or NULL for handles. */
static bool push_pointer(lua_State *state, const micap_lua_script *script, const char *description, const void *first)
{
    lua_rawgeti(state, LUA_REGISTRYINDEX, script->ffi);
    if (lua_isnil(state, -1)) {
        lua_pop(state, 1);
        return false;
    }
    lua_pushstring(state, description);
    lua_pushlightuserdata(state, (void *)(uintptr_t)first);
    lua_call(state, 2, 1);
    return true;
}

static void push_handles(lua_State *state, const micap_lua_script *script, const mica_view *view)
{
    if (!push_pointer(state, script, NULL, view->entities))
        micap_lua_push_entities(state, script, view->entities, view->count);
}

static void push_whole(lua_State *state, const micap_lua_script *script, mica_component component, void *first,
                       uint32_t row_count, bool is_writable)
{
    char description[1024];
    const mica_type *type = mica_component_type(component);
    if (!script->limits.sandbox && micap_lua_describe_column(type, is_writable, description, sizeof description) &&
        push_pointer(state, script, description, first))
        return;
    micap_lua_push_column(state, script, mica_member_of(component, first), row_count, type->size_bytes, is_writable);
}

/* Split components */

typedef struct split_column {
    mica_view *view;
    mica_component component;
    bool is_writable;
} split_column;

static void push_split_field(lua_State *state, const micap_lua_script *script, const split_column *split,
                             const mica_field *field, size_t offset, uint32_t count)
{
    void *first = split->is_writable
                      ? mica_view_write_field_id(split->view, split->component, offset)
                      : (void *)(uintptr_t)mica_view_read_field_id(split->view, split->component, offset);
    mica_member member = {.data = first,
                          .name = field->name,
                          .type = field->type,
                          .kind = field->kind,
                          .element_bytes = field->element_bytes,
                          .count = count > 1 ? count : 0,
                          .attributes = field->attributes};
    micap_lua_push_column(state, script, member, split->view->count, field->element_bytes * count, split->is_writable);
}

static void push_split(lua_State *state, const micap_lua_script *script, const split_column *split,
                       const mica_type *type, size_t base)
{
    luaL_checkstack(state, 4, "a split component");
    lua_newtable(state);
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        size_t offset = base + field->offset;
        bool is_struct = field->kind == MICA_KIND_STRUCT;
        if (!is_struct && (field->count == 1 || field->count > 4 || field->kind == MICA_KIND_CHAR)) {
            push_split_field(state, script, split, field, offset, field->count);
        } else if (field->count == 1) {
            push_split(state, script, split, field->type, offset);
        } else {
            lua_newtable(state);
            for (uint32_t k = 0; k < field->count; ++k) {
                if (is_struct)
                    push_split(state, script, split, field->type, offset + (size_t)k * field->element_bytes);
                else
                    push_split_field(state, script, split, field, offset + (size_t)k * field->element_bytes, 1);
                lua_rawseti(state, -2, (int)k + 1);
            }
        }
        lua_setfield(state, -2, field->name);
    }
}

/* Columns of views */

static bool is_about_rows(const mica_term *term)
{
    const mica_type *type = mica_component_type(term->component);
    return term->subject.kind <= MICA_NODE_THIS && !term->up && !term->down && !term->cascade && !type->relation &&
           type->storage != MICA_STORAGE_SINGLETON;
}

static void push_term(lua_State *state, const micap_lua_script *script, mica_view *view, const mica_term *term,
                      uint32_t position)
{
    const mica_type *type = mica_component_type(term->component);
    bool is_writable = term->access == MICA_ACCESS_WRITE || term->access == MICA_ACCESS_MAYBE_WRITE;
    bool has_column = is_writable || term->access == MICA_ACCESS_READ || term->access == MICA_ACCESS_MAYBE_READ ||
                      term->access == MICA_ACCESS_EITHER || term->access == MICA_ACCESS_OR;
    if (!has_column || !type->size_bytes) {
        lua_pushboolean(state, mica_view_has_at(view, position));
    } else if (type->split) {
        if (mica_view_has_at(view, position))
            push_split(state, script, &(split_column){view, term->component, is_writable}, type, 0);
        else
            lua_pushnil(state);
    } else {
        void *first =
            is_writable ? mica_view_write_at(view, position) : (void *)(uintptr_t)mica_view_read_at(view, position);
        if (first)
            push_whole(state, script, term->component, first, is_about_rows(term) ? view->count : 1, is_writable);
        else
            lua_pushnil(state);
    }
}

/* The column stays in the table, so that the next access costs nothing. */
static int get_column(lua_State *state)
{
    micap_lua_script *script = micap_lua_script_of(state);
    luaL_checktype(state, 1, LUA_TTABLE);
    lua_rawgeti(state, 1, 0);
    const holder *held = luaL_checkudata(state, -1, view_name);
    micap_lua_check_valid(state, script, held->call, held->structure);
    const char *name = luaL_checkstring(state, 2);
    bool is_found = strcmp(name, "entities") == 0;
    if (is_found)
        push_handles(state, script, held->view);
    for (uint32_t i = 0; i < held->term_count && !is_found; ++i)
        if (strcmp(mica_component_type(held->terms[i].component)->name, name) == 0) {
            push_term(state, script, held->view, &held->terms[i], i);
            is_found = true;
        }
    if (!is_found)
        return luaL_error(state, "the terms do not name \"%s\"", name);
    lua_pushvalue(state, 2);
    lua_pushvalue(state, -2);
    lua_rawset(state, 1);
    return 1;
}

static holder *push_holder(lua_State *state, const micap_lua_script *script, const mica_term *terms,
                           uint32_t term_count)
{
    holder *held = lua_newuserdata(state, sizeof *held);
    *held = (holder){.call = script->call->number,
                     .structure = mica_world_structure(script->lua->world),
                     .terms = terms,
                     .term_count = term_count};
    luaL_getmetatable(state, view_name);
    lua_setmetatable(state, -2);
    return held;
}

/* Makes the table of the holder on top of the stack, and replaces it. */
static void push_table(lua_State *state, const micap_lua_script *script, const mica_view *view)
{
    micap_lua_push_frame(state, script->call->frame);
    set_number(state, "dt", (double)view->dt);
    set_integer(state, "count", view->count);
    lua_insert(state, -2);
    lua_rawseti(state, -2, 0);
    luaL_getmetatable(state, view_name);
    lua_setmetatable(state, -2);
}

void micap_lua_push_view(lua_State *state, const micap_lua_script *script, mica_view *view, const mica_term *terms,
                         uint32_t term_count)
{
    holder *held = push_holder(state, script, terms, term_count);
    held->view = view;
    push_table(state, script, view);
}

static int next_view(lua_State *state)
{
    micap_lua_script *script = micap_lua_script_of(state);
    holder *loop = luaL_checkudata(state, lua_upvalueindex(1), view_name);
    if (!loop->query) {
        lua_pushnil(state);
        return 1;
    }
    micap_lua_check_valid(state, script, loop->call, loop->structure);
    if (!mica_view_next(&loop->own)) {
        loop->query = NULL;
        lua_pushnil(state);
        return 1;
    }
    /* A copy, so that a view that is kept does not become the next one. */
    holder *held = push_holder(state, script, loop->terms, loop->term_count);
    held->own = loop->own;
    held->view = &held->own;
    push_table(state, script, held->view);
    return 1;
}

void micap_lua_push_view_loop(lua_State *state, micap_lua_script *script, const micap_lua_query *query)
{
    holder *loop = push_holder(state, script, query->terms, query->term_count);
    loop->query = query->query;
    loop->own = mica_query_begin(query->query);
    loop->view = &loop->own;
    lua_pushcclosure(state, next_view, 1);
}

/* Events and messages */

static const char *const event_names[] = {"add", "set", "remove", "destroy", "enable", "disable"};

const char *micap_lua_event_name(mica_event_kind kind)
{
    return kind == MICA_EVENT_MATCH ? "match" : kind == MICA_EVENT_UNMATCH ? "unmatch" : event_names[kind];
}

mica_event_kind micap_lua_event_of(const char *name)
{
    for (mica_event_kind kind = 0; kind < MICA_EVENT_KINDS; ++kind)
        if (strcmp(event_names[kind], name) == 0)
            return kind;
    return strcmp(name, "match") == 0     ? MICA_EVENT_MATCH
           : strcmp(name, "unmatch") == 0 ? MICA_EVENT_UNMATCH
                                          : MICA_EVENT_USER;
}

static void set_rows(lua_State *state, const micap_lua_script *script, const mica_entity *entities, uint32_t count)
{
    set_integer(state, "count", count);
    micap_lua_push_entities(state, script, entities, count);
    lua_setfield(state, -2, "entities");
}

static void set_values(lua_State *state, const micap_lua_script *script, mica_component component, void *values,
                       uint32_t count)
{
    const mica_type *type = mica_component_type(component);
    lua_pushstring(state, type->name);
    lua_setfield(state, -2, "component");
    if (values && type->size_bytes) {
        micap_lua_push_column(state, script, mica_member_of(component, values), count, type->size_bytes, true);
        lua_setfield(state, -2, "values");
    }
}

void micap_lua_push_event(lua_State *state, const micap_lua_script *script, const mica_event *event)
{
    micap_lua_push_frame(state, NULL);
    lua_pushstring(state, micap_lua_event_name(event->kind));
    lua_setfield(state, -2, "kind");
    set_rows(state, script, event->entities, event->count);
    if (event->component)
        set_values(state, script, event->component, event->values, event->count);
    micap_lua_push_entity(state, event->target);
    lua_setfield(state, -2, "target");
}

void micap_lua_push_message(lua_State *state, const micap_lua_script *script, const mica_message *message)
{
    micap_lua_push_frame(state, message->frame);
    set_rows(state, script, message->entities, message->count);
    set_values(state, script, message->component, message->values, message->count);
    lua_pushstring(state, mica_component_type(message->kind)->name);
    lua_setfield(state, -2, "kind");
    mica_member data = mica_member_of(message->kind, (void *)(uintptr_t)message->data);
    if (data.data) {
        micap_lua_push_reference(state, script, data, false);
        lua_setfield(state, -2, "data");
    }
}

void micap_lua_define_views(lua_State *state)
{
    luaL_newmetatable(state, view_name);
    lua_pushcfunction(state, get_column);
    lua_setfield(state, -2, "__index");
    lua_pushboolean(state, false);
    lua_setfield(state, -2, "__metatable");
    lua_pop(state, 1);
}
