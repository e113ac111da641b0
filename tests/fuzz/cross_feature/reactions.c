/* What systems and handlers do to the entities they are given. They run in any thread, so they look at nothing but their
 * entities, and change the world by what is recorded. */
#include "program.h"

static bool writes_stream(uint8_t choice)
{
    return choice == 10;
}

bool reaction_writes_stream(const reaction *reaction)
{
    return writes_stream(reaction->choice) && reaction->scene->streams[0];
}

static void set_value(const reaction *reaction, mica_world *world, mica_entity entity)
{
    sample_room room;
    mica_value value = sample_value_begin(reaction->changes, entity.index, &room);
    mica_set_id(world, entity, value);
    sample_value_end(reaction->changes, &room);
}

static void send(const reaction *reaction, mica_world *world, mica_entity entity, uint32_t energy)
{
    if (energy == 0)
        return;
    if (reaction->choice == 7)
        mica_send(world, entity, FuzzPing, FUZZ_PING(energy - 1, entity));
    else
        mica_broadcast(world, FuzzPing, FUZZ_PING(energy - 1, entity));
}

static void emit(mica_world *world, mica_entity entity, uint32_t energy)
{
    mica_value data = MICA_WITH(FuzzPing, FUZZ_PING(energy, entity));
    if (entity.index & 1)
        mica_event_propagate(world, MICA_EVENT_USER, 0, entity, data);
    else
        mica_event_emit(world, MICA_EVENT_USER, 0, entity, (mica_value){0});
}

static void react_to_one(const reaction *reaction, mica_world *world, mica_entity entity, uint32_t energy)
{
    mica_component component = sample_id(reaction->changes);
    switch (reaction->choice) {
    case 1: set_value(reaction, world, entity); break;
    case 2: mica_remove_id(world, entity, component); break;
    case 3: mica_destroy(world, entity); break;
    case 4:
        if (mica_world_get_stats(world).entity_count < ENTITIES_LIMIT)
            mica_create_id(world, &(mica_value){component, 0, NULL}, 1);
        break;
    case 5: mica_set_parent(world, entity, mica_nil()); break;
    case 6: mica_enable_id(world, entity, component, entity.index & 1); break;
    case 7:
    case 8: send(reaction, world, entity, energy); break;
    case 9: emit(world, entity, energy); break;
    default: break;
    }
}

void react(const reaction *reaction, const mica_entity *entities, uint32_t count, uint32_t energy)
{
    mica_world *world = reaction->scene->world;
    for (uint32_t i = 0; i < count; ++i)
        if ((entities[i].index + reaction->choice) % 3 == 0)
            react_to_one(reaction, world, entities[i], energy);
    if (reaction->choice == 11 && count > 1) {
        mica_set_parent(world, entities[0], entities[1]);
    } else if (reaction->choice == 12 && count > 0 && reaction->scene->requests) {
        mica_request_post(reaction->scene->requests, entities[0].index % 3, entities[0], FuzzPing,
                          FUZZ_PING(2, entities[0]));
    } else if (reaction_writes_stream(reaction)) {
        mica_stream_push(reaction->scene->streams[0], FuzzPing, FUZZ_PING(energy, entities[0]));
    }
}
