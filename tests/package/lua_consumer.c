/* Uses mica::lua of an installed Mica. */
#include <mica/flow.h>
#include <mica/lua.h>

#include <stdio.h>

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_lua *lua = mica_lua_create(world, NULL);
    mica_lua_load_text(lua, "answer", "mica.system('answer', {}, function() print(6 * 7) end)", NULL);
    mica_step(world, 1);
    mica_lua_destroy(lua);
    mica_world_destroy(world);
}
