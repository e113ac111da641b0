/* Workers that drift through a hall. In an eighth of it, each has far more to do than elsewhere, so that equal numbers are not equal work.
 * One rank can be slow without having more to do, as if it shared its processor with another program. */
#include "models.h"

#include <stdlib.h>
#include <threads.h>

typedef struct Spot { float x, y; } Spot;
typedef struct Product { uint64_t value; } Product;
MICA_COMPONENT(Spot, x, y)
MICA_COMPONENT(Product, value)

enum { SIZE = 64, EASY = 100, HARD = 8000, NAP_NS = 2000000 };

static mica_cluster *the_cluster;
static bool is_slow;

static uint32_t effort_at(Spot spot)
{
    return spot.x < SIZE / 8 ? HARD : EASY;
}

static void produce(mica_view *view)
{
    const Spot *spot = mica_view_read(view, Spot);
    Product *product = mica_view_write(view, Product);
    for (uint32_t i = 0; i < view->count; ++i)
        for (uint32_t k = effort_at(spot[i]); k; --k)
            product[i].value = mix(product[i].value, k);
}

static void drift(mica_view *view)
{
    Spot *spot = mica_view_write(view, Spot);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_random random = mica_cluster_random(the_cluster, view->entities[i], 0);
        spot[i].x += mica_random_range(&random, -0.1f, 0.1f);
        spot[i].y += mica_random_range(&random, -0.1f, 0.1f);
    }
}

static void nap(const mica_frame *frame)
{
    (void)frame;
    if (is_slow)
        thrd_sleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

/* Ranks with less to do wait here for the others, inside a step: waiting is not work. */
static void count_products(const mica_frame *frame)
{
    (void)frame;
    mica_summary summary;
    if (mica_cluster_reduce(the_cluster, &(mica_cluster_reduction){.component = MICA_ID(Product)}, &summary, NULL) !=
        MICA_OK)
        exit(1);
}

static mica_cluster *create(mica_world *world, const settings *settings)
{
    the_cluster = mica_cluster_create(
        world, &(mica_cluster_def){
                   .grid = {.component = MICA_ID(Spot), .fields = "x, y", .cell_size = 1, .maximum = {SIZE, SIZE}},
                   .balance_steps = settings->balance,
                   .seed = settings->seed});
    is_slow = the_cluster && mica_cluster_rank(the_cluster) == settings->slow;
    mica_system_add(world, MICA_SYSTEM(produce, MICA_READ(Spot), MICA_WRITE(Product)));
    mica_system_add(world, MICA_SYSTEM(drift, MICA_WRITE(Spot), MICA_HAS(mica_identity)));
    mica_system_add(world, MICA_SYSTEM_ONCE(nap));
    if (the_cluster)
        mica_system_add(world, MICA_SYSTEM_ONCE_WITH(count_products, (.exclusive = true)));
    if (settings->resume)
        return the_cluster;
    for (uint32_t i = 0; i < settings->agents; ++i) {
        mica_random random = mica_random_make(settings->seed, i);
        float x = mica_random_range(&random, 0, SIZE), y = mica_random_range(&random, 0, SIZE);
        mica_create(world, MICA_WITH(Spot, {x, y}), MICA_WITH(Product, {i}));
    }
    return the_cluster;
}

/* What the workers of this rank have to do in a step. */
static uint64_t load(mica_world *world)
{
    uint64_t sum = 0;
    mica_query *workers = mica_query_create(world, MICA_QUERY(MICA_READ(Spot)));
    for (mica_view view = mica_query_begin(workers); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            sum += effort_at(mica_view_read(&view, Spot)[i]);
    mica_query_destroy(workers);
    return sum;
}

const model workshop_model = {.name = "workshop", .create = create, .load = load};
