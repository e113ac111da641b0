/* A roguelike: monsters see, request paths, and walk. Path-finding reads the map, which would evict the monsters from the
 * cache. Requests are therefore collected, and one flood fill of the map answers all requests with the same target. */
#include "mica/flow.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 24, HEIGHT = 8, CELLS = WIDTH * HEIGHT, SIGHT = 9, STEPS_MAX = 12 };

static const char map[HEIGHT][WIDTH + 1] = {
    "########################", "#......#.......#.......#", "#......#.......#.......#", "#..........#...........#",
    "#......#...#...#.......#", "#......#...#...####.####", "#......#...#...........#", "########################",
};

typedef struct Cell { int32_t at; } Cell;
typedef struct Sight { mica_entity seen; int32_t where; } Sight;
typedef struct Path { int32_t count, next; int32_t steps[STEPS_MAX]; } Path;
MICA_COMPONENT(Cell, at)
MICA_COMPONENT(Sight, seen, where)
MICA_COMPONENT(Path, count, next, steps)
MICA_TAG(Hero)
MICA_TAG(Monster)

typedef struct PathWanted { int32_t from, to; } PathWanted;
MICA_STRUCT(PathWanted, from, to)

static mica_requests *paths;
static mica_query *heroes;

static bool is_wall(int32_t cell)
{
    return map[cell / WIDTH][cell % WIDTH] == '#';
}

static int32_t way_between(int32_t a, int32_t b)
{
    int32_t across = a % WIDTH - b % WIDTH, down = a / WIDTH - b / WIDTH;
    return (across < 0 ? -across : across) + (down < 0 ? -down : down);
}

/* Finds the nearest hero in sight. */
static void look(mica_view *view)
{
    const Cell *cell = mica_view_read(view, Cell);
    Sight *sight = mica_view_write(view, Sight);
    for (uint32_t i = 0; i < view->count; ++i) {
        int32_t nearest = SIGHT + 1;
        sight[i] = (Sight){mica_nil(), -1};
        for (mica_view prey = mica_query_begin(heroes); mica_view_next(&prey);)
            for (uint32_t h = 0; h < prey.count; ++h) {
                int32_t at = mica_view_read(&prey, Cell)[h].at, way = way_between(cell[i].at, at);
                if (way < nearest) {
                    nearest = way;
                    sight[i] = (Sight){prey.entities[h], at};
                }
            }
    }
}

/* A monster that sees a hero and has no path, or an outdated path, requests one; the key is the target. */
static void ask(mica_view *view)
{
    const Cell *cell = mica_view_read(view, Cell);
    const Sight *sight = mica_view_read(view, Sight);
    const Path *path = mica_view_read(view, Path);
    for (uint32_t i = 0; i < view->count; ++i)
        if (!mica_is_nil(sight[i].seen) && sight[i].where != cell[i].at &&
            (path[i].count == 0 || path[i].steps[path[i].count - 1] != sight[i].where))
            mica_request_post(paths, (uint64_t)sight[i].where, view->entities[i], PathWanted,
                              {cell[i].at, sight[i].where});
}

/* One flood fill from the target answers all requests for it. */
static void find_paths(const mica_request_group *group)
{
    static const int32_t around[] = {-WIDTH, -1, 1, WIDTH};
    const PathWanted *wanted = group->questions;
    Path *path = group->answers;
    int32_t toward[CELLS], queue[CELLS], head = 0, tail = 0, target = (int32_t)group->key;
    memset(toward, -1, sizeof toward);
    toward[target] = target;
    queue[tail++] = target;
    while (head < tail)
        for (int32_t from = queue[head++], k = 0; k < 4; ++k) {
            int32_t to = from + around[k];
            if (!is_wall(to) && toward[to] < 0) {
                toward[to] = from;
                queue[tail++] = to;
            }
        }
    printf("  %u questions about the way to %d, %d\n", group->count, target % WIDTH, target / WIDTH);
    for (uint32_t i = 0; i < group->count; ++i) {
        path[i] = (Path){0};
        for (int32_t at = wanted[i].from; toward[at] >= 0 && at != target && path[i].count < STEPS_MAX;)
            path[i].steps[path[i].count++] = at = toward[at];
    }
}

static void walk(mica_view *view)
{
    Cell *cell = mica_view_write(view, Cell);
    Path *path = mica_view_write(view, Path);
    for (uint32_t i = 0; i < view->count; ++i)
        if (path[i].next < path[i].count)
            cell[i].at = path[i].steps[path[i].next++];
}

static void draw(mica_world *world, const mica_entity *actors, const char *letters)
{
    char picture[HEIGHT][WIDTH + 1];
    memcpy(picture, map, sizeof map);
    for (uint32_t i = 0; letters[i]; ++i)
        picture[mica_get(world, actors[i], Cell)->at / WIDTH][mica_get(world, actors[i], Cell)->at % WIDTH] =
            letters[i];
    for (int row = 0; row < HEIGHT; ++row)
        printf("%s\n", picture[row]);
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    heroes = mica_query_create(world, MICA_QUERY(MICA_READ(Cell), MICA_HAS(Hero)));
    mica_requests_def def = *MICA_REQUESTS(PathWanted, Path, find_paths, NULL);
    def.in_order = true; /* the handler prints */
    paths = mica_requests_create(world, &def);
    mica_system_add(world,
                    MICA_SYSTEM_WITH(look, (MICA_USES(MICA_USE_READ(Cell))), MICA_READ(Cell), MICA_WRITE(Sight)));
    mica_system_add(world, MICA_SYSTEM(walk, MICA_WRITE(Cell), MICA_WRITE(Path)));
    mica_system_add(world, MICA_SYSTEM_WITH(ask, (MICA_USES(MICA_USE_STREAM_WRITE(mica_requests_stream(paths)))),
                                            MICA_READ(Cell), MICA_READ(Sight), MICA_READ(Path)));

    mica_entity actors[4] = {mica_create(world, MICA_WITH(Cell, {3 * WIDTH + 9}), MICA_WITH(Hero))};
    static const int32_t lairs[] = {WIDTH + 3, 6 * WIDTH + 13, WIDTH + 20};
    for (int i = 0; i < 3; ++i)
        actors[i + 1] =
            mica_create(world, MICA_WITH(Cell, {lairs[i]}), MICA_WITH(Sight), MICA_WITH(Path), MICA_WITH(Monster));

    draw(world, actors, "@abc");
    for (int turn = 1; turn <= 8; ++turn) {
        printf("turn %d\n", turn);
        if (turn == 4)
            mica_write(world, actors[0], Cell)->at += 1;
        mica_step(world, 1);
    }
    draw(world, actors, "@abc");
    mica_world_destroy(world);
}
