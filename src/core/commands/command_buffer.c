#include "base/argument.h"
#include "base/assert.h"
#include "base/bits.h"
#include "core/commands/command_buffer.h"

#include "core/world/report.h"
#include "core/world/world.h"
#include "core/entity/destroy.h"

void micap_commands_init(mica_commands *commands, mica_world *world)
{
    *commands = (mica_commands){.world = world, .serial = ++world->last_serial};
    if (world->last_commands)
        world->last_commands->next = commands;
    else
        world->first_commands = commands;
    world->last_commands = commands;
}

mica_commands *mica_commands_create(mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    if (micap_refuse_inside(world, "commands") != MICA_OK)
        return NULL;
    uint32_t lane = world->entities.lane_count;
    mica_commands *commands = micap_allocate(&world->memory, sizeof *commands, MICAP_ARRAY_ALIGNMENT);
    if (!commands || !micap_entities_set_lanes(world, lane + 1)) {
        micap_release(&world->memory, commands, sizeof *commands, MICAP_ARRAY_ALIGNMENT);
        micap_fail_memory(world, "commands");
        return NULL;
    }
    micap_entities_set_aside(world);
    micap_commands_init(commands, world);
    commands->lane = lane;
    return commands;
}

/* The first change that a job records. */
static MICAP_COLD mica_commands *open_recorder(mica_world *world, micap_thread_context *here)
{
    here->commands = here->open(here);
    return here->commands ? here->commands : &world->refusing;
}

mica_commands *micap_recorder(mica_world *world)
{
    micap_thread_context *here = micap_thread_context_of(world);
    if (!here || world->hook_depth)
        return &world->deferred;
    return MICAP_LIKELY(here->commands != NULL) ? here->commands : open_recorder(world, here);
}

void micap_commands_park(mica_commands *commands)
{
    commands->is_parked = true;
    commands->serial = ++commands->world->last_serial;
    commands->parked = commands->world->parked_commands;
    commands->world->parked_commands = commands;
}

void micap_commands_line_up(mica_commands *commands)
{
    mica_world *world = commands->world;
    MICAP_ASSERT(!commands->is_lined_up,
                 "changes that a flush could not apply are tried again before anything is recorded on top of them");
    commands->is_lined_up = true;
    commands->next = NULL;
    world->last_commands->next = commands;
    world->last_commands = commands;
}

void micap_commands_fall_out(mica_world *world)
{
    mica_commands *last = world->first_commands;
    for (mica_commands *commands = last->next, *next; commands; commands = next) {
        next = commands->next;
        if (commands->is_lined_up && micap_recording_is_empty(&commands->recording)) {
            commands->is_lined_up = false;
            continue;
        }
        last->next = commands;
        last = commands;
    }
    last->next = NULL;
    world->last_commands = last;
}

void micap_commands_unpark(mica_commands *commands)
{
    mica_world *world = commands->world;
    micap_recording_drop(world, &commands->recording);
    if (commands->is_lined_up)
        micap_commands_fall_out(world);
    for (mica_commands **link = &world->parked_commands; *link; link = &(*link)->parked)
        if (*link == commands) {
            *link = commands->parked;
            break;
        }
    micap_commands_free(commands);
    micap_release(&world->memory, commands, sizeof *commands, MICAP_ARRAY_ALIGNMENT);
}

void mica_commands_set_label(mica_commands *commands, const char *label)
{
    if (MICAP_MISSING(NULL, commands))
        return;
    commands->label = label;
}

void micap_commands_report_dead(const mica_commands *commands, mica_entity entity, mica_location location,
                                const char *what)
{
    bool alive = mica_is_alive(commands->world, entity);
    if (alive && commands->world->def.dead_target == MICA_DEAD_TARGET_IGNORE)
        return;
    micap_fail(commands->world, MICA_ERROR_DEAD, location, "%s%s%s: entity %u (generation %u) %s",
               commands->label ? commands->label : "", commands->label ? ": " : "", what, entity.index,
               entity.generation,
               alive ? "is destroyed by an earlier recorded change" : micap_dead_text(commands->world, entity));
}

bool micap_commands_expect_living(mica_commands *commands, mica_entity entity, mica_location location, const char *what)
{
    mica_world *world = commands->world;
    if (mica_is_alive(world, entity) && !micap_recording_destroys(world, &commands->recording, entity))
        return true;
    micap_commands_report_dead(commands, entity, location, what);
    return false;
}

void micap_commands_free(mica_commands *commands)
{
    mica_world *world = commands->world;
    micap_recording_drop(world, &commands->recording);
    micap_recording_free(world, &commands->recording);
    micap_recording_free(world, &commands->applied);
    while (commands->stock_count)
        micap_entity_give_unused(&world->entities, commands->stock[--commands->stock_count]);
    MICAP_RELEASE_ARRAY(&world->memory, commands->stock, commands->stock_capacity);
}

static void trim(mica_world *world, mica_commands *commands)
{
    micap_recording_free(world, &commands->applied);
    if (micap_recording_is_empty(&commands->recording))
        micap_recording_free(world, &commands->recording);
}

void micap_commands_trim(mica_world *world)
{
    for (mica_commands *commands = world->first_commands; commands; commands = commands->next)
        trim(world, commands);
    for (mica_commands *commands = world->parked_commands; commands; commands = commands->parked)
        trim(world, commands);
}

void mica_commands_destroy(mica_commands *commands)
{
    if (!commands)
        return;
    mica_world *world = commands->world;
    if (micap_refuse_inside(world, "commands_destroy") != MICA_OK)
        return;
    if (world->hook_depth) {
        micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
                   "commands: a buffer can't be destroyed inside a hook");
        return;
    }
    micap_entities_set_lanes(world, world->entities.lane_count - 1);
    micap_commands_free(commands);
    for (mica_commands *other = world->first_commands; other; other = other->next) {
        if (other->next == commands)
            other->next = commands->next;
        if (!other->owned && other->lane > commands->lane)
            --other->lane;
        if (!other->next)
            world->last_commands = other;
    }
    micap_release(&world->memory, commands, sizeof *commands, MICAP_ARRAY_ALIGNMENT);
}

mica_entity micap_commands_take_handle(mica_commands *commands)
{
    mica_world *world = commands->world;
    if (commands->owned)
        return micap_entity_take(world);
    if (!commands->stock_count) {
        mica_entity block[MICAP_ID_BLOCK];
        if (!MICAP_RESERVE(&world->memory, commands->stock, &commands->stock_capacity, MICAP_ID_BLOCK) ||
            !micap_entities_take_block(world, commands->lane, block))
            return mica_nil();
        for (uint32_t i = 0; i < MICAP_ID_BLOCK; ++i)
            commands->stock[MICAP_ID_BLOCK - 1 - i] = block[i];
        commands->stock_count = MICAP_ID_BLOCK;
    }
    ++commands->taken_count;
    mica_entity entity = commands->stock[--commands->stock_count];
    micap_entity_give_out(&world->entities, entity);
    return entity;
}

void micap_commands_return_handle(mica_commands *commands, mica_entity entity)
{
    if (commands->owned) {
        micap_entity_give_unused(&commands->world->entities, entity);
    } else {
        micap_entity_take_back(&commands->world->entities, entity);
        commands->stock[commands->stock_count++] = entity;
        --commands->taken_count;
    }
}

static void count_handles(const mica_commands *commands, micap_handle_count *count)
{
    count->reserved += commands->stock_count;
    count->pending += commands->recording.created_count;
}

micap_handle_count micap_commands_count_handles(const mica_world *world)
{
    micap_handle_count count = {0};
    for (const mica_commands *commands = world->first_commands; commands; commands = commands->next)
        count_handles(commands, &count);
    for (const mica_commands *commands = world->parked_commands; commands; commands = commands->parked)
        if (!commands->is_lined_up)
            count_handles(commands, &count);
    return count;
}

bool micap_commands_set_stock(mica_commands *commands, const mica_entity *handles, uint32_t count, uint32_t taken_count)
{
    if (!MICAP_RESERVE(&commands->world->memory, commands->stock, &commands->stock_capacity, count))
        return false;
    if (count)
        memcpy(commands->stock, handles, count * sizeof *handles);
    commands->stock_count = count;
    commands->taken_count = taken_count;
    return true;
}

void micap_commands_restock(mica_commands *commands)
{
    mica_world *world = commands->world;
    uint32_t wanted = (commands->taken_count + MICAP_ID_BLOCK - 1) / MICAP_ID_BLOCK * MICAP_ID_BLOCK;
    commands->taken_count = 0;
    if (commands->owned)
        return;
    while (commands->stock_count > wanted + MICAP_ID_BLOCK)
        micap_entity_give_unused(&world->entities, commands->stock[--commands->stock_count]);
    if (commands->stock_count >= wanted)
        return;
    /* Newcomers go to the bottom, so that what was taken first is given out first. */
    if (!MICAP_RESERVE(&world->memory, commands->stock, &commands->stock_capacity, wanted))
        return; /* the buffer will overflow instead */
    uint32_t fresh = wanted - commands->stock_count;
    memmove(commands->stock + fresh, commands->stock, commands->stock_count * sizeof *commands->stock);
    for (uint32_t i = fresh; i-- > 0;) {
        commands->stock[i] = micap_entity_reserve(world);
        if (mica_is_nil(commands->stock[i])) {
            memmove(commands->stock, commands->stock + i + 1, (wanted - i - 1) * sizeof *commands->stock);
            commands->stock_count = wanted - i - 1;
            return;
        }
    }
    commands->stock_count = wanted;
}
