/* Changes that are recorded now and applied at the flush; batches. */
#include "conformance.h"
#include "mica/hierarchy.h"
#include "parts.h"

static void record(mica_world *world, mica_commands *commands, mica_entity *entities, uint32_t count, uint64_t seed)
{
    mica_random random = mica_random_make(seed, 3);
    mica_commands_set_label(commands, "recorder");
    for (uint32_t i = 0; i < count; ++i)
        switch (mica_is_alive(world, entities[i]) ? mica_random_below(&random, 8) : 6) {
        case 0: mica_command_destroy(commands, entities[i]); break;
        case 1: mica_command_set(commands, entities[i], Count, {i}); break;
        case 2: mica_command_add(commands, entities[i], Speed)->x = (float)i; break;
        case 3: mica_command_remove(commands, entities[i], Place); break;
        case 4: mica_command_disable(commands, entities[i], Heat); break;
        case 5: mica_command_add_instance(commands, entities[i], Item)->kind = i; break;
        case 6:
            mica_command_set(commands, mica_command_create(commands, MICA_WITH(Place, {(float)i, 0})), Being,
                             {.friend = entities[i], .title = "recorded"});
            break;
        default: mica_command_add(commands, entities[i], Asleep); break;
        }
}

static void check_buffers(void)
{
    enum { COUNT = 1000 };
    static mica_entity entities[COUNT];
    mica_world *world = open_world();
    for (uint32_t i = 0; i < COUNT; ++i)
        entities[i] = mica_create(world, MICA_WITH(Place, {(float)i, 0}), MICA_WITH(Heat, {1}));
    mica_commands *first = mica_commands_create(world), *second = mica_commands_create(world);
    for (uint32_t round = 0; round < 4; ++round) {
        mica_defer(world);
        record(world, second, entities, COUNT, round); /* recorded first, applied second */
        record(world, first, entities + COUNT / 4, COUNT / 2, round + 10);
        mica_set(world, entities[round], Count, {1});
        EXPECT(mica_flush(world) == MICA_OK);
        print_hash("flush", round, mica_world_hash(world));
    }
    mica_entity parent = mica_create(world), child = mica_create(world), other = mica_create(world);
    mica_command_set_parent(first, child, parent);
    mica_command_set_parent(first, other, parent);
    mica_command_place_before(first, other, child);
    EXPECT(mica_flush(world) == MICA_OK);
    EXPECT(mica_same(mica_first_child(world, parent), other));
    mica_command_destroy_with(second, parent, MICA_ORPHANS_STAY);
    EXPECT(mica_flush(world) == MICA_OK && mica_is_alive(world, child) && !mica_is_alive(world, parent));
    mica_commands_destroy(first);
    close_world(world, 0);
}

static void check_batches(void)
{
    mica_world *world = open_world();
    Place places[3] = {{1, 0}, {2, 0}, {3, 0}};
    mica_value columns[] = {MICA_FROM(Place, places), MICA_WITH(Asleep)};
    mica_batch_group groups[] = {{3, 2, columns, 0}, {200, 1, columns, 3}};
    mica_batch *batch;
    EXPECT(mica_batch_begin(world, groups, 2, &batch) == MICA_OK);
    mica_entity entities[203];
    mica_batch_entities(batch, entities);
    for (mica_batch_run run = {.component = MICA_ID(Place)}; mica_batch_next(batch, &run);)
        for (uint32_t i = 0; i < run.count; ++i)
            ((Place *)run.values)[i].y = (float)run.entities[i].index;
    EXPECT(mica_batch_commit(batch, NULL, 0) == MICA_OK);
    EXPECT(mica_get(world, entities[4], Place)->x == 2);
    print_hash("batch", 0, mica_world_hash(world));
    EXPECT(mica_batch_begin(world, groups, 2, &batch) == MICA_OK);
    mica_batch_cancel(batch);
    EXPECT(mica_world_get_stats(world).entity_count == 203);
    close_world(world, 0);
}

void check_recording(void)
{
    check_buffers();
    check_batches();
}
