/* A model for `mica sweep`: rabbits multiply until the forest is full, foxes live on rabbits. The fields of Settings are its parameters.
 *
 *     mica sweep ./forest.so --vary birth=0.05:0.2:0.05 --seeds 20 --frames 400 --every 50 --out forest.db
 *     sqlite3 forest.db 'select birth, avg(rabbits), avg(foxes) from runs group by birth'
 */
#include "mica/flow.h"
#include "mica/module.h"
#include "mica/query_text.h"

typedef struct Settings {
    float birth;             /* chance of a rabbit to have a young one, per frame, in an empty forest */
    float hunt;              /* chance of a rabbit to be caught, per frame and fox */
    uint32_t rabbits, foxes; /* at the start */
    uint32_t room;           /* for rabbits */
} Settings;
typedef struct Census { uint32_t rabbits, foxes; } Census; /* at the begin of the frame */
typedef struct Age { uint32_t frames; } Age;
MICA_SINGLETON(Settings, (birth, float, .initial = 0.1, .minimum = 0, .maximum = 1),
               (hunt, float, .initial = 0.002, .minimum = 0, .maximum = 1), (rabbits, uint32_t, .initial = 300),
               (foxes, uint32_t, .initial = 20), (room, uint32_t, .initial = 1000, .minimum = 1, .maximum = 1000000))
MICA_SINGLETON(Census, rabbits, foxes)
MICA_COMPONENT(Age, frames)
MICA_TAG(Rabbit)
MICA_TAG(Fox)

enum { FOX_LIFE = 60 };

static mica_query *all_rabbits, *all_foxes; /* of the world, made again by a reload */

static void count(const mica_frame *frame)
{
    Census *census = mica_singleton_write(frame->world, Census);
    census->rabbits = (uint32_t)mica_query_count(all_rabbits);
    census->foxes = (uint32_t)mica_query_count(all_foxes);
}

static void live_as_rabbit(mica_view *view)
{
    const Settings *settings = mica_view_read(view, Settings);
    const Census *census = mica_view_read(view, Census);
    mica_random random = mica_random_of(view);
    float crowd = (float)census->rabbits / (float)settings->room;
    for (uint32_t i = 0; i < view->count; ++i) {
        if (mica_random_unit(&random) < settings->hunt * (float)census->foxes)
            mica_destroy(view->world, view->entities[i]);
        else if (mica_random_unit(&random) < settings->birth * (1 - crowd))
            mica_create(view->world, MICA_WITH(Rabbit));
    }
}

/* A fox catches settings->hunt * rabbits per frame, and one in eight makes a young fox. */
static void live_as_fox(mica_view *view)
{
    const Settings *settings = mica_view_read(view, Settings);
    const Census *census = mica_view_read(view, Census);
    Age *age = mica_view_write(view, Age);
    mica_random random = mica_random_of(view);
    for (uint32_t i = 0; i < view->count; ++i) {
        if (mica_random_unit(&random) < settings->hunt * (float)census->rabbits / 8)
            mica_create(view->world, MICA_WITH(Fox), MICA_WITH(Age, {0}));
        if (++age[i].frames > FOX_LIFE || mica_random_below(&random, 20) == 0)
            mica_destroy(view->world, view->entities[i]);
    }
}

MICA_MODULE(world)
{
    mica_define(world, Settings);
    mica_define(world, Census);
    mica_define(world, Age);
    mica_define(world, Rabbit);
    mica_define(world, Fox);
    all_rabbits = mica_query_text(world, "Rabbit", NULL);
    all_foxes = mica_query_text(world, "Fox", NULL);
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(count, (MICA_USES(MICA_USE_WRITE(Census)))));
    mica_system_add(world, MICA_SYSTEM(live_as_rabbit, MICA_HAS(Rabbit), MICA_READ(Settings), MICA_READ(Census)));
    mica_system_add(world,
                    MICA_SYSTEM(live_as_fox, MICA_WRITE(Age), MICA_HAS(Fox), MICA_READ(Settings), MICA_READ(Census)));
    return MICA_OK;
}

mica_result mica_module_start(mica_world *world)
{
    const Settings *settings = mica_singleton_get(world, Settings);
    for (uint32_t i = 0; i < settings->rabbits; ++i)
        mica_create(world, MICA_WITH(Rabbit));
    for (uint32_t i = 0; i < settings->foxes; ++i)
        mica_create(world, MICA_WITH(Fox), MICA_WITH(Age, {i}));
    return MICA_OK;
}

const mica_measurement mica_module_measurements[] = {
    {"rabbits", "count: Rabbit"}, {"foxes", "count: Fox"}, {"oldest", "maximum: Age.frames, Fox"}, {0}};
