#include "core/entity/create_plan.h"

#include "core/entity/create_rows.h"
#include "core/entity/required.h"
#include "core/storage/pool_lookup.h"

/* A program that gives the same components in ever new orders, or has a great many archetypes, does not get ever more plans. */
enum { CHAINS_MIN = 16, PLANS_PER_ARCHETYPE = 8, PLANS_MAX = 10000 };

/* Ends every chain, and is the only one of an empty table. Never written. */
static micap_create_plan no_plan;
static micap_create_plan *no_plans[2] = {&no_plan, &no_plan};

void micap_create_plans_init(mica_world *world)
{
    world->create_plans = (micap_create_plans){.recent = no_plans, .chains = no_plans + 1};
}

static uint32_t hash_of(const mica_value *values, uint32_t count)
{
    uint32_t hash = count;
    for (uint32_t i = 0; i < count; ++i)
        hash = (hash ^ values[i].component) *
               0x9E3779B1u;   /* odd, the golden ratio of 2^32: it mixes the lower bits upwards, */
    return hash ^ hash >> 15; /* and these are what a mask takes */
}

static void list_pool(micap_create_plan *plan, micap_create_item *item, mica_pool *pool)
{
    MICAP_ASSERT(pool, "the component is in a pool");
    item->pool = pool;
    item->bytes = pool->value_bytes;
    plan->pool_bits |= (uint64_t)1 << pool->bit;
}

/* Lists the items of a plan. Returns whether the fast path is for them; it is not if they do not fill all columns, because a value is
 * split, or if a function of a type makes values. */
static bool list_items(const mica_world *world, micap_create_plan *plan, const mica_value *values, uint32_t count)
{
    uint32_t filled = 0;
    bool is_fast = true;
    for (uint32_t i = 0; i < count; ++i) {
        micap_create_item *item = &plan->items[i];
        *item = (micap_create_item){.component = values[i].component, .size_bytes = values[i].size_bytes};
        if (micap_is_pooled(values[i].component)) {
            list_pool(plan, item, micap_pool_of(world, values[i].component));
            continue;
        }
        uint32_t column = micap_archetype_column(plan->archetype, values[i].component);
        if (column == MICAP_COLUMN_TAG)
            continue;
        const mica_type *type = column == MICAP_COLUMN_NONE ? NULL : &plan->archetype->columns[column].type->type;
        if (!type || type->construct || type->copy) {
            is_fast = false;
            continue;
        }
        item->column_offset = micap_column_offset(plan->archetype, column);
        item->bytes = plan->archetype->columns[column].bytes;
        ++filled;
    }
    return is_fast && filled == plan->archetype->column_count;
}

static bool is_plan_of(const micap_create_plan *plan, const mica_value *values, uint32_t count)
{
    if (plan->count != count)
        return false;
    for (uint32_t i = 0; i < count; ++i)
        if (plan->items[i].component != values[i].component || plan->items[i].size_bytes != values[i].size_bytes)
            return false;
    return true;
}

/* The plan of a list; no_plan if there is none. */
static micap_create_plan *find(const mica_world *world, const mica_value *values, uint32_t count)
{
    const micap_create_plans *plans = &world->create_plans;
    uint32_t hash = hash_of(values, count);
    micap_create_plan *plan = plans->chains[hash & plans->mask];
    while (plan != &no_plan && (plan->hash != hash || !is_plan_of(plan, values, count)))
        plan = plan->next;
    return plan;
}

bool micap_create_plan_choose(mica_world *world, const mica_value *values, uint32_t count)
{
    micap_create_plan **recent = micap_create_plan_recent(&world->create_plans, values, count);
    micap_create_plan *plan = find(world, values, count);
    if (plan == &no_plan || plan == *recent)
        return false;
    *recent = plan;
    return true;
}

static size_t bytes_of(uint32_t count)
{
    return sizeof(micap_create_plan) + count * sizeof(micap_create_item);
}

static void enter(micap_create_plans *plans, micap_create_plan *plan)
{
    micap_create_plan **chain = &plans->chains[plan->hash & plans->mask];
    plan->next = *chain;
    *chain = plan;
    plans->recent[plan->key & plans->mask] = plan;
}

static uint32_t chain_count_of(const micap_create_plans *plans)
{
    return plans->recent == no_plans ? 0 : plans->mask + 1;
}

/* Makes sure that there are twice as many chains as plans, one more than there are. */
static bool reserve_chains(mica_world *world)
{
    micap_create_plans *plans = &world->create_plans, old = *plans;
    uint32_t before = chain_count_of(plans), grown = before ? before * 2 : CHAINS_MIN;
    if ((plans->count + 1) * 2 <= before)
        return true;
    micap_create_plan **lists =
        micap_allocate(&world->memory, (size_t)2 * grown * sizeof *lists, MICAP_ARRAY_ALIGNMENT);
    if (!lists)
        return false;
    for (uint32_t i = 0; i < 2 * grown; ++i)
        lists[i] = &no_plan;
    plans->recent = lists;
    plans->chains = lists + grown;
    plans->mask = grown - 1;
    for (uint32_t i = 0; i < before; ++i)
        for (micap_create_plan *plan = old.chains[i], *next; plan != &no_plan; plan = next) {
            next = plan->next;
            enter(plans, plan);
        }
    if (before)
        MICAP_RELEASE_ARRAY(&world->memory, old.recent, 2 * before);
    return true;
}

static void learn(mica_world *world, micap_archetype *archetype, const mica_value *values, uint32_t count)
{
    micap_create_plans *plans = &world->create_plans;
    if (plans->count >= PLANS_MAX || plans->count > (world->archetypes.count + 1) * PLANS_PER_ARCHETYPE)
        micap_create_plans_free(world);
    micap_create_plan *plan =
        reserve_chains(world) ? micap_allocate(&world->memory, bytes_of(count), MICAP_ARRAY_ALIGNMENT) : NULL;
    if (!plan)
        return;
    *plan = (micap_create_plan){.archetype = archetype,
                                .key = micap_create_plan_key(values, count),
                                .hash = hash_of(values, count),
                                .count = count};
    uint32_t known = list_items(world, plan, values, count) ? count + 1 : 0;
    plan->known = plan->pool_bits ? 0 : known;
    plan->known_pooled = plan->pool_bits ? known : 0;
    enter(plans, plan);
    ++plans->count;
}

micap_archetype *micap_create_plan_find(const mica_world *world, const mica_value *values, uint32_t count)
{
    const micap_create_plan *plan = find(world, values, count);
    return plan == &no_plan ? NULL : plan->archetype;
}

micap_archetype *micap_create_plan_archetype(mica_world *world, const mica_value *values, uint32_t count)
{
    const micap_create_plan *plan = find(world, values, count);
    if (plan != &no_plan)
        return plan->archetype;
    micap_archetype *archetype = micap_archetype_of_values(world, values, count);
    if (archetype && !micap_values_lack_required(values, count)) /* mica_create would complete such a list */
        learn(world, archetype, values, count);
    return archetype;
}

void micap_create_plans_free(mica_world *world)
{
    micap_create_plans *plans = &world->create_plans;
    uint32_t chain_count = chain_count_of(plans);
    if (!chain_count)
        return;
    for (uint32_t i = 0; i < chain_count; ++i)
        for (micap_create_plan *plan = plans->chains[i], *next; plan != &no_plan; plan = next) {
            next = plan->next;
            micap_release(&world->memory, plan, bytes_of(plan->count), MICAP_ARRAY_ALIGNMENT);
        }
    MICAP_RELEASE_ARRAY(&world->memory, plans->recent, 2 * chain_count);
    micap_create_plans_init(world);
}
