#include "core/undo/undo_entity_index.h"

static bool has_page(const micap_entities *entities, uint64_t page)
{
    return page < entities->pages_capacity && entities->pages[page].records;
}

static bool save_pages(mica_world *world, micap_handles_state *state)
{
    const micap_entities *entities = &world->entities;
    uint64_t page_count = (state->high_water + MICAP_PAGE_RECORDS - 1) >> MICAP_PAGE_SHIFT;
    uint32_t words = (uint32_t)(page_count / 64 + 1);
    state->pages = micap_allocate_zeroed(&world->memory, words * sizeof *state->pages, MICAP_ARRAY_ALIGNMENT);
    if (!state->pages)
        return false;
    state->page_words = words;
    for (uint64_t page = 0; page < page_count; ++page)
        state->pages[page / 64] |= (uint64_t)has_page(entities, page) << page % 64;
    return true;
}

static bool save_holes(mica_world *world, micap_handles_state *state)
{
    const micap_entities *entities = &world->entities;
    size_t bytes = entities->hole_count * sizeof *state->holes;
    if (!entities->hole_count)
        return true;
    state->holes = micap_allocate(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (state->holes) {
        memcpy(state->holes, entities->holes, bytes);
        state->hole_count = entities->hole_count;
    }
    return state->holes;
}

static bool save_spare(mica_world *world, micap_handles_state *state)
{
    const micap_entities *entities = &world->entities;
    size_t bytes = entities->spare_count * sizeof *state->spare;
    if (!entities->spare_count)
        return true;
    state->spare = micap_allocate(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!state->spare)
        return false;
    memcpy(state->spare, entities->spare, bytes);
    state->spare_count = entities->spare_count;
    return true;
}

bool micap_handles_save(mica_world *world, micap_handles_state *state)
{
    micap_entities *entities = &world->entities;
    micap_entities_settle(world);
    *state = (micap_handles_state){.first_page = entities->first_page,
                                   .free_count = entities->free_count,
                                   .fresh_next = entities->fresh_next,
                                   .fresh_end = entities->fresh_end,
                                   .high_water = entities->high_water,
                                   .blocks_taken = entities->blocks_taken,
                                   .block_peak = entities->block_peak,
                                   .existing_count = entities->existing_count};
    return save_pages(world, state) && save_holes(world, state) && save_spare(world, state);
}

void micap_handles_drop(mica_world *world, micap_handles_state *state)
{
    MICAP_RELEASE_ARRAY(&world->memory, state->holes, state->hole_count);
    MICAP_RELEASE_ARRAY(&world->memory, state->spare, state->spare_count);
    MICAP_RELEASE_ARRAY(&world->memory, state->pages, state->page_words);
    *state = (micap_handles_state){0};
}

typedef void (*run_fn)(const micap_entities *entities, uint64_t begin, uint64_t end);

/* Runs of indices that were never used, and have been since. */
static void each_fresh_run(const micap_entities *entities, const micap_handles_state *state, run_fn fn)
{
    bool is_same_run = entities->fresh_end == state->fresh_end;
    fn(entities, state->fresh_next, is_same_run ? entities->fresh_next : state->fresh_end);
    for (uint32_t i = 0; i < state->hole_count; ++i)
        if (i >= entities->hole_count || entities->holes[i] != state->holes[i])
            fn(entities, state->holes[i], (uint64_t)state->holes[i] + MICAP_ID_BLOCK);
    uint64_t page_count = entities->existing_count == state->existing_count ? 0 : state->high_water >> MICAP_PAGE_SHIFT;
    for (uint64_t page = 0; page < page_count; ++page)
        if (has_page(entities, page) && !micap_bit(state->pages, (uint32_t)page))
            fn(entities, page << MICAP_PAGE_SHIFT, (page + 1) << MICAP_PAGE_SHIFT);
    fn(entities, state->high_water, entities->high_water);
}

static void clear_run(const micap_entities *entities, uint64_t begin, uint64_t end)
{
    for (uint64_t index = begin; index < end; ++index)
        if (has_page(entities, index >> MICAP_PAGE_SHIFT))
            entities->pages[index >> MICAP_PAGE_SHIFT].records[index & (MICAP_PAGE_RECORDS - 1)] = 0;
}

static void keep_run(const micap_entities *entities, uint64_t begin, uint64_t end)
{
    for (uint64_t index = begin & ~(uint64_t)63; index < end; index += 64)
        if (has_page(entities, index >> MICAP_PAGE_SHIFT))
            micap_undo_save_record(entities, (uint32_t)index);
}

bool micap_handles_prepare(mica_world *world, const micap_handles_state *state)
{
    micap_entities *entities = &world->entities;
    micap_entities_settle(world);
    return MICAP_RESERVE(&world->memory, entities->holes, &entities->hole_capacity, state->hole_count) &&
           MICAP_RESERVE(&world->memory, entities->spare, &entities->spare_capacity, state->spare_count);
}

void micap_handles_save_fresh(mica_world *world, const micap_handles_state *state)
{
    each_fresh_run(&world->entities, state, keep_run);
}

static bool is_fresh(const micap_handles_state *state, uint64_t index)
{
    return index >= state->high_water || (index >= state->fresh_next && index < state->fresh_end) ||
           !micap_bit(state->pages, (uint32_t)(index >> MICAP_PAGE_SHIFT));
}

void micap_handles_clear_fresh(const micap_handles_state *state, uint64_t first, uint64_t *records, uint32_t count)
{
    bool is_hole = false;
    for (uint32_t i = 0; i < state->hole_count; ++i)
        is_hole |= state->holes[i] == first;
    for (uint32_t i = 0; i < count; ++i)
        if (is_hole || is_fresh(state, first + i))
            records[i] = 0;
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
    entities->blocks_taken = state->blocks_taken;
    entities->block_peak = state->block_peak;
    entities->spare_count = state->spare_count;
    if (state->spare_count)
        memcpy(entities->spare, state->spare, state->spare_count * sizeof *state->spare);
    for (uint32_t i = 0; i < state->spare_count; ++i) /* giving out a handle keeps nothing */
        micap_entity_take_back(entities, state->spare[i]);
}

bool micap_handles_clone(mica_world *to, const mica_world *from)
{
    micap_handles_state state;
    if (!micap_handles_save((mica_world *)from, &state) || !micap_entities_reserve(to, state.high_water)) {
        micap_handles_drop((mica_world *)from, &state);
        return false;
    }
    uint32_t page_count = (uint32_t)((state.high_water + MICAP_PAGE_RECORDS - 1) >> MICAP_PAGE_SHIFT);
    for (uint32_t page = 0; page < page_count; ++page) {
        const micap_page *old = &from->entities.pages[page];
        micap_page *fresh = &to->entities.pages[page];
        if (!has_page(&from->entities, page))
            continue;
        memcpy(fresh->records, old->records, MICAP_PAGE_RECORDS * sizeof *old->records);
        fresh->next = old->next;
        fresh->first_free = old->first_free;
    }
    bool done = micap_handles_prepare(to, &state);
    if (done)
        micap_handles_restore(to, &state);
    to->entities.spare_count = 0; /* buffers are not cloned: what they have is free in the clone */
    for (uint64_t index = 1; done && index < state.high_water; ++index) {
        uint64_t record = *micap_record_at(&to->entities, (uint32_t)index);
        if (micap_record_is_reserved(record) || micap_record_chunk(record) == MICAP_CHUNK_PENDING)
            micap_entity_give_unused(&to->entities, (mica_entity){(uint32_t)index, micap_record_generation(record)});
    }
    micap_handles_drop((mica_world *)from, &state);
    return done;
}
