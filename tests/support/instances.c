#include "instances.h"
#include "require.h"

#include <string.h>

#define FOR_EACH_FIELD(DO) DO(number) DO(low) DO(square) DO(at.x) DO(at.y) DO(at.z)

void instances_open(instances *model, const variant *how)
{
    memset(model, 0, sizeof *model);
    model->world = open_world(&model->heard);
    model->component = variant_component(how, 'a');
    model->pool = mica_pool_of_id(model->world, model->component);
    model->is_split = how->split;
    for (uint32_t at = 0; at < ENTITIES; ++at)
        model->entities[at] = mica_create(model->world);
}

void instances_close(instances *model)
{
    close_world(model->world, &model->heard);
}

void instance_write(const instances *model, mica_instance instance, uint32_t number)
{
    Item item = item_of(number);
    if (!model->is_split) {
        *mica_instance_write(model->pool, instance, Item) = item;
        return;
    }
#define WRITE(field) *mica_instance_write_field(model->pool, instance, Item, field) = item.field;
    FOR_EACH_FIELD(WRITE)
}

uint32_t instance_read(const instances *model, mica_instance instance)
{
    Item item;
    memset(&item, 0, sizeof item);
    if (!model->is_split) {
        item = *mica_instance_read(model->pool, instance, Item);
    } else {
#define READ(field) item.field = *mica_instance_read_field(model->pool, instance, Item, field);
        FOR_EACH_FIELD(READ)
    }
    REQUIRE(item_holds(&item, item.number));
    return item.number;
}

static void expect_instances_of(const instances *model, uint32_t at)
{
    mica_instance instance = mica_pool_find(model->pool, model->entities[at]);
    for (uint32_t i = 0; i < model->counts[at]; ++i, instance = mica_pool_next(model->pool, instance)) {
        REQUIRE_SAYING(!mica_instance_is_nil(instance), "instance %u of %u", i, model->counts[at]);
        REQUIRE(mica_same(mica_pool_owner(model->pool, instance), model->entities[at]));
        REQUIRE_SAYING(instance_read(model, instance) == model->numbers[at][i], "instance %u: %u, not %u", i,
                       instance_read(model, instance), model->numbers[at][i]);
    }
    REQUIRE(mica_instance_is_nil(instance));
}

void instances_expect(instances *model)
{
    uint32_t total = 0;
    for (uint32_t at = 0; at < ENTITIES; ++at) {
        expect_instances_of(model, at);
        total += model->counts[at];
        uint32_t first = model->counts[at] ? model->numbers[at][0] : UINT32_MAX;
        REQUIRE(item_number(model->world, model->entities[at], model->component) == first);
    }
    REQUIRE(mica_pool_count(model->pool) == total);
    expect_valid(model->world);
}

void instances_note_set(instances *model, uint32_t at, uint32_t number)
{
    model->numbers[at][0] = number;
    model->counts[at] += !model->counts[at];
}

void instances_die(instances *model, uint32_t at)
{
    REQUIRE(mica_destroy(model->world, model->entities[at]));
    model->entities[at] = mica_create(model->world);
    model->counts[at] = 0;
}

void instances_add(instances *model, uint32_t at, uint32_t number)
{
    if (model->counts[at] == INSTANCES_MAX)
        return;
    mica_instance added = mica_pool_add(model->pool, model->entities[at]);
    REQUIRE(!mica_instance_is_nil(added) && mica_same(mica_pool_owner(model->pool, added), model->entities[at]));
    instance_write(model, added, number);
    model->numbers[at][model->counts[at]++] = number;
}

void instances_remove(instances *model, uint32_t at, uint32_t nth)
{
    if (nth >= model->counts[at])
        return;
    mica_instance instance = mica_pool_find(model->pool, model->entities[at]);
    for (uint32_t i = 0; i < nth; ++i)
        instance = mica_pool_next(model->pool, instance);
    REQUIRE(mica_pool_remove(model->pool, instance));
    uint32_t *numbers = model->numbers[at];
    memmove(numbers + nth, numbers + nth + 1, (model->counts[at] - nth - 1) * sizeof *numbers);
    --model->counts[at];
}
