/* Scripts: a state of Lua each, what it declared, and what it has used of its limits.
 *
 *     lua_host.c        the public functions: loading, replacing and removing scripts
 *     script.c          calls from the world into a script, and what ends them
 *     sandbox.c         what a sandbox leaves of the library of Lua; memory and time
 *     declare.c         mica.component, mica.system, mica.observer, mica.handler, mica.query
 *     declare_type.c    the fields of a component, from text
 *     world_access.c    mica.create, mica.get, mica.send and others
 *     reference.c       columns and values in the memory of the world
 *     view_table.c      views, events and messages as tables
 *     lua_value.c       values from and to Lua
 *     engine.c          LuaJIT and Lua 5.4 */
#ifndef MICAP_LUA_SCRIPT_H
#define MICAP_LUA_SCRIPT_H

#include "lua/engine.h"

#include "base/memory.h"
#include "os/file.h"

#include "mica/flow.h"
#include "mica/lua.h"
#include "mica/query_text.h"

enum {
    MICAP_LUA_NAME_BYTES = 64,
    MICAP_LUA_DECLARED_MAX = 128, /* functions of a script, and as many queries and components */
    MICAP_LUA_USES_MAX = 32,
};

typedef enum micap_lua_role {
    MICAP_LUA_START = 0,
    MICAP_LUA_SYSTEM,
    MICAP_LUA_OBSERVER,
    MICAP_LUA_HANDLER,
} micap_lua_role;

struct micap_lua_script;

/* A function that a script declared. In the memory of the script, and as long there as the script. */
typedef struct micap_lua_function {
    struct micap_lua_script *script;
    struct micap_lua_function *next;
    int reference; /* of the function, in the registry */
    micap_lua_role role;
    char name[MICAP_LUA_NAME_BYTES];
    bool has_terms;
    uint32_t term_count;
    mica_term terms[MICA_TERMS_MAX];
    uint32_t use_count;
    mica_use uses[MICAP_LUA_USES_MAX];
    /* Of a system. */
    mica_system system;
    mica_phase phase;
    uint32_t every_frames;
    bool exclusive;
    uint32_t order_counts[2]; /* before, after */
    char orders[2][MICA_SYSTEM_ORDERS_MAX][MICAP_LUA_NAME_BYTES];
    /* Of an observer. */
    mica_observer observer;
    mica_event_kind event;
    /* Of an observer and a handler. */
    mica_component component;
    mica_component message;
} micap_lua_function;

/* A query of a script, the same. */
typedef struct micap_lua_query {
    struct micap_lua_query *next;
    mica_query *query;
    uint32_t term_count;
    mica_term terms[MICA_TERMS_MAX];
} micap_lua_query;

/* A call of a script that runs. References are valid until it ends. */
typedef struct micap_lua_call {
    struct micap_lua_call *outer;
    const micap_lua_function *function; /* NULL: the file itself, while it is loaded */
    uint64_t number;
    const mica_frame *frame; /* of a system or a handler */
    mica_view *view;
    const mica_event *event;
    const mica_message *message;
    mica_random random;
    bool has_random;
} micap_lua_call;

typedef struct micap_lua_script {
    mica_lua *lua;
    struct micap_lua_script *next;
    lua_State *state;
    lua_State *running; /* of the innermost call: a coroutine, perhaps */
    micap_lua_call *call;
    uint64_t call_count;
    micap_lua_function *functions;
    micap_lua_query *queries;
    uint32_t declared_count;
    int entry;     /* in the registry: the C function that calls a function, */
    int traceback; /* the one that describes errors, */
    int ffi;       /* and the one that makes columns of LuaJIT */
    mica_lua_script_def limits;
    struct micap_lua_block *blocks; /* of memory */
    size_t memory_bytes;
    bool is_limited; /* memory is limited, from the moment the library is there */
    bool is_opening; /* while the state is made */
    bool has_used_reserve;
    uint64_t deadline_ns;
    uint64_t used_ns;
    uint64_t frame;
    uint64_t change_count;
    bool is_stopped;
    bool is_file;
    micap_file_stamp stamp;
    size_t name_bytes;
    char name[];
} micap_lua_script;

/* A C handler for all handlers in Lua of a component and a message. */
typedef struct micap_lua_pair {
    mica_lua *lua;
    struct micap_lua_pair *next;
    mica_component component;
    mica_component message;
} micap_lua_pair;

struct mica_lua {
    mica_world *world;
    micap_memory memory;
    mica_lua_def def;
    mica_component turn; /* every function in Lua writes it, so that they never run at the same time */
    micap_lua_script *scripts;
    micap_lua_pair *pairs;
    uint32_t call_depth;
};

/* Makes a state with everything that a script sees. Returns NULL if memory runs out. */
micap_lua_script *micap_lua_script_create(mica_lua *lua, const char *name, const mica_lua_script_def *def);
/* Closes the state. What it declared must be removed from the world. */
void micap_lua_script_destroy(micap_lua_script *script);

/* Runs the text of a script, which declares things. Returns false with a report. */
bool micap_lua_script_run(micap_lua_script *script, const char *text, size_t byte_count);

/* Calls a function, which the fields of the call describe. Returns false with a report if it fails; the script is stopped then. */
bool micap_lua_script_call(micap_lua_script *script, micap_lua_call *call);

/* The script that a function of the library is called by. */
micap_lua_script *micap_lua_script_of(lua_State *state);

/* Counts changes of a sandbox, and ends the script with an error of Lua if there are too many. */
void micap_lua_count_changes(lua_State *state, micap_lua_script *script, size_t count);

/* Ends the function with an error of Lua, unless the running function declared this access. Observers and functions that run at the
 * start are alone and may access everything. */
void micap_lua_check_access(lua_State *state, const micap_lua_script *script, mica_component component, bool write);

/* Ends the function with an error of Lua if it runs in a system or handler, or while the script is loaded. */
void micap_lua_check_alone(lua_State *state, const micap_lua_script *script, const char *name);

/* The component of a name on the stack, or an error of Lua. */
mica_component micap_lua_check_component(lua_State *state, const micap_lua_script *script, int position);

#endif
