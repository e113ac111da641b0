/* libFuzzer: any text as a mod, and any seed of a random program. Nothing is read or written that the mod was not given. */
#include "../support/lua_programs.h"

#include "mica/flow.h"
#include "mica/lua.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore_report(const mica_report *report, void *context)
{
    (void)report, (void)context;
}

static void ignore_line(const char *text, void *context)
{
    (void)text, (void)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[1 << 16];
    if (size < 9 || size > 4096)
        return 0;
    random_source random;
    memcpy(&random.state, data + 1, sizeof random.state);
    lua_programs_write(&random, text, sizeof text);
    if (data[0] % 2) { /* bytes, alone or inside a program */
        size_t at = data[0] % 4 == 1 ? 0 : random_below(&random, (uint32_t)strlen(text));
        memcpy(text + at, data + 9, size - 9);
        text[at + size - 9] = 0;
    }
    mica_world *world = mica_world_create(&(mica_world_def){.report = ignore_report});
    mica_lua *lua = mica_lua_create(world, &(mica_lua_def){.print = ignore_line});
    lua_programs_define(world);
    mica_lua_script_def limits = {
        .sandbox = true, .time_limit_seconds = 0.01, .memory_limit_bytes = 2 << 20, .change_limit = 500};
    mica_lua_load_text(lua, "mod", text, &limits);
    mica_step(world, 0.1f);
    mica_step(world, 0.1f);
    if (!lua_programs_secret_is_kept(world) || mica_world_validate(world) != MICA_OK)
        abort();
    mica_lua_destroy(lua);
    mica_world_destroy(world);
    return 0;
}
