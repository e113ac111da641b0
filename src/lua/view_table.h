/* What functions of scripts are called with: tables with the count and the time, and columns that are made when they are asked for. */
#ifndef MICAP_LUA_VIEW_TABLE_H
#define MICAP_LUA_VIEW_TABLE_H

#include "lua/script.h"

void micap_lua_push_frame(lua_State *state, const mica_frame *frame);
void micap_lua_push_view(lua_State *state, const micap_lua_script *script, mica_view *view, const mica_term *terms,
                         uint32_t term_count);
void micap_lua_push_event(lua_State *state, const micap_lua_script *script, const mica_event *event);
void micap_lua_push_message(lua_State *state, const micap_lua_script *script, const mica_message *message);

/* Pushes a function that returns the next view of the query each time. */
void micap_lua_push_view_loop(lua_State *state, micap_lua_script *script, const micap_lua_query *query);

/* Makes the metatable of views. */
void micap_lua_define_views(lua_State *state);

/* The name of an event, such as "add", and the event of a name; MICA_EVENT_USER if there is none. */
const char *micap_lua_event_name(mica_event_kind kind);
mica_event_kind micap_lua_event_of(const char *name);

#endif
