/* Lua: a game in a script, and a mod in a sandbox. */
#include "mica/flow.h"
#include "mica/lua.h"

#include <stdio.h>

int main(int argument_count, char **arguments)
{
    mica_world *world = mica_world_create(NULL);
    mica_lua *lua = mica_lua_create(world, NULL);
    const char *folder = argument_count > 1 ? arguments[1] : "examples/lua";
    char path[4096];

    snprintf(path, sizeof path, "%s/meteors.lua", folder);
    if (mica_lua_load(lua, path, NULL) != MICA_OK)
        return 1;
    for (int frame = 0; frame < 8; ++frame) {
        mica_step(world, 0.5f);
        mica_lua_reload(lua); /* edit the script, and it takes over here */
    }

    snprintf(path, sizeof path, "%s/wind.lua", folder);
    mica_lua_load(lua, path, &(mica_lua_script_def){.sandbox = true, .time_limit_seconds = 1});
    for (int frame = 0; frame < 4; ++frame)
        mica_step(world, 0.5f);
    printf("%d entities\n", (int)mica_world_get_stats(world).entity_count);

    /* A mod that never ends. The game continues. */
    mica_lua_script_def limits = {.sandbox = true, .time_limit_seconds = 0.02};
    if (mica_lua_load_text(lua, "endless", "while true do end", &limits) != MICA_OK)
        printf("the endless mod is not loaded\n");

    mica_lua_destroy(lua);
    mica_world_destroy(world);
}
