/* The handles of a world that is restored: which are in use, which are free, and which come next. */
#include "core/state/resume_index.h"

#include "core/state/state_records.h"
#include "core/storage/rows.h"

static bool read_holes(mica_world *world, micap_reader *reader)
{
    micap_entities *entities = &world->entities;
    uint64_t count = micap_reader_take_up_to(reader, micap_reader_left(reader));
    if (reader->failed || !MICAP_RESERVE(&world->memory, entities->holes, &entities->hole_capacity, count))
        return false;
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t begin = micap_reader_take_number(reader);
        if (begin % MICAP_ID_BLOCK || begin >= entities->high_water)
            return false;
        entities->holes[entities->hole_count++] = (uint32_t)begin;
    }
    return !reader->failed;
}

static bool read_spare(mica_world *world, micap_reader *reader)
{
    micap_entities *entities = &world->entities;
    mica_entity *spare;
    uint32_t count;
    bool fine = micap_state_take_handles(world, reader, &spare, &count) &&
                micap_entities_claim_unused(world, spare, count, MICAP_CHUNK_NONE, MICAP_SLOT_RESERVED) &&
                MICAP_RESERVE(&world->memory, entities->spare, &entities->spare_capacity, count);
    if (fine && count) {
        memcpy(entities->spare, spare, count * sizeof *spare);
        entities->spare_count = count;
    }
    MICAP_RELEASE_ARRAY(&world->memory, spare, count);
    return fine;
}

/* The free slots of one page, which becomes the last of those that have some. */
static bool read_page(mica_world *world, micap_reader *reader, uint32_t *last_page)
{
    micap_entities *entities = &world->entities;
    uint32_t count = (uint32_t)micap_reader_take_up_to(reader, MICAP_PAGE_RECORDS), page = 0;
    uint64_t *before = NULL;
    micap_handle_runs runs = {0};
    for (uint32_t i = 0; i < count; ++i) {
        mica_entity entity = micap_handle_runs_take(&runs, reader);
        uint32_t slot = entity.index & (MICAP_PAGE_RECORDS - 1);
        if (reader->failed || (i && entity.index >> MICAP_PAGE_SHIFT != page) ||
            !micap_entities_claim_unused(world, &entity, 1, MICAP_CHUNK_NONE, MICAP_SLOT_END) ||
            (!i && entities->pages[entity.index >> MICAP_PAGE_SHIFT].first_free != MICAP_SLOT_END))
            return false;
        page = entity.index >> MICAP_PAGE_SHIFT;
        if (before)
            *before = (*before & ~(uint64_t)0xFFFF) | slot;
        else
            entities->pages[page].first_free = (uint16_t)slot;
        before = &entities->pages[page].records[slot];
        ++entities->free_count;
    }
    if (reader->failed || !count || runs.count)
        return false;
    *(*last_page ? &entities->pages[*last_page - 1].next : &entities->first_page) = page + 1;
    *last_page = page + 1;
    return true;
}

bool micap_resume_read_index(mica_world *world, micap_reader *reader, const mica_entity *handles, uint32_t count)
{
    micap_entities *entities = &world->entities;
    uint64_t limit = (uint64_t)1 << 32;
    entities->fresh_next = micap_reader_take_number(reader);
    entities->fresh_end = micap_reader_take_number(reader);
    entities->high_water = micap_reader_take_number(reader);
    entities->blocks_taken = micap_reader_take_number(reader);
    entities->block_peak = micap_reader_take_number(reader);
    if (reader->failed || !entities->fresh_next || entities->fresh_next > entities->fresh_end ||
        entities->fresh_end > entities->high_water || entities->high_water > limit ||
        entities->high_water % MICAP_ID_BLOCK || entities->fresh_end % MICAP_ID_BLOCK ||
        entities->blocks_taken > limit || entities->block_peak > limit)
        return false;
    /* Fresh indices are given out without a look at their page. */
    if (entities->fresh_next < entities->fresh_end &&
        (!micap_entities_reserve_at(world, (uint32_t)entities->fresh_next) ||
         entities->fresh_next >> MICAP_PAGE_SHIFT != (entities->fresh_end - 1) >> MICAP_PAGE_SHIFT))
        return false;
    if ((count && micap_entities_prepare(world, handles, count) >= entities->high_water) ||
        !micap_entities_claim_unused(world, handles, count, MICAP_CHUNK_PENDING, 0) || !read_holes(world, reader) ||
        !read_spare(world, reader))
        return false;
    uint64_t page_count = micap_reader_take_number(reader);
    uint32_t last_page = 0;
    for (uint64_t i = 0; i < page_count; ++i)
        if (!read_page(world, reader, &last_page))
            return false;
    return !reader->failed;
}

/* Whether no slot of [begin, end) has a record. */
static bool is_blank(const micap_entities *entities, uint64_t begin, uint64_t end)
{
    return micap_entities_first_used(entities, begin, end) == end;
}

bool micap_resume_check_unused_slots(const mica_world *world)
{
    const micap_entities *entities = &world->entities;
    bool fine = is_blank(entities, entities->fresh_next, entities->fresh_end) &&
                is_blank(entities, entities->high_water, UINT64_MAX);
    for (uint32_t i = 0; fine && i < entities->hole_count; ++i) {
        uint64_t begin = entities->holes[i], end = begin + MICAP_ID_BLOCK;
        fine = is_blank(entities, begin, end) && (end <= entities->fresh_next || begin >= entities->fresh_end);
        for (uint32_t k = 0; k < i; ++k)
            fine = fine && entities->holes[k] != begin;
    }
    return fine;
}

static void each_page(micap_entities *entities, void (*fn)(micap_entities *entities, uint32_t page))
{
    uint32_t page_count = atomic_load_explicit(&entities->page_count, memory_order_relaxed);
    for (uint32_t page = 0; page < page_count; ++page)
        if (entities->pages[page].records)
            fn(entities, page);
}

static void clear_page(micap_entities *entities, uint32_t page)
{
    memset(entities->pages[page].records, 0, MICAP_PAGE_RECORDS * sizeof *entities->pages[page].records);
    entities->pages[page].first_free = MICAP_SLOT_END;
    entities->pages[page].next = 0;
}

static void drop_stocks(mica_world *world)
{
    for (mica_commands *commands = world->first_commands; commands; commands = commands->next)
        commands->stock_count = commands->taken_count = 0;
    world->entities.spare_count = 0;
}

void micap_resume_reset(mica_world *world)
{
    micap_entities *entities = &world->entities;
    drop_stocks(world);
    each_page(entities, clear_page);
    entities->first_page = 0;
    entities->free_count = 0;
    entities->fresh_next = 1;
    entities->fresh_end = entities->high_water = MICAP_PAGE_RECORDS;
    entities->hole_count = 0;
    entities->blocks_taken = entities->block_peak = 0;
    for (uint32_t i = 0; i < world->archetypes.count; ++i)
        micap_rows_shrink(world, world->archetypes.by_id[i], 0);
    micap_archetypes_forget(world, 1);
}

static void free_handles_of_page(micap_entities *entities, uint32_t page)
{
    for (uint32_t slot = 0; slot < MICAP_PAGE_RECORDS; ++slot) {
        uint64_t record = entities->pages[page].records[slot];
        if (micap_record_is_reserved(record) || micap_record_chunk(record) == MICAP_CHUNK_PENDING)
            micap_entity_give_unused(entities,
                                     (mica_entity){page << MICAP_PAGE_SHIFT | slot, micap_record_generation(record)});
    }
}

void micap_resume_free_handles(mica_world *world)
{
    drop_stocks(world);
    each_page(&world->entities, free_handles_of_page);
}

/* Buffers of the program, in the order they were created; those that are not there leave their handles to all. */
bool micap_resume_read_buffers(mica_world *world, micap_reader *reader)
{
    mica_commands *commands = world->first_commands;
    while (micap_reader_left(reader)) {
        while (commands && (commands->owned || commands->is_of_system))
            commands = commands->next;
        uint32_t taken_count = (uint32_t)micap_reader_take_up_to(reader, UINT32_MAX);
        mica_entity *stock;
        uint32_t count;
        bool fine = micap_state_take_handles(world, reader, &stock, &count) &&
                    micap_entities_claim_unused(world, stock, count, MICAP_CHUNK_NONE, MICAP_SLOT_RESERVED);
        if (fine && commands)
            fine = micap_commands_set_stock(commands, stock, count, taken_count);
        for (uint32_t i = 0; fine && !commands && i < count; ++i)
            micap_entity_give_unused(&world->entities, stock[i]);
        MICAP_RELEASE_ARRAY(&world->memory, stock, count);
        if (!fine)
            return false;
        commands = commands ? commands->next : NULL;
    }
    return !reader->failed;
}
