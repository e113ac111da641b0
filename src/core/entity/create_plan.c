#include "core/entity/create_plan.h"

#include "core/storage/pool_lookup.h"
#include "core/world/world.h"

static void list_pool(micap_create_plan *plan, micap_create_item *item, mica_pool *pool)
{
    item->pool = pool;
    item->bytes = pool->value_bytes;
    plan->pool_bits |= (uint64_t)1 << pool->bit;
}

/* Lists the items of a plan; false if the values do not fill all columns: a value may be split. */
static bool list_items(const mica_world *world, micap_create_plan *plan, const mica_value *values, uint32_t count)
{
    uint32_t filled = 0;
    plan->pool_bits = 0;
    for (uint32_t i = 0; i < count; ++i) {
        plan->items[i] = (micap_create_item){.component = values[i].component, .size_bytes = values[i].size_bytes};
        if (micap_is_pooled(values[i].component)) {
            list_pool(plan, &plan->items[i], micap_pool_of(world, values[i].component));
            continue;
        }
        uint32_t column = micap_archetype_column(plan->archetype, values[i].component);
        if (column == MICAP_COLUMN_NONE)
            return false;
        if (column == MICAP_COLUMN_TAG)
            continue;
        const mica_type *type = &plan->archetype->columns[column].type->type;
        if (type->construct || type->copy)
            return false;
        plan->items[i].column_offset = micap_column_offset(plan->archetype, column);
        plan->items[i].bytes = plan->archetype->columns[column].bytes;
        ++filled;
    }
    return filled == plan->archetype->column_count;
}

void micap_create_plan_learn(mica_world *world, micap_archetype *archetype, const mica_value *values, uint32_t count)
{
    micap_create_plan *plan = &world->create_plans[micap_create_plan_place(values, count)];
    if (!MICAP_RESERVE(&world->memory, plan->items, &plan->capacity, count))
        return;
    plan->archetype = archetype;
    uint32_t known = list_items(world, plan, values, count) ? count + 1 : 0;
    plan->known = plan->pool_bits ? 0 : known;
    plan->known_pooled = plan->pool_bits ? known : 0;
}

void micap_create_plans_clear(mica_world *world)
{
    for (uint32_t i = 0; i < MICAP_CREATE_PLANS; ++i)
        world->create_plans[i].known = world->create_plans[i].known_pooled = 0;
}

void micap_create_plans_free(mica_world *world)
{
    for (uint32_t i = 0; i < MICAP_CREATE_PLANS; ++i)
        MICAP_RELEASE_ARRAY(&world->memory, world->create_plans[i].items, world->create_plans[i].capacity);
}
