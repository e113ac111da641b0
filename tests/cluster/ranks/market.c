/* Traders that are owned by key, and whose price follows from reductions over all of them. */
#include "models.h"

#include <string.h>

typedef struct Trader { uint32_t district; double money; int32_t goods; } Trader;
MICA_COMPONENT(Trader, district, money, goods)
typedef struct Price { double value; } Price;
MICA_SINGLETON(Price, value)
typedef struct Offer { double price; int32_t goods; } Offer;
MICA_STRUCT(Offer, price, goods)
typedef struct Deal { double price; uint32_t place; } Deal;
MICA_COMPONENT(Deal, price, place)

static mica_cluster *the_cluster;
static uint64_t odd_rank; /* has another price in the middle */

static uint64_t district_of(const mica_world *world, mica_entity entity, void *context)
{
    (void)context;
    return (uint64_t)mica_get(world, entity, Trader)->district << 52;
}

static void trade(mica_view *view)
{
    Trader *trader = mica_view_write(view, Trader);
    double price = mica_singleton_get(view->world, Price)->value;
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_random random = mica_cluster_random(the_cluster, view->entities[i], 0);
        double value = price * (0.8 + 0.4 * mica_random_double(&random));
        bool buys = value > price && trader[i].money >= price;
        trader[i].goods += buys ? 1 : trader[i].goods > 0 ? -1 : 0;
        trader[i].money += buys ? -price : price * 0.9;
        if (mica_random_below(&random, 3) == 0)
            mica_cluster_ask(the_cluster, view->entities[i], (uint64_t)trader[i].district << 52,
                             (mica_value)MICA_WITH(Offer, {value, trader[i].goods}));
        if (mica_random_below(&random, 10) == 0)
            trader[i].district = mica_random_below(&random, 64);
    }
}

/* The price of a deal follows from all offers before it in the district, and from the traders that are there, in any order. */
static void make_deals(const mica_cluster_group *group)
{
    const Offer *offers = group->questions;
    Deal *deals = group->answers;
    uint64_t there = 0;
    mica_query *traders = mica_query_create(group->world, MICA_QUERY(MICA_READ(Trader)));
    for (mica_view view = mica_query_begin(traders); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            there += district_of(view.world, view.entities[i], NULL) == group->key;
    mica_query_destroy(traders);
    double price = (double)there;
    for (uint32_t i = 0; i < group->count; ++i) {
        price = price * 0.9 + offers[i].price * (1 + 0.01 * offers[i].goods);
        deals[i] = (Deal){price, i};
    }
}

static mica_cluster *create(mica_world *world, const settings *settings)
{
    odd_rank = settings->differs;
    the_cluster = mica_cluster_create(
        world, &(mica_cluster_def){
                   .grid = {.component = MICA_ID(Trader)},
                   .key = district_of,
                   .requests =
                       (const mica_cluster_request[]){
                           {.question = MICA_ID(Offer), .answer = MICA_ID(Deal), .fn = make_deals, .in_order = true}},
                   .request_count = 1,
                   .singletons = (const mica_component[]){MICA_ID(Price)},
                   .singleton_count = 1,
                   .balance_steps = settings->balance,
                   .seed = settings->seed});
    mica_define(world, Deal);
    mica_singleton_write(world, Price)->value = 10;
    mica_system_add(
        world, MICA_SYSTEM_WITH(trade, (MICA_USES(MICA_USE_READ(Price))), MICA_WRITE(Trader), MICA_HAS(mica_identity)));
    if (settings->resume)
        return the_cluster;
    for (uint32_t i = 0; i < settings->agents; ++i)
        mica_create(world, MICA_WITH(Trader, {i % 64, 100 + 0.1 * i, 5}));
    return the_cluster;
}

/* The price of the next step, and everything that a reduction returns. */
static uint64_t content(mica_world *world)
{
    mica_summary money, goods;
    uint64_t bins[8], hash = 0, bits;
    mica_cluster_reduce(the_cluster, &(mica_cluster_reduction){.component = MICA_ID(Trader), .field = "money"}, &money,
                        NULL);
    mica_cluster_reduce(
        the_cluster,
        &(mica_cluster_reduction){.component = MICA_ID(Trader), .field = "goods", .high = 16, .bin_count = 8}, &goods,
        bins);
    mica_singleton_write(world, Price)->value =
        1 + money.sum / (double)(money.count * 10) + goods.sum / (double)goods.count / 7;
    if (mica_cluster_rank(the_cluster) == odd_rank && mica_cluster_tick(the_cluster) == 5)
        mica_singleton_write(world, Price)->value += 1;
    double numbers[] = {money.sum,     money.minimum, money.maximum,      goods.sum,
                        goods.minimum, goods.maximum, (double)goods.count};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        memcpy(&bits, &numbers[i], sizeof bits);
        hash = mix(hash, bits);
    }
    for (int i = 0; i < 8; ++i)
        hash = mix(hash, bins[i]);
    return mica_cluster_rank(the_cluster) ? 0 : hash; /* it is added up over all ranks */
}

const model market_model = {.name = "market", .create = create, .content = content};
