#include "mica/state.h"

#include "base/argument.h"
#include "core/events/removals.h"
#include "core/query/query.h"
#include "core/state/stale_references.h"
#include "base/handle_range.h"
#include "core/storage/rows.h"
#include "core/world/report.h"

struct mica_state {
    mica_world *world;
    micap_bytes bytes;
};

/* Begins a record; its size is filled in at the end. */
static uint32_t begin_record(micap_bytes *bytes, uint32_t kind)
{
    micap_bytes_put32(bytes, kind);
    micap_bytes_put32(bytes, 0);
    return bytes->count;
}

static void end_record(micap_bytes *bytes, uint32_t begin)
{
    if (bytes->failed)
        return;
    uint32_t count = micap_little32(bytes->count - begin);
    memcpy(bytes->data + begin - sizeof count, &count, sizeof count);
}

static void write_handles(micap_bytes *bytes, const mica_entity *entities, uint32_t count)
{
    micap_handle_runs runs = {.bytes = bytes};
    micap_bytes_put_number(bytes, count);
    MICAP_ASSERT(entities || !count, "there is a list of them");
    for (uint32_t i = 0; i < count; ++i)
        micap_handle_runs_put(&runs, entities[i]);
    micap_handle_runs_end(&runs);
}

/* The free slots of a page, in the order they are taken. */
static void write_free_slots(const micap_page *page, uint32_t page_index, micap_bytes *bytes)
{
    micap_handle_runs runs = {.bytes = bytes};
    uint32_t count = 0;
    for (uint32_t slot = page->first_free; slot != MICAP_SLOT_END; slot = micap_record_row(page->records[slot]))
        ++count;
    micap_bytes_put_number(bytes, count);
    for (uint32_t slot = page->first_free; slot != MICAP_SLOT_END; slot = micap_record_row(page->records[slot]))
        micap_handle_runs_put(
            &runs, (mica_entity){page_index << MICAP_PAGE_SHIFT | slot, micap_record_generation(page->records[slot])});
    micap_handle_runs_end(&runs);
}

static void write_index(const mica_world *world, micap_bytes *bytes)
{
    const micap_entities *entities = &world->entities;
    uint32_t page_count = 0;
    micap_bytes_put_number(bytes, entities->fresh_next);
    micap_bytes_put_number(bytes, entities->fresh_end);
    micap_bytes_put_number(bytes, entities->high_water);
    micap_bytes_put_number(bytes, entities->blocks_taken);
    micap_bytes_put_number(bytes, entities->block_peak);
    micap_bytes_put_number(bytes, entities->hole_count);
    for (uint32_t i = 0; i < entities->hole_count; ++i)
        micap_bytes_put_number(bytes, entities->holes[i]);
    write_handles(bytes, entities->spare, entities->spare_count);
    for (uint32_t page = entities->first_page; page; page = entities->pages[page - 1].next)
        ++page_count;
    micap_bytes_put_number(bytes, page_count);
    for (uint32_t page = entities->first_page; page; page = entities->pages[page - 1].next)
        write_free_slots(&entities->pages[page - 1], page - 1, bytes);
}

static void write_rows(const micap_archetype *archetype, micap_bytes *bytes)
{
    micap_handle_runs runs = {.bytes = bytes};
    for (uint32_t i = 0; i < archetype->chunk_count; ++i) {
        const mica_entity *entities = micap_chunk_entities(archetype->chunks[i]);
        for (uint32_t row = 0, range; row < archetype->chunks[i]->count; row += range) {
            range = micap_handles_in_page(entities + row, archetype->chunks[i]->count - row);
            micap_handle_runs_put_range(&runs, entities[row], range);
        }
    }
    micap_handle_runs_end(&runs);
}

/* The stamps of a column, or of the structure; and the versions at which rows were added or written. */
static void write_stamps(const mica_world *world, const micap_archetype *archetype, uint32_t stamp, micap_bytes *bytes)
{
    micap_number_runs runs = {.bytes = bytes};
    bool has_versions = stamp && micap_holds_versions(archetype->columns[stamp - 1].companion);
    mica_version version = micap_version(world);
    for (uint32_t i = 0; i < archetype->chunk_count; ++i)
        for (uint32_t row = 0; row < archetype->chunks[i]->count; row += MICA_SLICE_ROWS)
            micap_number_runs_put(&runs,
                                  version - micap_stamp_version(micap_chunk_stamps(archetype->chunks[i], row)[stamp]));
    for (uint32_t i = 0; has_versions && i < archetype->chunk_count; ++i) {
        const mica_version *versions = micap_chunk_column(archetype->chunks[i], stamp - 1);
        for (uint32_t row = 0; row < archetype->chunks[i]->count; ++row)
            micap_number_runs_put(&runs, version - versions[row]);
    }
    micap_number_runs_end(&runs);
}

static void write_archetype(const mica_world *world, const micap_archetype *archetype, micap_bytes *bytes)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < archetype->component_count; ++i)
        count += micap_type_of(archetype->components[i])->companion == MICAP_COMPANION_NONE;
    micap_bytes_put_number(bytes, count);
    for (uint32_t i = 0; i < archetype->component_count; ++i)
        if (micap_type_of(archetype->components[i])->companion == MICAP_COMPANION_NONE)
            micap_bytes_put64(bytes, micap_type_of(archetype->components[i])->name_hash);
    micap_bytes_put_number(bytes, archetype->chunk_count);
    for (uint32_t i = 0; i < archetype->chunk_count; ++i)
        micap_bytes_put_number(bytes, archetype->chunks[i]->order);
    micap_bytes_put_number(bytes, archetype->row_count);
    write_rows(archetype, bytes);
    micap_bytes_put_number(bytes, archetype->row_count ? 1 + archetype->column_count : 0);
    for (uint32_t i = 0; archetype->row_count && i <= archetype->column_count; ++i) {
        micap_bytes_put64(bytes, i ? micap_state_column_hash(&archetype->columns[i - 1]) : 0);
        uint32_t begin = bytes->count;
        micap_bytes_put32(bytes, 0);
        write_stamps(world, archetype, i, bytes);
        end_record(bytes, begin + 4);
    }
}

static void write_archetypes(const mica_world *world, micap_bytes *bytes)
{
    micap_bytes_put_number(bytes, world->archetypes.count);
    for (uint32_t i = 0; i < world->archetypes.count; ++i)
        write_archetype(world, world->archetypes.by_id[i], bytes);
}

/* The place of each instance among those of its owner, by one pass over the lists of a pool for many. */
static void write_instance_numbers(const mica_pool *pool, micap_bytes *bytes)
{
    uint32_t count = pool->next ? pool->row_limit : 0;
    uint32_t *numbers = count ? micap_allocate(pool->memory, count * sizeof *numbers, MICAP_ARRAY_ALIGNMENT) : NULL;
    if (!numbers) {
        bytes->failed |= count != 0;
        return;
    }
    for (uint32_t row = 0; row < count; ++row)
        if (micap_pool_is_first(pool, row))
            for (uint32_t at = row, number = 0; at != MICAP_ROW_NONE; at = pool->next[at])
                numbers[at] = number++;
    micap_number_runs runs = {.bytes = bytes};
    for (uint32_t row = 0; row < count; ++row)
        micap_number_runs_put(&runs, numbers[row]);
    micap_number_runs_end(&runs);
    MICAP_RELEASE_ARRAY(pool->memory, numbers, count);
}

static void write_pool_stamps(const mica_world *world, const mica_pool *pool, micap_bytes *bytes)
{
    micap_number_runs runs = {.bytes = bytes};
    mica_version version = micap_version(world);
    for (uint32_t row = 0; row < pool->row_limit; row += MICA_SLICE_ROWS)
        for (uint32_t i = 0; i <= pool->data_lane_count; ++i)
            micap_number_runs_put(&runs, version - micap_stamp_version(micap_pool_stamps(pool, row)[i]));
    for (uint32_t row = 0; pool->added && row < pool->row_limit; ++row)
        micap_number_runs_put(&runs, micap_pool_has_row(pool, row) ? version - pool->added[row] : 0);
    for (uint32_t row = 0; pool->changed && row < pool->row_limit; row += MICA_SLICE_ROWS)
        micap_number_runs_put(&runs, version - *micap_pool_marked(pool, row));
    for (uint32_t row = 0; pool->changed && row < pool->row_limit; ++row)
        micap_number_runs_put(&runs, version - (micap_pool_has_row(pool, row) ? pool->changed[row] : 0));
    micap_number_runs_end(&runs);
}

static void write_pool(const mica_world *world, const mica_pool *pool, micap_bytes *bytes)
{
    bool has_order = pool->kind == MICAP_POOL_MAP || pool->kind == MICAP_POOL_HASH;
    micap_bytes_put_number(bytes, pool->probe_count);
    micap_bytes_put_number(bytes, pool->removed_count);
    write_handles(bytes, pool->owners, has_order ? pool->row_limit : 0);
    if (has_order)
        write_instance_numbers(pool, bytes);
    micap_bytes_put_number(bytes, pool->kind == MICAP_POOL_TAG ? 0 : pool->row_limit);
    micap_bytes_put_number(bytes, pool->data_lane_count);
    if (pool->kind != MICAP_POOL_TAG)
        write_pool_stamps(world, pool, bytes);
}

static void write_pools(const mica_world *world, micap_bytes *bytes)
{
    const micap_pools *pools = &world->pools;
    micap_bytes_put64(bytes, pools->random_state);
    write_handles(bytes, pools->dead, pools->dead_count);
    micap_bytes_put_number(bytes, pools->count);
    for (uint32_t i = 0; i < pools->count; ++i) {
        micap_bytes_put64(bytes, pools->all[i]->type->name_hash);
        micap_bytes_put32(bytes, 0);
        uint32_t begin = bytes->count;
        write_pool(world, pools->all[i], bytes);
        end_record(bytes, begin);
    }
}

/* Of the program; systems write theirs. In the order they were created. */
static void write_buffers(const mica_world *world, micap_bytes *bytes)
{
    for (const mica_commands *commands = world->first_commands; commands; commands = commands->next)
        if (!commands->owned && !commands->is_of_system) {
            micap_bytes_put_number(bytes, commands->taken_count);
            write_handles(bytes, commands->stock, commands->stock_count);
        }
}

static void write_marks(const mica_world *world, micap_bytes *bytes)
{
    for (uint32_t i = 0; i < world->queries->count; ++i) {
        const mica_query *query = world->queries->all[i];
        if (!query->special || !query->is_marked)
            continue;
        micap_bytes_put_number(bytes, query->id);
        micap_bytes_put_number(bytes, query->last_mark);
    }
}

static void write_removals(const mica_world *world, micap_bytes *bytes)
{
    mica_component id = 0;
    while ((id = micap_component_after(&world->components, id))) {
        const micap_component *component = micap_component_of(&world->components, id);
        uint32_t number = 0;
        for (const mica_removals *list = component->removals; list; list = list->next, ++number) {
            micap_bytes_put64(bytes, component->type->name_hash);
            micap_bytes_put_number(bytes, number);
            micap_bytes_put_number(bytes, list->missed);
            const mica_entity *unread = list->entities ? list->entities + list->first : NULL;
            write_handles(bytes, unread, list->count - list->first);
        }
    }
}

static void write_world(const mica_world *world, micap_bytes *bytes)
{
    micap_bytes_put64(bytes, micap_version(world));
    if (world->def.handle_space) /* a state without it is as it was before there were any */
        micap_bytes_put_number(bytes, world->def.handle_space);
}

static void write_core(const mica_world *world, micap_bytes *bytes)
{
    static const struct {
        micap_state_kind kind;
        void (*write)(const mica_world *world, micap_bytes *bytes);
    } records[] = {{MICAP_STATE_WORLD, write_world},
                   {MICAP_STATE_INDEX, write_index},
                   {MICAP_STATE_ARCHETYPES, write_archetypes},
                   {MICAP_STATE_POOLS, write_pools},
                   {MICAP_STATE_BUFFERS, write_buffers},
                   {MICAP_STATE_MARKS, write_marks},
                   {MICAP_STATE_REMOVALS, write_removals},
                   {MICAP_STATE_REFERENCES, micap_stale_references_write},
                   {MICAP_STATE_NAMES, micap_scoped_names_write}};
    for (uint32_t i = 0; i < sizeof records / sizeof *records; ++i) {
        uint32_t before = bytes->count, begin = begin_record(bytes, records[i].kind);
        records[i].write(world, bytes);
        if (records[i].kind == MICAP_STATE_NAMES && bytes->count == begin)
            bytes->count = before; /* most worlds have none */
        else
            end_record(bytes, begin);
    }
}

/* Whether nothing runs, is recorded or waits for a flush. */
static bool is_at_rest(const mica_world *world)
{
    if (world->recording_depth || world->flushing || atomic_load(&world->entities.lanes_taken) ||
        micap_thread_context_of(world))
        return false;
    for (const mica_commands *commands = world->first_commands; commands; commands = commands->next)
        if (!micap_recording_is_empty(&commands->recording))
            return false;
    return true;
}

mica_result mica_state_take(mica_world *world, mica_state **out_state)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, out_state))
        return MICA_ERROR_INVALID;
    *out_state = NULL;
    if (!is_at_rest(world))
        return MICA_ERROR_REFUSED;
    mica_state *state = micap_allocate_zeroed(&world->memory, sizeof *state, MICAP_ARRAY_ALIGNMENT);
    if (!state)
        return micap_fail_memory(world, "state");
    state->world = world;
    state->bytes.memory = &world->memory;
    write_core(world, &state->bytes);
    for (uint32_t id = 0; id < MICAP_MODULES; ++id) {
        const micap_module *module = &world->modules[id];
        if (!module->ops || !module->ops->write)
            continue;
        uint32_t begin = begin_record(&state->bytes, MICAP_STATE_MODULES + id);
        module->ops->write(world, module->state, &state->bytes);
        end_record(&state->bytes, begin);
    }
    if (state->bytes.failed) {
        mica_state_free(state);
        return micap_fail_memory(world, "state");
    }
    *out_state = state;
    return MICA_OK;
}

const void *mica_state_bytes(const mica_state *state, size_t *out_byte_count)
{
    if (MICAP_MISSING(NULL, state) || MICAP_MISSING(state->world, out_byte_count))
        return NULL;
    *out_byte_count = state->bytes.count;
    return state->bytes.data;
}

void mica_state_free(mica_state *state)
{
    if (!state)
        return;
    micap_bytes_free(&state->bytes);
    micap_release(&state->world->memory, state, sizeof *state, MICAP_ARRAY_ALIGNMENT);
}
