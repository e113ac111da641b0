/* Applies what was planned. Nothing here can fail. */
#include "replication/replica_apply.h"

#include "core/events/hooks.h"
#include "core/entity/create_rows.h"
#include "core/entity/destroy.h"
#include "core/entity/pool_component.h"
#include "core/storage/rows.h"
#include "core/storage/chunk_write.h"
#include "core/storage/pool_lookup.h"
#include "pool/pool_edges.h"
#include "pool/pool_rows.h"
#include "pool/pool_undo.h"
#include "core/storage/singleton.h"
#include "core/world/world_hash.h"
#include "mica/entity.h"
#include "mica/singleton.h"
#include "replication/delta_fields.h"
#include "replication/replica_instances.h"
#include "replication/replica_rules.h"
#include "type/value_bytes.h"

static void destroy_dead(micap_delta_work *work)
{
    for (uint32_t i = 0; i < work->deaths_count; ++i) {
        mica_entity local = micap_replica_living(work->replica, work->deaths[i]);
        /* Without its dependents: the sender has decided which of them are destroyed. */
        if (!mica_is_nil(local))
            micap_destroy_row_with_hooks(work->world, micap_locate(work->world, local));
        const micap_twin *twin = micap_entity_map_find(&work->replica->twins, work->deaths[i]);
        if (work->replica->mapped)
            micap_entity_map_erase(&work->replica->remotes, twin->other);
        micap_entity_map_erase(&work->replica->twins, work->deaths[i]);
    }
}

/* A handle that died here may become valid again: rows it left in pools must not be its own then. */
static void forget_rows_of(mica_world *world, mica_entity dead)
{
    for (uint32_t i = 0; i < world->pools.count; ++i) {
        mica_pool *pool = world->pools.all[i];
        for (uint32_t row; pool->dead_count && (row = micap_pool_row(pool, dead)) != MICAP_ROW_NONE;)
            micap_pools_remove_dead(world, pool, row);
    }
}

static void claim_handles(micap_delta_work *work)
{
    if (work->replica->mapped)
        return;
    /* One by one, because they are not contiguous; by ascending index, so that each page is visited once. */
    mica_entity some[256];
    for (uint32_t i = 0, count = 0; i <= work->twins_added; ++i) {
        bool is_end = i == work->twins_added || count == sizeof some / sizeof *some;
        if (is_end && count)
            micap_entities_claim(work->world, some, count);
        count = is_end ? 0 : count;
        if (i < work->twins_added) {
            some[count++] = work->changes[i].sender;
            forget_rows_of(work->world, work->changes[i].sender);
        }
    }
}

static bool is_carried(const mica_replica *replica, const mica_pool *pool)
{
    for (uint32_t i = 0; i < replica->pools_count; ++i)
        if (replica->pools[i].key == pool->type->name_hash)
            return true;
    return false;
}

/* Whether a dead entity left rows in pools that the receiver alone knows, and that go with its next flush. */
static bool left_own_rows(const micap_delta_work *work, mica_entity dead)
{
    for (uint32_t i = 0; i < work->world->pools.count; ++i) {
        const mica_pool *pool = work->world->pools.all[i];
        if (pool->type->type.dying == MICA_DYING_AT_FLUSH && !is_carried(work->replica, pool) &&
            micap_pool_row(pool, dead) != MICAP_ROW_NONE)
            return true;
    }
    return false;
}

/* Rows that die at the flush stay until the sender's go, since others would change places with them: the next delta about
 * their pool sweeps them. So they need not wait in the list of this world, which may never be flushed. A handle that has come
 * alive again must not: a flush would take it for dead. */
static void settle_dead(micap_delta_work *work, uint32_t dead_before)
{
    micap_pools *pools = &work->world->pools;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < pools->dead_count; ++i) {
        mica_entity dead = pools->dead[i];
        bool is_waiting = i < dead_before || left_own_rows(work, dead);
        if (is_waiting && !mica_is_alive(work->world, dead))
            pools->dead[kept++] = dead;
    }
    pools->dead_count = kept;
}

static void place_entities(micap_delta_work *work)
{
    mica_world *world = work->world;
    for (uint32_t i = 0; i < work->changes_count; ++i) {
        micap_delta_change *change = &work->changes[i];
        if (!change->is_new) /* also of one that the receiver destroyed */
            micap_entity_map_find(&work->replica->twins, change->sender)->table = change->table;
        if (!change->to)
            continue;
        if (change->is_new) {
            micap_rules_fill(work, NULL, micap_row_create(world, change->to, change->local));
        } else if (change->from != change->to) {
            micap_row spot = micap_locate(world, change->local);
            if (micap_has_hooks(change->from, 1 << MICA_EVENT_REMOVE))
                micap_hooks_removing(world, change->to, spot, 1);
            micap_rules_fill(work, change->from, micap_row_change_archetype(world, spot, change->to));
        }
    }
    for (uint32_t i = 0; i < work->changes_count; ++i)
        if (work->changes[i].to)
            work->changes[i].to->incoming = 0;
    ++world->structure;
}

static micap_row spot_of_row(const micap_archetype *archetype, uint32_t row)
{
    uint32_t chunk = 0;
    while (row >= archetype->chunks[chunk]->count)
        row -= archetype->chunks[chunk++]->count;
    return (micap_row){archetype->chunks[chunk], row};
}

static void move_row(mica_world *world, micap_row from, micap_row to, mica_entity entity)
{
    micap_row_move(from, to);
    micap_row_own(to, entity, micap_record_at(&world->entities, entity.index));
}

static void swap_rows(mica_world *world, micap_row a, micap_row b, micap_row spare)
{
    mica_entity left = micap_chunk_entities(a.chunk)[a.row], right = micap_chunk_entities(b.chunk)[b.row];
    micap_touch_row(world, a.chunk, a.row);
    micap_touch_row(world, b.chunk, b.row);
    micap_row_move(a, spare);
    move_row(world, b, a, right);
    move_row(world, spare, b, left);
}

/* The handles here of a table's rows. */
static const mica_entity *locals_of(const micap_delta_work *work, const micap_delta_table *table)
{
    const micap_replica_table *before = &work->replica->tables[table->location];
    if (table->is_moved)
        return work->replica->mapped ? table->locals : table->rows;
    return work->replica->mapped ? before->locals : before->rows;
}

/* The archetype here that has exactly the rows of the table, put into the sender's order; NULL when there is none, because of
 * components or entities of the receiver's own. */
static micap_archetype *put_in_order(micap_delta_work *work, const micap_delta_table *table)
{
    mica_world *world = work->world;
    const mica_entity *locals = locals_of(work, table);
    micap_row first = micap_locate(world, table->row_count ? locals[0] : mica_nil());
    micap_archetype *archetype = first.chunk->archetype;
    if (!micap_is_row(first) || archetype->row_count != table->row_count || !micap_rows_reserve_one(world, archetype))
        return NULL;
    for (uint32_t i = 0, row = 0; row < table->row_count; ++i) {
        micap_chunk *chunk = archetype->chunks[i];
        for (uint32_t at = 0; at < chunk->count; ++at, ++row) {
            if (mica_same(micap_chunk_entities(chunk)[at], locals[row]))
                continue;
            micap_row from = micap_locate(world, locals[row]);
            if (from.chunk->archetype != archetype)
                return NULL;
            swap_rows(world, (micap_row){chunk, at}, from, micap_rows_next(archetype));
        }
    }
    return archetype;
}

/* Whether the rows of a slice lie here as they do there. */
static bool is_in_step(const micap_archetype *archetype, const micap_delta_slice *slice, const mica_entity *locals)
{
    for (uint32_t done = 0; archetype && done < slice->row_count;) {
        if (slice->row + slice->row_count > archetype->row_count)
            return false;
        micap_row spot = spot_of_row(archetype, slice->row + done);
        uint32_t left = slice->row_count - done, room = spot.chunk->count - spot.row;
        uint32_t count = left < room ? left : room;
        if (memcmp(micap_chunk_entities(spot.chunk) + spot.row, locals + slice->row + done,
                   count * sizeof(mica_entity)) != 0)
            return false;
        done += count;
    }
    return archetype != NULL;
}

static bool translate_content(void *at, void *context)
{
    mica_entity entity = micap_replica_living(context, micap_handle_at(at, 0));
    memcpy(at, &entity, sizeof entity);
    return true;
}

/* Text and lists are moved: the delta has them no more, and no other value shares the lists. */
static void move_value(const mica_replica *replica, const mica_type *type, char *to, char *from)
{
    micap_contents_clear(type, to, 1);
    micap_delta_copy_fields(type, to, from);
    micap_contents_omit(type, from);
    if (!replica->mapped)
        return;
    micap_delta_visit_entities(type, to, translate_content, (mica_replica *)replica);
    micap_contents_visit(type, to, MICA_KIND_ENTITY, false, translate_content, (mica_replica *)replica);
}

/* Fields over values that are there, or over rows that are raw: those were zeroed. */
static void write_values(const micap_delta_work *work, const micap_type *type, char *to, const char *from,
                         uint32_t count)
{
    const mica_replica *replica = work->replica;
    size_t size = type->type.size_bytes;
    if (micap_delta_rule_of(&replica->rules, type)) {
        for (uint32_t i = 0; i < count; ++i)
            micap_rules_write(work, type, to + i * size, (char *)from + i * size);
        return;
    }
    for (uint32_t i = 0; type->owns && i < count; ++i)
        move_value(replica, &type->type, to + i * size, (char *)from + i * size);
    if (type->owns)
        return;
    if (!type->has_padding || type->companion == MICAP_COMPANION_ENABLED)
        memcpy(to, from, size * count);
    else
        for (uint32_t i = 0; i < count; ++i)
            micap_delta_copy_fields(&type->type, to + i * size, from + i * size);
    if (!replica->mapped || !micap_delta_has_kind(&type->type, MICA_KIND_ENTITY))
        return;
    for (uint32_t i = 0; i < count; ++i)
        micap_delta_visit_entities(&type->type, to + i * size, translate_content, (mica_replica *)replica);
}

/* Writes which rows are enabled, and calls the hooks of those that change. False if there are no such hooks: they are written as any
 * column. */
static bool write_toggles(mica_world *world, micap_row spot, uint32_t column, const micap_type *type, const char *from,
                          uint32_t count)
{
    const micap_archetype *archetype = spot.chunk->archetype;
    if (type->companion != MICAP_COMPANION_ENABLED ||
        !micap_has_hooks(archetype, 1 << MICA_EVENT_ENABLE | 1 << MICA_EVENT_DISABLE))
        return false;
    uint32_t at = 0;
    while (micap_type_of(archetype->components[at])->enabled != type->id)
        ++at;
    const micap_component *used = micap_component_of(&world->components, archetype->components[at]);
    for (uint32_t i = 0; i < count; ++i, ++spot.row) {
        uint8_t *byte = micap_chunk_value(spot.chunk, column, spot.row), wanted = (uint8_t)from[i];
        mica_event_kind kind = wanted ? MICA_EVENT_ENABLE : MICA_EVENT_DISABLE;
        if (*byte == wanted)
            continue;
        *byte = wanted;
        if (micap_is_awaited(used, kind))
            micap_hooks_run(world, kind, used->type->id, spot, 1);
    }
    return true;
}

static uint64_t hash_value(const micap_type *type, const char *value)
{
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hash_values(&hasher, type, value, 1);
    return micap_hasher_finish(&hasher);
}

/* Values of a tracked component: a delta has whole slices, and only rows whose value differs count as written. */
static void write_tracked(micap_delta_work *work, micap_row spot, uint32_t column, const micap_type *type,
                          const char *from, uint32_t count)
{
    mica_version version = micap_version(work->world);
    micap_touch_unmarked(work->world, spot.chunk, column, spot.row, count, version);
    for (uint32_t i = 0; i < count; ++i, ++spot.row, from += type->type.size_bytes) {
        char *value = micap_chunk_value(spot.chunk, column, spot.row);
        uint64_t before = hash_value(type, value);
        write_values(work, type, value, from, 1);
        if (hash_value(type, value) != before)
            micap_mark_rows(work->world, spot.chunk, spot.chunk->archetype->columns[column].changed, spot.row, 1,
                            version);
    }
}

/* A column of a slice, into rows that lie as the sender's do. */
static void write_column(micap_delta_work *work, const micap_archetype *archetype, const micap_delta_slice *slice,
                         const micap_type *type, const char *values)
{
    uint32_t column = micap_archetype_column(archetype, type->id);
    if (column >= MICAP_COLUMN_TAG)
        return;
    for (uint32_t done = 0; done < slice->row_count;) {
        micap_row spot = spot_of_row(archetype, slice->row + done);
        uint32_t left = slice->row_count - done, room = spot.chunk->count - spot.row;
        uint32_t count = left < room ? left : room;
        const char *from = values + (size_t)done * type->type.size_bytes;
        if (archetype->columns[column].changed != MICAP_COLUMN_NONE) {
            write_tracked(work, spot, column, type, from, count);
        } else {
            micap_touch_column(work->world, spot.chunk, column, spot.row, count, micap_version(work->world));
            if (!write_toggles(work->world, spot, column, type, from, count))
                write_values(work, type, micap_chunk_value(spot.chunk, column, spot.row), from, count);
        }
        done += count;
    }
}

/* The same, wherever each entity is. */
static void write_scattered(micap_delta_work *work, const mica_entity *locals, const micap_delta_slice *slice,
                            const micap_type *type, const char *values)
{
    for (uint32_t i = 0; i < slice->row_count; ++i) {
        micap_row spot = micap_locate(work->world, locals[slice->row + i]);
        uint32_t column =
            micap_is_row(spot) ? micap_archetype_column(spot.chunk->archetype, type->id) : MICAP_COLUMN_NONE;
        if (column >= MICAP_COLUMN_TAG)
            continue;
        const char *from = values + (size_t)i * type->type.size_bytes;
        if (spot.chunk->archetype->columns[column].changed != MICAP_COLUMN_NONE) {
            write_tracked(work, spot, column, type, from, 1);
            continue;
        }
        micap_touch_value(work->world, spot.chunk, column, spot.row);
        if (!write_toggles(work->world, spot, column, type, from, 1))
            write_values(work, type, micap_chunk_value(spot.chunk, column, spot.row), from, 1);
    }
}

static void write_table(micap_delta_work *work, const micap_delta_table *table)
{
    micap_replica_table *known = &work->replica->tables[table->location];
    const mica_entity *locals = locals_of(work, table);
    const micap_archetypes *archetypes = &work->world->archetypes;
    bool is_ordered = known->ordered_at == work->world->structure;
    if (table->is_moved) {
        const micap_archetype *ordered = put_in_order(work, table);
        known->archetype = ordered ? ordered->id : UINT32_MAX;
        is_ordered = ordered;
    }
    known->ordered_at = is_ordered ? work->world->structure : 0;
    /* Going back to a snapshot forgets archetypes: is_in_step sees whether this one is still it. */
    const micap_archetype *archetype =
        known->archetype < archetypes->count ? archetypes->by_id[known->archetype] : NULL;
    for (uint32_t i = 0; i < table->slice_count; ++i) {
        const micap_delta_slice *slice = &work->slices[table->slice + i];
        const char *values = slice->values;
        const micap_delta_contents *contents = work->contents ? work->contents + slice->contents : NULL;
        bool in_step = is_ordered || is_in_step(archetype, slice, locals);
        for (uint32_t j = 0; j < slice->column_count; ++j) {
            uint32_t number;
            memcpy(&number, slice->columns + (size_t)j * 4, 4);
            const micap_type *type = work->columns[table->column + micap_little32(number)];
            const mica_resource_rule *rule = micap_delta_rule_of(&work->replica->rules, type);
            bool is_made = type->owns || rule;
            MICAP_ASSERT(contents || !is_made, "what is not read from the slice itself was made with it");
            const char *from = rule ? contents->made : is_made ? contents->values : values;
            if (in_step)
                write_column(work, archetype, slice, type, from);
            else
                write_scattered(work, locals, slice, type, from);
            values = is_made ? contents++->end : values + (size_t)slice->row_count * type->type.size_bytes;
        }
    }
}

/* Fields that are not described are zero in a new row, and text and lists are empty. */
static void clear_new(micap_delta_work *work)
{
    for (uint32_t i = 0; i < work->changes_count; ++i) {
        const micap_delta_change *change = &work->changes[i];
        if (!change->to)
            continue;
        micap_row spot = micap_locate(work->world, change->local);
        for (uint32_t j = 0; j < change->to->column_count; ++j) {
            const micap_column *column = &change->to->columns[j];
            if (column->companion || micap_delta_has_functions(column->type) ||
                (!column->type->has_padding && !column->type->owns) ||
                (change->from && micap_archetype_has(change->from, column->component)))
                continue;
            memset(micap_chunk_value(spot.chunk, j, spot.row), 0, column->bytes);
        }
    }
}

/* The replica keeps the new rows, and the work goes with the old ones. */
static void exchange_rows(micap_delta_table *table, micap_replica_table *known)
{
    if (!table->is_moved)
        return;
    micap_replica_table before = *known;
    known->rows = table->rows;
    known->row_capacity = table->capacity;
    known->locals = table->locals;
    known->local_capacity = table->local_capacity;
    known->row_count = table->row_count;
    table->rows = before.rows;
    table->capacity = before.row_capacity;
    table->locals = before.locals;
    table->local_capacity = before.local_capacity;
    known->next = table->next;
    known->next_capacity = table->next_capacity;
    table->next = before.next;
    table->next_capacity = before.next_capacity;
}

/* Tells the twins where they are. */
static void note_rows(micap_delta_work *work, const micap_delta_table *table)
{
    for (uint32_t i = 0; i < table->slice_count; ++i) {
        const micap_delta_slice *slice = &work->slices[table->slice + i];
        for (uint32_t row = slice->row; slice->owners && row < slice->row + slice->row_count; ++row)
            micap_entity_map_find(&work->replica->twins, table->rows[row])->row = row;
    }
}

static void call_added(micap_delta_work *work)
{
    for (uint32_t i = 0; i < work->changes_count; ++i) {
        const micap_delta_change *change = &work->changes[i];
        if (change->to && change->to != change->from && micap_has_hooks(change->to, 1 << MICA_EVENT_ADD))
            micap_hooks_added(work->world, change->from, micap_locate(work->world, change->local), 1);
    }
}

static bool brings_singleton(const micap_delta_work *work, mica_component component)
{
    for (uint32_t i = 0; i < work->singletons_count; ++i)
        if (work->singletons[i].type->id == component)
            return true;
    return false;
}

static void remember_singleton(mica_replica *replica, mica_component component)
{
    for (uint32_t i = 0; i < replica->singletons_count; ++i)
        if (replica->singletons[i] == component)
            return;
    replica->singletons[replica->singletons_count++] = component;
}

static void forget_singleton(micap_delta_work *work, mica_component id)
{
    micap_component *component = micap_component_of(&work->world->components, id);
    if (micap_delta_has_functions(component->type)) {
        micap_values_destruct(component->type, component->singleton, 1);
        micap_values_move(component->type, component->singleton, micap_rules_default(work, component->type), 1);
        component->is_unborn = true;
    } else {
        micap_singleton_forget(work->world, id);
    }
}

/* A delta from nothing: those of the sender that it does not mention are not used there any more, since it went back. */
static void forget_singletons(micap_delta_work *work)
{
    mica_replica *replica = work->replica;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < replica->singletons_count; ++i)
        if (brings_singleton(work, replica->singletons[i]))
            replica->singletons[kept++] = replica->singletons[i];
        else
            forget_singleton(work, replica->singletons[i]);
    replica->singletons_count = kept;
}

static void write_singletons(micap_delta_work *work)
{
    if (!work->base)
        forget_singletons(work);
    for (uint32_t i = 0; i < work->singletons_count; ++i) {
        const micap_delta_value *singleton = &work->singletons[i];
        void *value = mica_singleton_write_id(work->world, singleton->type->id);
        remember_singleton(work->replica, singleton->type->id);
        write_values(work, singleton->type, value, singleton->value, 1);
    }
}

static void add_to_pool(micap_delta_work *work, mica_pool *pool, mica_entity entity)
{
    if (micap_pool_row(pool, entity) == MICAP_ROW_NONE)
        micap_instances_add(work, pool, entity);
}

/* Removes the entities that left a pool and adds those that are new. */
static void fill_pool(micap_delta_work *work, const micap_delta_table *table, mica_pool *pool)
{
    mica_world *world = work->world;
    mica_replica *replica = work->replica;
    const micap_replica_table *before = &replica->pools[table->location];
    micap_pools_sweep(world, pool);
    ++replica->mark;
    for (uint32_t i = 0; i < table->row_count; ++i) {
        micap_twin *twin = micap_entity_map_find(&replica->twins, table->rows[i]);
        if (twin)
            twin->mark = replica->mark;
    }
    for (uint32_t i = 0; i < before->row_count; ++i) {
        const micap_twin *twin = micap_entity_map_find(&replica->twins, before->rows[i]);
        if (twin && twin->mark != replica->mark && mica_is_alive(world, twin->other))
            micap_pools_remove(world, pool, twin->other);
    }
    for (uint32_t i = 0; i < table->row_count; ++i) {
        mica_entity local = micap_replica_living(replica, table->rows[i]);
        if (!mica_is_nil(local))
            add_to_pool(work, pool, local);
    }
}

/* After fill_pool: all that live are in it. */
static void order_pool(micap_delta_work *work, const micap_delta_table *table, mica_pool *pool)
{
    if (pool->kind == MICAP_POOL_DIRECT || pool->group)
        return;
    uint32_t living = 0, row = 0;
    for (uint32_t i = 0; i < table->row_count; ++i)
        living += !mica_is_nil(micap_replica_living(work->replica, table->rows[i]));
    if (living != pool->row_limit)
        return; /* the receiver has rows of its own */
    for (uint32_t i = 0; i < table->row_count; ++i) {
        mica_entity local = micap_replica_living(work->replica, table->rows[i]);
        if (mica_is_nil(local))
            continue;
        micap_pool_swap_rows(pool, row++, micap_pool_row(pool, local), micap_version(work->world));
    }
}

static uint64_t hash_pool_row(const mica_pool *pool, uint32_t row)
{
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hash_pool_value(&hasher, pool, row);
    return micap_hasher_finish(&hasher);
}

static void write_pool_row(micap_delta_work *work, mica_pool *pool, uint32_t row, const char *value)
{
    const micap_type *type = pool->type;
    uint64_t before = pool->changed ? hash_pool_row(pool, row) : 0;
    micap_pool_preserve(pool, row, 1);
    if (!type->leaves) {
        write_values(work, type, micap_pool_value(pool, row), value, 1);
    } else {
        /* One leaf at a time: a split value is not contiguous. */
        for (uint32_t i = 0; i < type->leaf_count; ++i) {
            const micap_leaf *leaf = &type->leaves[i];
            char *to = pool->lanes[1 + i].data + (size_t)row * leaf->bytes;
            memcpy(to, value + leaf->offset, leaf->bytes);
            for (uint32_t at = 0; work->replica->mapped && leaf->kind == MICA_KIND_ENTITY && at < leaf->bytes;
                 at += leaf->element_bytes) {
                mica_entity entity = micap_replica_living(work->replica, micap_handle_at(to + at, 0));
                memcpy(to + at, &entity, sizeof entity);
            }
        }
    }
    micap_pool_touch_unmarked(pool, MICAP_ALL_COLUMNS, row, 1, micap_version(work->world));
    if (pool->changed && hash_pool_row(pool, row) != before)
        micap_pool_mark(pool, row, 1, micap_version(work->world));
}

static uint32_t row_here(const mica_pool *pool, mica_entity local)
{
    return mica_is_nil(local) ? MICAP_ROW_NONE : micap_pool_row(pool, local);
}

/* A toggle is of all instances of an entity: that of the first counts. */
static void write_toggle(mica_world *world, mica_pool *pool, uint32_t row, bool is_on)
{
    if (pool->next && !micap_pool_is_first(pool, row))
        return;
    bool is_changed = pool->enabled[row] != is_on;
    for (uint32_t at = row; at != MICAP_ROW_NONE; at = pool->next ? pool->next[at] : MICAP_ROW_NONE) {
        micap_pool_preserve(pool, at, 1);
        pool->enabled[at] = is_on;
    }
    mica_event_kind kind = is_on ? MICA_EVENT_ENABLE : MICA_EVENT_DISABLE;
    if (is_changed && pool->hook_mask & 1 << kind)
        micap_pools_run_hook(world, kind, pool, row, 1);
}

/* A row of a slice, into a row here. */
static void write_pool_slice(micap_delta_work *work, mica_pool *pool, const micap_delta_slice *slice, uint32_t at,
                             uint32_t row)
{
    if (row == MICAP_ROW_NONE)
        return;
    if (slice->values)
        write_pool_row(work, pool, row, slice->values + (size_t)at * pool->value_bytes);
    if (slice->toggles)
        write_toggle(work->world, pool, row, slice->toggles[at]);
}

static void write_pool(micap_delta_work *work, const micap_delta_table *table)
{
    mica_pool *pool = micap_pool_of(work->world, table->type->id);
    MICAP_ASSERT(pool, "the plan made it");
    const mica_entity *rows = table->is_moved ? table->rows : work->replica->pools[table->location].rows;
    if (pool->next) {
        micap_instances_arrange(work, table);
    } else if (table->is_moved) {
        fill_pool(work, table, pool);
        order_pool(work, table, pool);
    }
    for (uint32_t i = 0; i < table->slice_count; ++i) {
        const micap_delta_slice *slice = &work->slices[table->slice + i];
        for (uint32_t at = 0; at < slice->row_count; ++at) {
            uint32_t row = slice->row + at;
            row = pool->next ? table->places[row] : row_here(pool, micap_replica_living(work->replica, rows[row]));
            write_pool_slice(work, pool, slice, at, row);
        }
    }
}

/* A pool whose rows are the indices of their owners: each row names its entity. */
static void write_direct_pool(micap_delta_work *work, const micap_delta_table *table)
{
    mica_replica *replica = work->replica;
    mica_pool *pool = micap_pool_of(work->world, table->type->id);
    MICAP_ASSERT(pool, "the plan made it");
    micap_pools_sweep(work->world, pool);
    for (uint32_t i = 0; table->is_moved && i < replica->twins.capacity; ++i) {
        const micap_twin *twin = &replica->twins.entries[i];
        if (!mica_is_nil(twin->key) && twin->key.index >= table->row_count && mica_is_alive(work->world, twin->other))
            micap_pools_remove(work->world, pool, twin->other);
    }
    for (uint32_t i = 0; i < table->slice_count; ++i) {
        const micap_delta_slice *slice = &work->slices[table->slice + i];
        for (uint32_t at = 0; at < slice->row_count; ++at) {
            const micap_twin *twin = micap_entity_map_at(&replica->twins, slice->row + at);
            mica_entity local = twin ? micap_replica_living(replica, twin->key) : mica_nil();
            if (mica_is_nil(local))
                continue;
            bool is_wanted = slice->owners && mica_same(micap_handle_at(slice->owners, at), twin->key);
            if (is_wanted)
                add_to_pool(work, pool, local);
            else if (slice->owners)
                micap_pools_remove(work->world, pool, local);
            write_pool_slice(work, pool, slice, at, row_here(pool, local));
        }
    }
    replica->pools[table->location].row_count = table->row_count;
    replica->pools[table->location].is_direct = true;
}

static void write_tags(micap_delta_work *work, const micap_delta_tags *tags)
{
    mica_world *world = work->world;
    const mica_replica *replica = work->replica;
    mica_pool *pool = micap_pool_of(world, tags->type->id);
    for (uint32_t i = 0; i < replica->twins.capacity; ++i) {
        const micap_twin *twin = &replica->twins.entries[i];
        if (mica_is_nil(twin->key) || !micap_is_row(micap_locate(world, twin->other)))
            continue;
        uint32_t index = twin->key.index;
        uint64_t word = 0;
        if (index / 64 < tags->word_count)
            memcpy(&word, tags->words + (size_t)(index / 64) * 8, 8);
        bool wanted = micap_little64(word) >> index % 64 & 1;
        bool is_there = micap_pool_row(pool, twin->other) != MICAP_ROW_NONE;
        if (is_there && !wanted) {
            micap_pools_remove(world, pool, twin->other);
        } else if (wanted && !is_there) {
            uint32_t row = micap_pools_commit(world, pool, twin->other);
            if (pool->hook_mask & 1 << MICA_EVENT_ADD)
                micap_pools_run_hook(world, MICA_EVENT_ADD, pool, row, 1);
        }
    }
}

/* Edges that the delta brings are linked when their values are there. Until then nothing happens to edges of entities that it destroys:
 * what the sender did about them is in the delta too. Nor can relations of the receiver keep these entities alive. */
static void await_edges(const micap_delta_work *work)
{
    const micap_pools *pools = &work->world->pools;
    for (uint32_t i = 0; i < work->pools_count; ++i) {
        const mica_pool *pool = micap_pool_of(work->world, work->pools[i].type->id);
        MICAP_ASSERT(pool, "the tables of a delta have pools");
        if (pool->edges)
            pool->edges->waits = true;
    }
    for (uint32_t i = 0; i < pools->count; ++i)
        if (pools->all[i]->edges && pools->all[i]->type->type.on_target == MICA_TARGET_REFUSE)
            pools->all[i]->edges->waits = true;
}

/* Runs the hooks of edges that the delta added: their values are there. */
static void show_new_edges(const micap_delta_work *work)
{
    for (uint32_t i = 0; i < work->pools_count; ++i) {
        mica_pool *pool = micap_pool_of(work->world, work->pools[i].type->id);
        if (!pool->edges || !(pool->hook_mask & 1 << MICA_EVENT_ADD))
            continue;
        for (uint32_t row = 0; row < pool->row_limit; ++row)
            if (pool->links[row].target_count == MICAP_EDGE_UNSEEN)
                micap_pools_run_hook(work->world, MICA_EVENT_ADD, pool, row, 1);
    }
}

/* Creates, moves and destroys entities. */
static void change_entities(micap_delta_work *work)
{
    const mica_replica *replica = work->replica;
    uint32_t dead_before = work->world->pools.dead_count;
    uint64_t structure = work->world->structure;
    destroy_dead(work);
    claim_handles(work);
    place_entities(work);
    settle_dead(work, dead_before);
    clear_new(work);
    if (work->changes_count || work->world->structure != structure + 1)
        return;
    for (uint32_t i = 0; i < replica->tables_count; ++i) /* also of those that the delta does not mention */
        if (replica->tables[i].ordered_at == structure)
            replica->tables[i].ordered_at = work->world->structure;
}

void micap_replica_apply(micap_delta_work *work)
{
    mica_replica *replica = work->replica;
    await_edges(work);
    change_entities(work);
    for (uint32_t i = 0; i < work->tables_count; ++i) {
        write_table(work, &work->tables[i]);
        note_rows(work, &work->tables[i]);
    }
    for (uint32_t i = 0; i < work->pools_count; ++i) {
        micap_delta_table *pool = &work->pools[i];
        if (pool->is_direct) {
            write_direct_pool(work, pool);
        } else {
            write_pool(work, pool);
            exchange_rows(pool, &replica->pools[pool->location]);
        }
    }
    for (uint32_t i = 0; i < work->tables_count; ++i)
        exchange_rows(&work->tables[i], &replica->tables[work->tables[i].location]);
    for (uint32_t i = 0; i < work->tags_count; ++i)
        write_tags(work, &work->tags[i]);
    write_singletons(work);
    show_new_edges(work);
    micap_pools_relink(work->world);
    call_added(work);
}
