/* Finds out which entities are new, are destroyed or change components. */
#include "core/entity/pool_component.h"
#include "core/world/report.h"
#include "core/storage/component_set.h"
#include "core/storage/rows.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/singleton.h"
#include "replication/replica_instances.h"
#include "replication/replica_plan.h"
#include "replication/replica_rivals.h"
#include "replication/replica_rules.h"

#include <stdlib.h>

static mica_result refuse(const micap_delta_work *work, mica_result result, const char *why, mica_entity entity)
{
    return micap_fail(work->world, result, (mica_location){0}, "delta: %s (the sender's entity %u, generation %u)", why,
                      entity.index, entity.generation);
}

static mica_result refuse_memory(const micap_delta_work *work)
{
    return micap_fail_memory(work->world, "delta");
}

static uint32_t find_place(const micap_replica_table *tables, uint32_t count, uint64_t key)
{
    uint32_t at = 0;
    while (at < count && tables[at].key != key)
        ++at;
    return at;
}

/* The replica's tables that the delta means; new ones are empty. */
static bool place_tables(micap_delta_work *work)
{
    mica_replica *replica = work->replica;
    micap_memory *memory = &work->world->memory;
    for (uint32_t i = 0; i < work->tables_count; ++i) {
        micap_delta_table *table = &work->tables[i];
        table->location = find_place(replica->tables, replica->tables_count, table->key);
        if (table->location < replica->tables_count)
            continue;
        micap_replica_table fresh = {.key = table->key, .archetype = UINT32_MAX};
        if (!MICAP_RESERVE(memory, replica->tables, &replica->tables_capacity, (uint64_t)replica->tables_count + 1) ||
            !MICAP_RESERVE(memory, fresh.types, &fresh.type_capacity, (uint64_t)table->column_count + 1))
            return false;
        for (uint32_t j = 0; j < table->column_count; ++j)
            if (!work->columns[table->column + j]->companion)
                fresh.types[fresh.type_count++] = work->columns[table->column + j];
        replica->tables[replica->tables_count++] = fresh;
    }
    for (uint32_t i = 0; i < work->pools_count; ++i) {
        micap_delta_table *pool = &work->pools[i];
        pool->location = find_place(replica->pools, replica->pools_count, pool->key);
        if (pool->location < replica->pools_count)
            continue;
        if (!MICAP_RESERVE(memory, replica->pools, &replica->pools_capacity, (uint64_t)replica->pools_count + 1))
            return false;
        replica->pools[replica->pools_count++] = (micap_replica_table){.key = pool->key};
    }
    return true;
}

/* A delta from nothing means that what it does not mention is empty. */
static bool mention_all(micap_delta_work *work)
{
    const mica_replica *replica = work->replica;
    micap_memory *memory = &work->world->memory;
    for (uint32_t i = 0; !work->base && i < replica->tables_count; ++i) {
        bool is_mentioned = !replica->tables[i].row_count;
        for (uint32_t j = 0; j < work->tables_count; ++j)
            is_mentioned |= work->tables[j].key == replica->tables[i].key;
        if (is_mentioned)
            continue;
        if (!MICAP_RESERVE(memory, work->tables, &work->tables_capacity, (uint64_t)work->tables_count + 1))
            return false;
        work->tables[work->tables_count++] = (micap_delta_table){.key = replica->tables[i].key};
    }
    return true;
}

static mica_result refuse_rows(const micap_delta_work *work)
{
    return micap_fail(work->world, MICA_ERROR_DATA, (mica_location){0}, "delta: rows are missing");
}

/* The rows of a table as they are to be: those it had, and over them those that were sent. */
static mica_result lay_rows(micap_delta_work *work, micap_delta_table *table, const micap_replica_table *before)
{
    uint64_t sent = 0;
    bool is_linked = false;
    for (uint32_t i = 0; i < table->slice_count; ++i) {
        const micap_delta_slice *slice = &work->slices[table->slice + i];
        sent += slice->owners ? slice->row_count : 0;
        is_linked |= slice->next != NULL;
    }
    if (table->row_count > before->row_count + sent)
        return refuse_rows(work);
    table->is_moved = sent || is_linked || table->row_count != before->row_count;
    if (table->is_moved && !MICAP_RESERVE(&work->world->memory, table->rows, &table->capacity, table->row_count))
        return refuse_memory(work);
    uint32_t kept = before->row_count < table->row_count ? before->row_count : table->row_count, end = kept;
    if (table->is_moved && kept)
        memcpy(table->rows, before->rows, kept * sizeof *table->rows);
    for (uint32_t i = 0; i < table->slice_count; ++i) {
        const micap_delta_slice *slice = &work->slices[table->slice + i];
        if (slice->row > end || (!slice->owners && slice->row + slice->row_count > kept))
            return refuse_rows(work);
        if (!slice->owners)
            continue;
        memcpy(table->rows + slice->row, slice->owners, slice->row_count * sizeof *table->rows);
        end = slice->row + slice->row_count > end ? slice->row + slice->row_count : end;
    }
    return end == table->row_count ? MICA_OK : refuse_rows(work);
}

static bool is_handle(const micap_delta_work *work, mica_entity entity)
{
    return entity.index && entity.index < work->replica->index_limit && entity.generation &&
           entity.generation <= MICAP_GENERATION_MAX;
}

static bool append_change(micap_delta_work *work, micap_delta_change change)
{
    if (!MICAP_RESERVE(&work->world->memory, work->changes, &work->changes_capacity, (uint64_t)work->changes_count + 1))
        return false;
    work->changes[work->changes_count++] = change;
    return true;
}

/* Whether the row belongs to another entity than before. */
static bool is_other(const micap_delta_table *table, const micap_replica_table *before, uint32_t row)
{
    return row >= before->row_count || row >= table->row_count || !mica_same(before->rows[row], table->rows[row]);
}

/* What the delta says about a table of the replica; NULL if it does not mention it. */
static const micap_delta_table *mention_of(const micap_delta_work *work, uint32_t location)
{
    for (uint32_t i = 0; i < work->tables_count; ++i)
        if (work->tables[i].location == location)
            return &work->tables[i];
    return NULL;
}

/* Whether a twin stays in the row where it is. */
static bool stays(const micap_delta_work *work, const micap_twin *twin)
{
    const micap_delta_table *table = mention_of(work, twin->table);
    return !table || !table->is_moved || !is_other(table, &work->replica->tables[twin->table], twin->row);
}

/* A row that belongs to another entity now: marks the entity as present, and lists it if it is new or has other components. */
static mica_result list_change(micap_delta_work *work, uint32_t location, mica_entity sender)
{
    mica_replica *replica = work->replica;
    micap_delta_change change = {.sender = sender, .table = location};
    if (!is_handle(work, sender))
        return refuse(work, MICA_ERROR_DATA, "there is no such handle", sender);
    if (!replica->mapped && !micap_entity_is_of_space(work->world->def.handle_space, sender))
        return refuse(work, MICA_ERROR_INVALID, "this world has another handle space, and the replica is not mapped",
                      sender);
    micap_twin *twin = micap_entity_map_find(&replica->twins, sender);
    if (twin && (twin->mark == replica->mark || stays(work, twin)))
        return refuse(work, MICA_ERROR_DATA, "an entity is in two places", sender);
    if (twin)
        twin->mark = replica->mark;
    if (twin && twin->table == location)
        return MICA_OK;
    change.is_new = !twin;
    change.local = twin ? twin->other : mica_nil();
    return append_change(work, change) ? MICA_OK : refuse_memory(work);
}

static mica_result list_changes(micap_delta_work *work, const micap_delta_table *table)
{
    const micap_replica_table *before = &work->replica->tables[table->location];
    mica_result result = MICA_OK;
    for (uint32_t i = 0; i < table->slice_count; ++i) {
        const micap_delta_slice *slice = &work->slices[table->slice + i];
        for (uint32_t at = 0; slice->owners && result == MICA_OK && at < slice->row_count; ++at)
            if (is_other(table, before, slice->row + at))
                result = list_change(work, table->location, table->rows[slice->row + at]);
    }
    return result;
}

static bool list_death(micap_delta_work *work, mica_entity sender)
{
    const micap_twin *twin = micap_entity_map_find(&work->replica->twins, sender);
    if (!twin || twin->mark == work->replica->mark)
        return true;
    if (!MICAP_RESERVE(&work->world->memory, work->deaths, &work->deaths_capacity, (uint64_t)work->deaths_count + 1))
        return false;
    work->deaths[work->deaths_count++] = sender;
    return true;
}

/* The entities of rows that were removed or belong to another entity now, if they are nowhere else. */
static mica_result list_deaths(micap_delta_work *work, const micap_delta_table *table)
{
    const micap_replica_table *before = &work->replica->tables[table->location];
    bool fine = true;
    for (uint32_t i = 0; i < table->slice_count; ++i) {
        const micap_delta_slice *slice = &work->slices[table->slice + i];
        for (uint32_t row = slice->row; slice->owners && fine && row < slice->row + slice->row_count; ++row)
            if (row < before->row_count && is_other(table, before, row))
                fine = list_death(work, before->rows[row]);
    }
    for (uint32_t row = table->row_count; fine && row < before->row_count; ++row)
        fine = list_death(work, before->rows[row]);
    return fine ? MICA_OK : refuse_memory(work);
}

static int compare_changes(const void *left, const void *right)
{
    const micap_delta_change *a = left, *b = right;
    if (a->is_new != b->is_new)
        return a->is_new ? -1 : 1;
    if (a->sender.index != b->sender.index)
        return a->sender.index < b->sender.index ? -1 : 1;
    return a->sender.generation < b->sender.generation ? -1 : a->sender.generation > b->sender.generation;
}

/* The slot of a handle that is to be the same here: free, or that of an entity that this delta destroys. */
static bool slot_is_free(const micap_delta_work *work, mica_entity entity)
{
    const micap_entities *entities = &work->world->entities;
    if (entity.index >> MICAP_PAGE_SHIFT >= atomic_load_explicit(&entities->page_count, memory_order_relaxed))
        return true;
    uint64_t record = *micap_record_at(entities, entity.index);
    if (micap_record_chunk(record) == MICAP_CHUNK_NONE)
        return !micap_record_is_reserved(record);
    mica_entity now = {entity.index, micap_record_generation(record)};
    return micap_record_chunk(record) != MICAP_CHUNK_PENDING && micap_entity_map_find(&work->replica->twins, now);
}

/* New ones first, by rising index, no index twice; the former owner of an index is destroyed. */
static mica_result check_new(micap_delta_work *work)
{
    const mica_replica *replica = work->replica;
    micap_entities_free_spare(work->world);
    if (work->changes_count)
        qsort(work->changes, work->changes_count, sizeof *work->changes, compare_changes);
    for (uint32_t i = 0; i < work->changes_count && work->changes[i].is_new; ++i) {
        mica_entity sender = work->changes[i].sender;
        const micap_twin *twin = micap_entity_map_at(&replica->twins, sender.index);
        if ((i && work->changes[i - 1].sender.index == sender.index) ||
            (twin && (twin->mark == replica->mark || stays(work, twin))))
            return refuse(work, MICA_ERROR_DATA, "two entities have the same index", sender);
        if (!replica->mapped && !slot_is_free(work, sender))
            return refuse(work, MICA_ERROR_REFUSED, "its handle is in use by an entity of the receiver's own", sender);
    }
    return MICA_OK;
}

static mica_result find_changes(micap_delta_work *work)
{
    mica_replica *replica = work->replica;
    mica_result result = MICA_OK;
    ++replica->mark;
    for (uint32_t i = 0; result == MICA_OK && i < work->tables_count; ++i)
        result = lay_rows(work, &work->tables[i], &replica->tables[work->tables[i].location]);
    for (uint32_t i = 0; result == MICA_OK && i < work->tables_count; ++i)
        result = list_changes(work, &work->tables[i]);
    if (result == MICA_OK)
        result = check_new(work);
    for (uint32_t i = 0; result == MICA_OK && i < work->tables_count; ++i)
        result = list_deaths(work, &work->tables[i]);
    return result;
}

/* From what it has here to what it is to have: components of the receiver's own stay. */
static micap_archetype *destination_of(const micap_delta_work *work, const micap_delta_change *change)
{
    const mica_replica *replica = work->replica;
    const micap_replica_table *after = &replica->tables[change->table];
    uint32_t room = 0;
    for (uint32_t i = 0; i < after->type_count; ++i)
        room += micap_set_room(after->types[i]->id);
    micap_set set;
    const micap_archetype *from = change->from ? change->from : work->world->archetypes.by_id[0];
    if (!micap_set_init(&set, work->world, from, room))
        return NULL;
    if (change->from) {
        const micap_replica_table *before =
            &replica->tables[micap_entity_map_find(&replica->twins, change->sender)->table];
        for (uint32_t i = 0; i < before->type_count; ++i)
            micap_set_erase(&set, before->types[i]);
    }
    for (uint32_t i = 0; i < after->type_count; ++i)
        micap_set_insert(&set, after->types[i]);
    micap_archetype *archetype = micap_archetype_of_set(work->world, set.ids, set.count);
    micap_set_free(&set);
    return archetype;
}

static mica_result find_destinations(micap_delta_work *work)
{
    for (uint32_t i = 0; i < work->changes_count; ++i) {
        micap_delta_change *change = &work->changes[i];
        if (!change->is_new) {
            micap_row spot = micap_locate(work->world, change->local);
            if (!micap_is_row(spot))
                continue; /* the receiver destroyed it */
            change->from = spot.chunk->archetype;
        }
        const micap_delta_change *before = i ? change - 1 : NULL;
        bool is_alike = before && before->to && before->is_new == change->is_new && before->from == change->from &&
                        before->table == change->table &&
                        (change->is_new || micap_entity_map_find(&work->replica->twins, before->sender)->table ==
                                               micap_entity_map_find(&work->replica->twins, change->sender)->table);
        change->to = is_alike ? before->to : destination_of(work, change);
        if (!change->to)
            return micap_failure(work->world);
        ++change->to->incoming;
    }
    for (uint32_t i = 0; i < work->tables_count; ++i) { /* one row more, to change places with */
        const micap_delta_table *table = &work->tables[i];
        if (!table->is_moved)
            continue;
        micap_delta_change change = {.is_new = true, .table = table->location};
        micap_archetype *archetype = destination_of(work, &change);
        if (!archetype)
            return micap_failure(work->world);
        if (!micap_rows_reserve(work->world, archetype, (uint64_t)archetype->incoming + 1))
            return refuse_memory(work);
    }
    for (uint32_t i = 0; i < work->changes_count; ++i)
        if (work->changes[i].to && !micap_rows_reserve(work->world, work->changes[i].to, work->changes[i].to->incoming))
            return refuse_memory(work);
    return MICA_OK;
}

/* Takes handles for new entities and enters them into the map. */
static mica_result take_handles(micap_delta_work *work)
{
    mica_replica *replica = work->replica;
    mica_world *world = work->world;
    uint32_t count = 0;
    while (count < work->changes_count && work->changes[count].is_new)
        ++count;
    if (!micap_entity_map_reserve(world, &replica->twins, count) ||
        (replica->mapped &&
         (!micap_entity_map_reserve(world, &replica->remotes, count) || !micap_entities_reserve(world, count))))
        return refuse_memory(work);
    for (uint32_t i = 0; i < count; ++i) {
        micap_delta_change *change = &work->changes[i];
        if (!replica->mapped && !micap_entities_reserve_at(world, change->sender.index))
            return refuse_memory(work);
        change->local = replica->mapped ? micap_entity_take(world) : change->sender;
        work->handles_taken = i + 1;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const micap_delta_change *change = &work->changes[i];
        micap_twin twin = {
            .key = change->sender, .other = change->local, .table = change->table, .mark = replica->mark};
        micap_entity_map_add(&replica->twins, &twin);
        if (replica->mapped)
            micap_entity_map_add(&replica->remotes, &(micap_twin){.key = change->local, .other = change->sender});
    }
    work->twins_added = count;
    return MICA_OK;
}

/* The rows of a table by the handles of this world. */
static mica_result lay_locals(micap_delta_work *work, micap_delta_table *table)
{
    const mica_replica *replica = work->replica;
    const micap_replica_table *before = &replica->tables[table->location];
    if (!replica->mapped || !table->is_moved)
        return MICA_OK;
    if (!MICAP_RESERVE(&work->world->memory, table->locals, &table->local_capacity, table->row_count))
        return refuse_memory(work);
    for (uint32_t row = 0; row < table->row_count; ++row)
        table->locals[row] = is_other(table, before, row)
                                 ? micap_entity_map_find(&replica->twins, table->rows[row])->other
                                 : before->locals[row];
    return MICA_OK;
}

/* No entity twice, unless the pool is for many instances; rows of the dead don't matter. */
static mica_result check_owners(micap_delta_work *work, const micap_delta_table *pool)
{
    mica_replica *replica = work->replica;
    ++replica->mark;
    for (uint32_t i = 0; i < pool->row_count; ++i) {
        micap_twin *twin = micap_entity_map_find(&replica->twins, pool->rows[i]);
        if (twin && twin->mark == replica->mark && !pool->type->type.many)
            return refuse(work, MICA_ERROR_DATA, "an entity is twice in a pool", pool->rows[i]);
        if (twin)
            twin->mark = replica->mark;
        if (!mica_is_nil(pool->rows[i]) && !is_handle(work, pool->rows[i]))
            return refuse(work, MICA_ERROR_DATA, "there is no such handle", pool->rows[i]);
    }
    return MICA_OK;
}

/* A pool whose rows are the indices of their owners. */
static mica_result plan_direct_pool(micap_delta_work *work, micap_delta_table *pool)
{
    mica_pool *here = micap_pool_of(work->world, pool->type->id);
    uint64_t count = 0;
    pool->is_moved = pool->row_count != work->replica->pools[pool->location].row_count;
    for (uint32_t pass = 0; pass < 2; ++pass)
        for (uint32_t i = 0; i < pool->slice_count; ++i) {
            const micap_delta_slice *slice = &work->slices[pool->slice + i];
            for (uint32_t at = 0; slice->owners && at < slice->row_count; ++at) {
                mica_entity owner = micap_handle_at(slice->owners, at);
                if (mica_is_nil(owner))
                    continue;
                if (owner.index != slice->row + at || !is_handle(work, owner))
                    return refuse(work, MICA_ERROR_DATA, "an entity is in the wrong row of a pool", owner);
                const micap_twin *twin = micap_entity_map_find(&work->replica->twins, owner);
                count += pass == 0;
                if (pass == 1 && twin && !micap_pools_make_room(work->world, here, twin->other, count))
                    return refuse_memory(work);
            }
        }
    return micap_rules_want(work, pool->type, count) ? MICA_OK : refuse_memory(work);
}

static mica_result plan_pool(micap_delta_work *work, micap_delta_table *pool)
{
    const micap_replica_table *before = &work->replica->pools[pool->location];
    if (before->is_direct && !pool->is_direct)
        return micap_fail(work->world, MICA_ERROR_DATA, (mica_location){0},
                          "delta: the pool of %s has another index than in earlier deltas", pool->type->type.name);
    if (pool->is_direct)
        return plan_direct_pool(work, pool);
    mica_result result = lay_rows(work, pool, before);
    if (result == MICA_OK && pool->is_moved)
        result = check_owners(work, pool);
    if (result == MICA_OK && pool->type->type.many)
        return micap_instances_plan(work, pool);
    if (result != MICA_OK || !pool->is_moved)
        return result;
    mica_pool *here = micap_pool_of(work->world, pool->type->id);
    uint64_t count = 0;
    for (uint32_t i = 0; i < pool->row_count; ++i) {
        const micap_twin *twin = micap_entity_map_find(&work->replica->twins, pool->rows[i]);
        count += twin && (micap_pool_row(here, twin->other) == MICAP_ROW_NONE || /* or it is of a dead one, and goes */
                          !micap_is_row(micap_locate(work->world, twin->other)));
    }
    for (uint32_t i = 0; i < pool->row_count; ++i) {
        const micap_twin *twin = micap_entity_map_find(&work->replica->twins, pool->rows[i]);
        if (twin && !micap_pools_make_room(work->world, here, twin->other, count))
            return refuse_memory(work);
    }
    return micap_rules_want(work, pool->type, count) ? MICA_OK : refuse_memory(work);
}

static mica_result plan_tags(micap_delta_work *work, const micap_delta_tags *tags)
{
    mica_pool *pool = micap_pool_of(work->world, tags->type->id);
    const mica_replica *replica = work->replica;
    for (uint32_t i = 0; i < replica->twins.capacity; ++i) {
        const micap_twin *twin = &replica->twins.entries[i];
        if (!mica_is_nil(twin->key) && twin->key.index / 64 < tags->word_count &&
            !micap_pools_make_room(work->world, pool, twin->other, 1))
            return refuse_memory(work);
    }
    return MICA_OK;
}

static mica_result plan_singletons(micap_delta_work *work)
{
    mica_replica *replica = work->replica;
    mica_world *world = work->world;
    if (!MICAP_RESERVE(&world->memory, replica->singletons, &replica->singletons_capacity,
                       (uint64_t)replica->singletons_count + work->singletons_count))
        return refuse_memory(work);
    for (uint32_t i = 0; i < work->singletons_count; ++i)
        if (!micap_singleton_prepare(world, work->singletons[i].type->id))
            return micap_failure(world);
    return MICA_OK;
}

/* A record of the state that the replica has; NULL if there is none. */
static const char *find_record(const mica_replica *replica, uint32_t kind, uint32_t *out_byte_count)
{
    const char *data = replica->state.data;
    if (!data)
        return NULL;
    micap_reader reader = {data, data, data + replica->state.count, false};
    const char *content = NULL;
    while (!content && micap_reader_left(&reader)) {
        uint32_t found = micap_reader_take32(&reader);
        *out_byte_count = micap_reader_take32(&reader);
        const char *record = micap_reader_take(&reader, *out_byte_count);
        content = found == kind ? record : NULL;
    }
    return content;
}

/* The state as it will be: records that were sent, and others as they are. */
static mica_result plan_state(micap_delta_work *work)
{
    work->state.memory = &work->world->memory;
    for (uint32_t i = 0; i < work->records_count; ++i) {
        micap_delta_record record = work->records[i];
        if (!record.bytes)
            record.bytes = find_record(work->replica, record.kind, &record.byte_count);
        if (!record.bytes)
            return micap_fail(work->world, MICA_ERROR_DATA, (mica_location){0},
                              "delta: record %u of the state is missing", record.kind);
        micap_bytes_put32(&work->state, record.kind);
        micap_bytes_put32(&work->state, record.byte_count);
        micap_bytes_put(&work->state, record.bytes, record.byte_count);
    }
    return work->state.failed ? refuse_memory(work) : MICA_OK;
}

mica_result micap_replica_plan(micap_delta_work *work)
{
    if (!mention_all(work) || !place_tables(work))
        return refuse_memory(work);
    mica_result result = plan_state(work);
    if (result == MICA_OK)
        result = find_changes(work);
    if (result == MICA_OK)
        result = find_destinations(work);
    if (result == MICA_OK)
        result = take_handles(work);
    for (uint32_t i = 0; result == MICA_OK && i < work->tables_count; ++i)
        result = lay_locals(work, &work->tables[i]);
    for (uint32_t i = 0; result == MICA_OK && i < work->pools_count; ++i)
        result = plan_pool(work, &work->pools[i]);
    for (uint32_t i = 0; result == MICA_OK && i < work->tags_count; ++i)
        result = plan_tags(work, &work->tags[i]);
    if (result == MICA_OK)
        result = plan_singletons(work);
    if (result == MICA_OK)
        result = micap_replica_check_rivals(work);
    return result == MICA_OK ? micap_rules_plan(work) : result;
}

void micap_replica_give_up(micap_delta_work *work)
{
    for (uint32_t i = 0; i < work->twins_added; ++i) {
        micap_entity_map_erase(&work->replica->twins, work->changes[i].sender);
        if (work->replica->mapped)
            micap_entity_map_erase(&work->replica->remotes, work->changes[i].local);
    }
    for (uint32_t i = work->handles_taken; work->replica->mapped && i-- > 0;)
        micap_entity_give_unused(&work->world->entities, work->changes[i].local);
    for (uint32_t i = 0; i < work->changes_count; ++i)
        if (work->changes[i].to)
            work->changes[i].to->incoming = 0;
}
