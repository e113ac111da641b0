/* pos += vel over a million entities in a script, compared with the same loop in C over the same columns. Prints both times per entity
 * and their ratio, the smallest of several runs; exits with 1 if the ratio is above the limit in the first argument. */
#include "mica/flow.h"
#include "mica/lua.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ENTITIES = 1000000, RUNS = 40 };

typedef struct Position {
    float x, y, z;
} Position;
typedef struct Velocity {
    float x, y, z;
} Velocity;
MICA_COMPONENT(Position, x, y, z)
MICA_COMPONENT(Velocity, x, y, z)

static const char script[] = "mica.system('move_in_lua', 'write Position, Velocity', function(view)\n"
                             "    local position, velocity = view.Position, view.Velocity\n"
                             "    for i = 1, view.count do\n"
                             "        local p, v = position[i], velocity[i]\n"
                             "        p.x = p.x + v.x\n"
                             "        p.y = p.y + v.y\n"
                             "        p.z = p.z + v.z\n"
                             "    end\n"
                             "end)\n";

static void move_in_c(const mica_frame *frame)
{
    for (mica_view view = mica_query_begin(frame->query); mica_view_next(&view);) {
        Position *position = mica_view_write(&view, Position);
        const Velocity *velocity = mica_view_read(&view, Velocity);
        for (uint32_t i = 0; i < view.count; ++i) {
            position[i].x += velocity[i].x;
            position[i].y += velocity[i].y;
            position[i].z += velocity[i].z;
        }
    }
}

static double run(mica_world *world, const char *system)
{
    struct timespec begin, end;
    timespec_get(&begin, TIME_UTC);
    mica_system_run(world, mica_system_find(world, system), 1);
    timespec_get(&end, TIME_UTC);
    return (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
}

int main(int argument_count, char **arguments)
{
    mica_world *world = mica_world_create(NULL);
    mica_lua *lua = mica_lua_create(world, NULL);
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(move_in_c, (MICA_TERMS(MICA_WRITE(Position), MICA_READ(Velocity)))));
    for (uint32_t i = 0; i < ENTITIES; ++i)
        mica_create(world, MICA_WITH(Position, {(float)i, 0, 0}), MICA_WITH(Velocity, {1, 2, 3}));
    if (mica_lua_load_text(lua, "speed", script, NULL) != MICA_OK)
        return 2;
    double c = 1e300, in_lua = 1e300;
    for (int i = 0; i < RUNS; ++i) {
        double time = run(world, "move_in_c"), lua_time = run(world, "move_in_lua");
        c = time < c ? time : c;
        in_lua = lua_time < in_lua ? lua_time : in_lua;
    }
    double limit = argument_count > 1 ? atof(arguments[1]) : 1e300;
    printf("%s: %.2f ns per entity, C: %.2f ns, ratio %.2f\n", mica_lua_engine(), in_lua / ENTITIES, c / ENTITIES,
           in_lua / c);
    mica_lua_destroy(lua);
    mica_world_destroy(world);
    return in_lua / c <= limit ? 0 : 1;
}
