/* Birds on a torus, whose sums of floats depend on the order of neighbours. */
#include "models.h"
#include "mica/math.h"

typedef struct Place { double x, y, z; } Place;
typedef struct Speed { float x, y, z; } Speed;
MICA_COMPONENT(Place, x, y, z)
MICA_COMPONENT(Speed, x, y, z)

static mica_cluster *the_cluster;

static void fly(mica_view *view)
{
    Place *place = mica_view_write(view, Place);
    Speed *speed = mica_view_write(view, Speed);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_cluster_neighbour near[32];
        uint32_t count = mica_cluster_around(the_cluster, view->entities[i], 1.5, near, 32);
        mica_random random = mica_cluster_random(the_cluster, view->entities[i], 7);
        float sum[3] = {mica_random_range(&random, -0.2f, 0.2f), mica_random_range(&random, -0.2f, 0.2f), 0.01f};
        for (uint32_t k = 0; k < count && k < 32; ++k) {
            const Speed *other = mica_cluster_read(the_cluster, &near[k], MICA_ID(Speed));
            sum[0] += other->x * 0.3f - (float)near[k].offset.x;
            sum[1] += other->y * 0.3f - (float)near[k].offset.y;
            sum[2] += other->z * 0.3f - (float)near[k].offset.z;
        }
        speed[i].x += sum[0] * view->dt, speed[i].y += sum[1] * view->dt, speed[i].z += sum[2] * view->dt;
        float length = mica_sqrtf(speed[i].x * speed[i].x + speed[i].y * speed[i].y + speed[i].z * speed[i].z) + 0.01f;
        speed[i].x /= length, speed[i].y /= length, speed[i].z /= length;
        place[i].x += speed[i].x * view->dt, place[i].y += speed[i].y * view->dt, place[i].z += speed[i].z * view->dt;
    }
}

static mica_cluster *create(mica_world *world, const settings *settings)
{
    the_cluster = mica_cluster_create(world, &(mica_cluster_def){.grid = {.component = MICA_ID(Place),
                                                                          .fields = "x,y,z",
                                                                          .cell_size = 2,
                                                                          .minimum = {-7, -7, -7},
                                                                          .maximum = {7, 8, 9},
                                                                          .torus = true},
                                                                 .reach = 1.5,
                                                                 .ghosts = (const mica_component[]){MICA_ID(Speed)},
                                                                 .ghost_count = 1,
                                                                 .balance_steps = settings->balance,
                                                                 .seed = settings->seed,
                                                                 .distributed = true});
    mica_system_add(world, MICA_SYSTEM(fly, MICA_WRITE(Place), MICA_WRITE(Speed)));
    if (settings->resume)
        return the_cluster;
    /* Each rank creates other birds. */
    for (uint32_t i = mica_cluster_rank(the_cluster); i < settings->agents; i += mica_cluster_rank_count(the_cluster)) {
        mica_random random = mica_random_make(settings->seed, i);
        Place place = {mica_random_range(&random, -7, 7), mica_random_range(&random, -7, 8),
                       mica_random_range(&random, -7, 9)};
        Speed speed = {mica_random_range(&random, -1, 1), mica_random_range(&random, -1, 1), 0};
        mica_create(world, MICA_FROM(Place, &place), MICA_FROM(Speed, &speed));
    }
    return the_cluster;
}

const model flock_model = {.name = "flock", .create = create};
