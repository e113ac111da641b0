/* Which slots are free, and which were never used, as a snapshot needs it. */
#include "core/keep.h"

bool micap_handles_save(mica_world *world, micap_handles_state *state)
{
    micap_entities *entities = &world->entities;
    micap_entities_settle(world);
    *state = (micap_handles_state){.first_page = entities->first_page,
                                   .free_count = entities->free_count,
                                   .fresh_next = entities->fresh_next,
                                   .fresh_end = entities->fresh_end,
                                   .high_water = entities->high_water,
                                   .hole_count = entities->hole_count};
    if (!state->hole_count)
        return true;
    state->holes = micap_allocate(&world->memory, state->hole_count * sizeof *state->holes, MICAP_ARRAY_ALIGNMENT);
    if (state->holes)
        memcpy(state->holes, entities->holes, state->hole_count * sizeof *state->holes);
    return state->holes != NULL;
}

void micap_handles_drop(mica_world *world, micap_handles_state *state)
{
    MICAP_RELEASE_ARRAY(&world->memory, state->holes, state->hole_count);
    *state = (micap_handles_state){0};
}

typedef void (*run_fn)(const micap_entities *entities, uint64_t begin, uint64_t end);

/* Runs of indices that were never used, and have been since. */
static void each_fresh_run(const micap_entities *entities, const micap_handles_state *state, run_fn fn)
{
    fn(entities, state->fresh_next, state->fresh_end);
    for (uint32_t i = 0; i < state->hole_count; ++i)
        if (i >= entities->hole_count || entities->holes[i] != state->holes[i])
            fn(entities, state->holes[i], (uint64_t)state->holes[i] + MICAP_ID_BLOCK);
    fn(entities, state->high_water, entities->high_water);
}

static void clear_run(const micap_entities *entities, uint64_t begin, uint64_t end)
{
    for (uint64_t index = begin; index < end; ++index) {
        const micap_page *page = &entities->pages[index >> MICAP_PAGE_SHIFT];
        if (index >> MICAP_PAGE_SHIFT < entities->pages_capacity && page->records)
            page->records[index & (MICAP_PAGE_RECORDS - 1)] = 0;
    }
}

static void keep_run(const micap_entities *entities, uint64_t begin, uint64_t end)
{
    for (uint64_t index = begin & ~(uint64_t)63; index < end; index += 64)
        if (index >> MICAP_PAGE_SHIFT < entities->pages_capacity && entities->pages[index >> MICAP_PAGE_SHIFT].records)
            micap_keep_record(entities, (uint32_t)index);
}

bool micap_handles_prepare(mica_world *world, const micap_handles_state *state)
{
    micap_entities *entities = &world->entities;
    micap_entities_settle(world);
    return MICAP_RESERVE(&world->memory, entities->holes, &entities->hole_capacity, state->hole_count);
}

void micap_handles_keep(mica_world *world, const micap_handles_state *state)
{
    each_fresh_run(&world->entities, state, keep_run);
}

void micap_handles_restore(mica_world *world, const micap_handles_state *state)
{
    micap_entities *entities = &world->entities;
    each_fresh_run(entities, state, clear_run);
    entities->first_page = state->first_page;
    entities->free_count = state->free_count;
    entities->fresh_next = state->fresh_next;
    entities->fresh_end = state->fresh_end;
    entities->high_water = state->high_water;
    entities->hole_count = state->hole_count;
    if (state->hole_count)
        memcpy(entities->holes, state->holes, state->hole_count * sizeof *state->holes);
}
