#include "lua/engine.h"

#include "mica/lua.h"

#include <math.h>

#if LUA_VERSION_NUM < 502
#    include <luajit.h>

const char *mica_lua_engine(void)
{
    return LUAJIT_VERSION;
}

void micap_lua_interpret_only(lua_State *state)
{
    luaJIT_setmode(state, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
}

bool micap_lua_integer(lua_State *state, int position, int64_t *out_value)
{
    lua_Number number = lua_tonumber(state, position);
    if (!(number >= -9223372036854775808.0 && number < 9223372036854775808.0) || floor(number) != number)
        return false;
    *out_value = (int64_t)number;
    return true;
}

void micap_lua_push_integer(lua_State *state, int64_t value)
{
    lua_pushnumber(state, (lua_Number)value);
}

bool micap_lua_protect(lua_State *state, lua_CFunction function)
{
    return lua_cpcall(state, function, NULL) == 0;
}

/* Rows count from 1, so the pointer is one row before the first. Handles become numbers, as everywhere in scripts. */
static const char ffi_text[] = "local ffi, types, handles = require('ffi'), {}, nil\n"
                               "ffi.cdef('typedef struct { uint32_t index, generation; } mica_lua_handle;'\n"
                               "    .. 'typedef struct { const mica_lua_handle *first; } mica_lua_handles;')\n"
                               "handles = ffi.metatype('mica_lua_handles', { __index = function(self, row)\n"
                               "    local handle = self.first[row]\n"
                               "    return handle.generation * 536870912 + handle.index\n"
                               "end })\n"
                               "return function(description, address)\n"
                               "    if not description then\n"
                               "        return handles(ffi.cast('const mica_lua_handle *', address) - 1)\n"
                               "    end\n"
                               "    local found = types[description]\n"
                               "    if not found then\n"
                               "        found = ffi.typeof(description)\n"
                               "        types[description] = found\n"
                               "    end\n"
                               "    return ffi.cast(found, address) - 1\n"
                               "end\n";

void micap_lua_push_ffi(lua_State *state)
{
    if (luaL_loadbufferx(state, ffi_text, sizeof ffi_text - 1, "=mica", "t") != 0)
        lua_error(state);
    lua_call(state, 0, 1);
}
#else
const char *mica_lua_engine(void)
{
    return LUA_VERSION;
}

void micap_lua_interpret_only(lua_State *state)
{
    (void)state;
}

bool micap_lua_integer(lua_State *state, int position, int64_t *out_value)
{
    int is_integer = 0;
    *out_value = lua_tointegerx(state, position, &is_integer);
    return is_integer && lua_type(state, position) == LUA_TNUMBER;
}

void micap_lua_push_integer(lua_State *state, int64_t value)
{
    lua_pushinteger(state, value);
}

bool micap_lua_protect(lua_State *state, lua_CFunction function)
{
    lua_pushcfunction(state, function);
    return lua_pcall(state, 0, 0, 0) == LUA_OK;
}

void micap_lua_push_ffi(lua_State *state)
{
    lua_pushnil(state);
}
#endif
