/* Writes deltas. Chunks and pools have stamps, by slice and column. What has none (how many rows an archetype has, toggles and
 * tags in pools, order of instances, singletons, names, links) is hashed, and the sender remembers since when the hash is what it is. */
#include "base/argument.h"
#include "base/assert.h"
#include "base/hash.h"
#include "core/storage/rows.h"
#include "core/world/callback.h"
#include "core/world/report.h"
#include "core/world/world_hash.h"
#include "pool/pool_rows.h"
#include "mica/entity.h"
#include "mica/hierarchy.h"
#include "mica/state.h"
#include "replication/delta_checksum.h"
#include "replication/delta_fields.h"
#include "replication/delta_format.h"
#include "replication/delta_rules.h"
#include "replication/delta_track.h"
#include "type/value_bytes.h"

struct mica_sender {
    mica_world *world;
    mica_component *excluded;
    uint32_t excluded_count;
    uint32_t excluded_capacity;
    micap_delta_rules rules;
    bool skips_without_rule;
    bool has_state;
    bool is_encoding;       /* functions of the program can't destroy it */
    mica_version stateless; /* of the last delta that had no state, although it should; 0: none */
    bool is_foreign;        /* values are in the other byte order than those of this machine */
    char *instance;         /* room for a recipe */
    size_t instance_bytes;
    uint32_t instance_alignment;
    micap_bytes contents;      /* of the recipes of a slice */
    const micap_type *unknown; /* a component that has functions and no rule */
    const micap_type *refused; /* a component whose save function returned false */
    micap_delta_tracks tracks;
    micap_bytes bytes;
    mica_delta delta; /* the one that is being encoded */
};

/* Whether a part of the world, which now has this hash, has changed since the base of the delta. */
static bool has_changed(mica_sender *sender, uint64_t key, uint64_t hash)
{
    mica_version since = micap_delta_tracks_note(&sender->tracks, key, hash, sender->delta.version);
    sender->bytes.failed |= !since;
    return since > sender->delta.base;
}

/* Whether a component is not sent. If entities have it, that must be on purpose. */
static bool is_excluded(mica_sender *sender, const micap_type *type, bool is_used)
{
    for (uint32_t i = 0; i < sender->excluded_count; ++i)
        if (sender->excluded[i] == type->id)
            return true;
    if (micap_delta_can_carry(&sender->rules, type))
        return false;
    if (is_used && !sender->skips_without_rule)
        sender->unknown = type;
    return true;
}

static uint64_t key_of(const char *what, uint64_t number)
{
    return micap_hash_mix(micap_hash_text(what) + number);
}

/* Groups and lists are written before their size is known. */
static uint32_t put_later(micap_bytes *bytes)
{
    uint32_t at = bytes->count;
    micap_bytes_put32(bytes, 0);
    return at;
}

static void put_now(micap_bytes *bytes, uint32_t at, uint32_t value)
{
    value = micap_little32(value);
    if (!bytes->failed)
        memcpy(bytes->data + at, &value, sizeof value);
}

static uint32_t begin_group(micap_bytes *bytes, micap_delta_kind kind)
{
    micap_bytes_put32(bytes, kind);
    return put_later(bytes);
}

static void end_group(micap_bytes *bytes, uint32_t at)
{
    put_now(bytes, at, bytes->count - at - 4);
}

static void put_handles(mica_sender *sender, const mica_entity *entities, uint32_t count)
{
    char *room = micap_bytes_grow(&sender->bytes, count * sizeof *entities);
    if (!room)
        return;
    memcpy(room, entities, count * sizeof *entities);
    if (sender->is_foreign)
        micap_delta_swap_handles(room, count);
}

static bool is_copied_whole(const micap_type *type)
{
    return !type->has_padding || type->companion == MICAP_COMPANION_ENABLED;
}

/* Room for values; NULL when memory is short. */
static char *put_room(mica_sender *sender, const micap_type *type, uint32_t count)
{
    size_t bytes = (size_t)type->type.size_bytes * count;
    char *room = micap_bytes_grow(&sender->bytes, bytes);
    sender->delta.value_bytes += room ? bytes : 0;
    return room;
}

static void put_value(const micap_type *type, char *room, const char *value)
{
    memset(room, 0, type->type.size_bytes);
    micap_delta_copy_fields(&type->type, room, value);
    if (type->owns)
        micap_contents_omit(&type->type, room);
}

/* One value by a rule: into room in the delta, and what its text and lists contain into sender->contents. */
static void put_by_rule(mica_sender *sender, const mica_resource_rule *rule, const micap_type *type, uint32_t room_at,
                        const char *value, mica_entity entity)
{
    const mica_type *layout = micap_delta_saved_layout(rule, type);
    char *instance = (char *)value;
    bool has_contents = micap_contents_exist(layout);
    if (rule->save) {
        instance = sender->instance;
        memset(instance, 0, layout->size_bytes);
        if (!rule->save(sender->world, entity, value, instance, rule->context))
            sender->refused = type;
    }
    char *room = sender->bytes.data + room_at;
    micap_delta_copy_fields(layout, room, instance);
    if (has_contents) {
        micap_contents_omit(layout, room);
        micap_contents_put(&sender->contents, layout, instance, NULL, NULL);
        if (rule->save)
            micap_contents_clear(layout, instance, 1);
    }
}

/* Values by a rule; those of the dead are zero. Without owners: of a singleton. */
static void put_values_by_rule(mica_sender *sender, const mica_resource_rule *rule, const micap_type *type,
                               const char *values, const mica_entity *owners, uint32_t count)
{
    const mica_type *layout = micap_delta_saved_layout(rule, type);
    size_t size = layout->size_bytes;
    uint32_t at = sender->bytes.count;
    char *room = micap_bytes_grow(&sender->bytes, size * count);
    if (!room)
        return;
    memset(room, 0, size * count);
    sender->delta.value_bytes += size * count;
    sender->contents.count = 0;
    for (uint32_t i = 0; i < count; ++i)
        if (!owners || mica_is_alive(sender->world, owners[i]))
            put_by_rule(sender, rule, type, at + i * (uint32_t)size, values + i * (size_t)type->type.size_bytes,
                        owners ? owners[i] : mica_nil());
        else
            micap_contents_put_empty(&sender->contents, layout);
    sender->bytes.failed |= sender->contents.failed;
    if (sender->is_foreign)
        micap_delta_swap_values(layout, sender->bytes.data + at, count);
    if (!micap_contents_exist(layout))
        return;
    micap_bytes_put32(&sender->bytes, sender->contents.count);
    micap_bytes_put(&sender->bytes, sender->contents.data, sender->contents.count);
}

static void put_values(mica_sender *sender, const micap_type *type, const char *values, const mica_entity *owners,
                       uint32_t count)
{
    const mica_resource_rule *rule = micap_delta_rule_of(&sender->rules, type);
    if (rule) {
        put_values_by_rule(sender, rule, type, values, owners, count);
        return;
    }
    size_t size = type->type.size_bytes;
    char *room = put_room(sender, type, count);
    if (!room)
        return;
    if (is_copied_whole(type) && !type->owns)
        memcpy(room, values, size * count);
    else
        for (uint32_t i = 0; i < count; ++i)
            put_value(type, room + i * size, values + i * size);
    if (sender->is_foreign)
        micap_delta_swap_values(&type->type, room, count);
    if (!type->owns)
        return;
    uint32_t begin = put_later(&sender->bytes);
    for (uint32_t i = 0; i < count; ++i)
        micap_contents_put(&sender->bytes, &type->type, values + i * size, NULL, NULL);
    end_group(&sender->bytes, begin);
}

/* The columns of an archetype that are sent: components, each followed by its toggle and its leaves. */
typedef struct micap_delta_columns {
    const micap_type **types;
    uint32_t count;
    uint32_t capacity;
    uint64_t key;
} columns;

static bool list_columns(mica_sender *sender, const micap_archetype *archetype, columns *out)
{
    uint64_t sum = 1;
    micap_memory *memory = &sender->world->memory;
    if (!MICAP_RESERVE(memory, out->types, &out->capacity, (uint64_t)archetype->component_count + 1))
        return false;
    out->count = 0;
    for (uint32_t i = 0; i < archetype->component_count; ++i) {
        const micap_type *type = micap_type_of(archetype->components[i]);
        sum += micap_holds_versions(type->companion) ? 0 : micap_hash_mix(type->name_hash);
        if (type->companion || is_excluded(sender, type, archetype->row_count != 0))
            continue;
        out->types[out->count++] = type;
        if (type->enabled)
            out->types[out->count++] = micap_type_of(type->enabled);
        for (uint32_t leaf = 0; leaf < type->leaf_count; ++leaf)
            out->types[out->count++] = micap_type_of(type->leaves[leaf].component);
    }
    out->key = micap_hash_mix(sum);
    return true;
}

/* Whether a value of a column that is sent was written since the base. */
static bool is_written(const mica_sender *sender, const micap_archetype *archetype, const mica_version *stamps,
                       const columns *list)
{
    mica_version newest = 0;
    for (uint32_t i = 0; i <= archetype->column_count; ++i)
        newest = micap_stamp_version(stamps[i]) > newest ? micap_stamp_version(stamps[i]) : newest;
    if (newest <= sender->delta.base)
        return false;
    for (uint32_t i = 0; i < list->count; ++i) {
        uint32_t column = micap_archetype_column(archetype, list->types[i]->id);
        if (column != MICAP_COLUMN_TAG && micap_stamp_version(stamps[1 + column]) > sender->delta.base)
            return true;
    }
    return stamps[0] > sender->delta.base;
}

/* Encodes one slice, if it contains changes. */
static bool put_slice(mica_sender *sender, const micap_chunk *chunk, uint32_t row, uint32_t base_row,
                      const columns *list)
{
    micap_bytes *bytes = &sender->bytes;
    mica_version base = sender->delta.base;
    uint32_t left = chunk->count - row, count = left < MICA_SLICE_ROWS ? left : MICA_SLICE_ROWS, sent = 0;
    const mica_version *stamps = micap_chunk_stamps(chunk, row);
    bool is_whole = !base || stamps[0] > base;
    if (base && !is_written(sender, chunk->archetype, stamps, list))
        return false;
    micap_bytes_put32(bytes, base_row + row);
    micap_bytes_put32(bytes, count);
    micap_bytes_put32(bytes, is_whole);
    uint32_t sent_at = put_later(bytes);
    uint32_t numbers_at = bytes->count;
    for (uint32_t i = 0; i < list->count; ++i) {
        uint32_t column = micap_archetype_column(chunk->archetype, list->types[i]->id);
        if (column == MICAP_COLUMN_TAG || (!is_whole && micap_stamp_version(stamps[1 + column]) <= base))
            continue;
        micap_bytes_put32(bytes, i);
        ++sent;
    }
    put_now(bytes, sent_at, sent);
    if (is_whole)
        put_handles(sender, micap_chunk_entities(chunk) + row, count);
    for (uint32_t i = 0; !bytes->failed && i < sent; ++i) {
        uint32_t number;
        memcpy(&number, bytes->data + numbers_at + (size_t)i * 4, 4);
        const micap_type *type = list->types[micap_little32(number)];
        put_values(sender, type, micap_chunk_value(chunk, micap_archetype_column(chunk->archetype, type->id), row),
                   micap_chunk_entities(chunk) + row, count);
    }
    ++sender->delta.slice_count;
    return true;
}

static uint64_t layout_hash_of(const mica_sender *sender, const micap_type *type)
{
    return micap_delta_layout_hash(micap_delta_saved_layout(micap_delta_rule_of(&sender->rules, type), type), type);
}

static void put_table(mica_sender *sender, const micap_archetype *archetype, const columns *list)
{
    micap_bytes *bytes = &sender->bytes;
    uint32_t begin = bytes->count, group = begin_group(bytes, MICAP_DELTA_TABLE), slices = 0, base_row = 0;
    micap_bytes_put64(bytes, list->key);
    micap_bytes_put32(bytes, (uint32_t)archetype->row_count);
    micap_bytes_put32(bytes, list->count);
    uint32_t slices_at = put_later(bytes);
    for (uint32_t i = 0; i < list->count; ++i) {
        micap_bytes_put64(bytes, list->types[i]->name_hash);
        micap_bytes_put64(bytes, layout_hash_of(sender, list->types[i]));
    }
    for (uint32_t i = 0; i < archetype->chunk_count; ++i) {
        const micap_chunk *chunk = archetype->chunks[i];
        for (uint32_t row = 0; row < chunk->count; row += MICA_SLICE_ROWS)
            slices += put_slice(sender, chunk, row, base_row, list);
        base_row += chunk->count;
    }
    put_now(bytes, slices_at, slices);
    end_group(bytes, group);
    bool is_told = has_changed(sender, key_of("rows", list->key), archetype->row_count);
    if (!slices && (!is_told || !sender->delta.base)) /* from nothing: a table that is not mentioned is empty */
        bytes->count = begin;
}

static void put_tables(mica_sender *sender)
{
    const micap_archetypes *archetypes = &sender->world->archetypes;
    columns list = {0};
    for (uint32_t i = 0; i < archetypes->count; ++i) {
        if (list_columns(sender, archetypes->by_id[i], &list))
            put_table(sender, archetypes->by_id[i], &list);
        else
            sender->bytes.failed = true;
    }
    MICAP_RELEASE_ARRAY(&sender->world->memory, list.types, list.capacity);
}

static void put_pool_values(mica_sender *sender, const mica_pool *pool, uint32_t row, uint32_t count)
{
    size_t size = pool->value_bytes;
    if (micap_delta_rule_of(&sender->rules, pool->type)) {
        put_values(sender, pool->type, micap_pool_value(pool, row), pool->owners + row, count);
        return;
    }
    char *room = put_room(sender, pool->type, count);
    if (!room)
        return;
    for (uint32_t i = 0; i < count; ++i) {
        if (!micap_pool_has_row(pool, row + i))
            memset(room + i * size, 0, size);
        else if (pool->type->leaves)
            micap_pool_read_value(pool, row + i, room + i * size);
        else
            put_value(pool->type, room + i * size, micap_pool_value(pool, row + i));
    }
    if (sender->is_foreign)
        micap_delta_swap_values(&pool->type->type, room, count);
    if (!pool->type->owns)
        return;
    uint32_t begin = put_later(&sender->bytes);
    for (uint32_t i = 0; i < count; ++i)
        if (micap_pool_has_row(pool, row + i))
            micap_contents_put(&sender->bytes, &pool->type->type, micap_pool_value(pool, row + i), NULL, NULL);
        else
            micap_contents_put_empty(&sender->bytes, &pool->type->type);
    end_group(&sender->bytes, begin);
}

/* Whether something that has no stamps has changed in a slice of a pool. */
static bool lane_has_changed(mica_sender *sender, const mica_pool *pool, const char *what, uint32_t row,
                             const void *data, size_t byte_count)
{
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hasher_bytes(&hasher, data, byte_count);
    return has_changed(sender, key_of(what, pool->type->name_hash + row), micap_hasher_finish(&hasher));
}

static bool put_pool_slice(mica_sender *sender, const mica_pool *pool, uint32_t row)
{
    micap_bytes *bytes = &sender->bytes;
    mica_version base = sender->delta.base;
    uint32_t left = pool->row_limit - row, count = left < MICA_SLICE_ROWS ? left : MICA_SLICE_ROWS;
    const mica_version *stamps = micap_pool_stamps(pool, row);
    uint32_t parts = !base || stamps[0] > base ? MICAP_DELTA_OWNERS | MICAP_DELTA_VALUES : 0;
    for (uint32_t i = 0; i < pool->data_lane_count; ++i)
        parts |= micap_stamp_version(stamps[1 + i]) > base ? MICAP_DELTA_VALUES : 0;
    bool has_all = parts & MICAP_DELTA_OWNERS;
    if (pool->enabled && (lane_has_changed(sender, pool, "toggles", row, pool->enabled + row, count) || has_all))
        parts |= MICAP_DELTA_TOGGLES;
    if (pool->next &&
        (lane_has_changed(sender, pool, "next", row, pool->next + row, count * sizeof *pool->next) || has_all))
        parts |= MICAP_DELTA_NEXT;
    if (!parts)
        return false;
    micap_bytes_put32(bytes, row);
    micap_bytes_put32(bytes, count);
    micap_bytes_put32(bytes, parts);
    for (uint32_t i = 0; parts & MICAP_DELTA_OWNERS && i < count; ++i) {
        mica_entity owner = micap_pool_has_row(pool, row + i) ? pool->owners[row + i] : mica_nil();
        put_handles(sender, &owner, 1);
    }
    for (uint32_t i = 0; parts & MICAP_DELTA_NEXT && i < count; ++i)
        micap_bytes_put32(bytes, pool->next[row + i]);
    if (parts & MICAP_DELTA_VALUES)
        put_pool_values(sender, pool, row, count);
    for (uint32_t i = 0; parts & MICAP_DELTA_TOGGLES && i < count; ++i) {
        bool on = micap_pool_has_row(pool, row + i) && pool->enabled[row + i];
        micap_bytes_put(bytes, &on, 1);
    }
    ++sender->delta.slice_count;
    return true;
}

static void put_pool(mica_sender *sender, const mica_pool *pool)
{
    micap_bytes *bytes = &sender->bytes;
    uint32_t begin = bytes->count, group = begin_group(bytes, MICAP_DELTA_POOL), slices = 0;
    micap_bytes_put64(bytes, pool->type->name_hash);
    micap_bytes_put64(bytes, layout_hash_of(sender, pool->type));
    micap_bytes_put32(bytes, pool->row_limit);
    uint32_t slices_at = put_later(bytes);
    micap_bytes_put32(bytes, pool->kind == MICAP_POOL_DIRECT);
    for (uint32_t row = 0; row < pool->row_limit; row += MICA_SLICE_ROWS)
        slices += put_pool_slice(sender, pool, row);
    put_now(bytes, slices_at, slices);
    end_group(bytes, group);
    bool is_told = has_changed(sender, key_of("pool", pool->type->name_hash), pool->row_limit);
    if (!slices && !is_told)
        bytes->count = begin;
}

static void put_tags(mica_sender *sender, const mica_pool *pool)
{
    micap_bytes *bytes = &sender->bytes;
    uint32_t words = pool->present_words;
    while (words && !pool->present[words - 1])
        --words;
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    uint32_t limit = micap_pool_limit(pool); /* with generations: a slot may have the tag, and another entity */
    for (uint32_t row = micap_pool_next_used(pool, 0); row < limit; row = micap_pool_next_used(pool, row + 1))
        micap_hash_entity(&hasher, micap_pool_living_owner(sender->world, pool, row));
    if (!has_changed(sender, key_of("tags", pool->type->name_hash), micap_hasher_finish(&hasher)))
        return;
    uint32_t group = begin_group(bytes, MICAP_DELTA_TAGS);
    micap_bytes_put64(bytes, pool->type->name_hash);
    micap_bytes_put32(bytes, words);
    for (uint32_t i = 0; i < words; ++i)
        micap_bytes_put64(bytes, pool->present[i]);
    end_group(bytes, group);
}

static void put_singleton(mica_sender *sender, const micap_type *type, const char *value)
{
    micap_bytes *bytes = &sender->bytes;
    uint32_t group = begin_group(bytes, MICAP_DELTA_SINGLETON);
    micap_bytes_put64(bytes, type->name_hash);
    micap_bytes_put64(bytes, layout_hash_of(sender, type));
    put_values(sender, type, value, NULL, 1);
    end_group(bytes, group);
}

static void put_singletons(mica_sender *sender)
{
    const micap_components *components = &sender->world->components;
    micap_bytes *bytes = &sender->bytes;
    for (mica_component id = 0; (id = micap_component_after(components, id)) != 0;) {
        const micap_component *component = micap_component_of(components, id);
        const micap_type *type = component->type;
        if (!component->singleton || component->is_unborn || is_excluded(sender, type, true))
            continue;
        uint32_t begin = bytes->count;
        uint64_t value_bytes = sender->delta.value_bytes;
        bool has_rule = micap_delta_rule_of(&sender->rules, type); /* its fields may say nothing about it */
        micap_hasher hasher;
        micap_hasher_init(&hasher);
        if (has_rule)
            put_singleton(sender, type, component->singleton);
        if (!has_rule)
            micap_hash_values(&hasher, type, component->singleton, 1);
        else if (!bytes->failed)
            micap_hasher_bytes(&hasher, bytes->data + begin, bytes->count - begin);
        bool is_told = has_changed(sender, key_of("singleton", type->name_hash), micap_hasher_finish(&hasher));
        if (is_told && !has_rule)
            put_singleton(sender, type, component->singleton);
        if (!is_told && has_rule) {
            bytes->count = begin;
            sender->delta.value_bytes = value_bytes;
        }
    }
}

/* Whether the delta knows an entity: the creation of a pending one is not applied yet. */
static bool is_sent(const mica_world *world, mica_entity entity)
{
    return micap_is_row(micap_locate(world, entity));
}

/* Whether an entity is alive and not sent. */
static bool is_pending(const mica_world *world, mica_entity entity)
{
    return mica_is_alive(world, entity) && !is_sent(world, entity);
}

static void put_names(mica_sender *sender)
{
    const mica_world *world = sender->world;
    const micap_names *names = &world->names;
    micap_bytes *bytes = &sender->bytes;
    uint64_t waiting = 0; /* names that are sent when the creation of their scope is applied */
    for (uint32_t i = 0; i < names->entry_count; ++i)
        waiting += names->entries[i].text && is_pending(world, names->entries[i].scope);
    if (!has_changed(sender, key_of("names", 0), micap_hash_names(world) + waiting))
        return;
    uint32_t group = begin_group(bytes, MICAP_DELTA_NAMES), count_at = put_later(bytes), count = 0;
    for (uint32_t i = 0; i < names->entry_count; ++i) {
        const micap_name *name = &names->entries[i];
        size_t length = name->text ? strlen(name->text) : 0;
        if (!length || !is_sent(world, name->entity) || is_pending(world, name->scope))
            continue;
        put_handles(sender, &name->entity, 1);
        put_handles(sender, &name->scope, 1);
        micap_bytes_put32(bytes, (uint32_t)length);
        micap_bytes_put(bytes, name->text, length);
        ++count;
    }
    put_now(bytes, count_at, count);
    end_group(bytes, group);
}

static mica_entity living_at(const mica_world *world, uint32_t index)
{
    uint64_t record = *micap_record_at(&world->entities, index);
    return micap_record_chunk(record) > MICAP_CHUNK_PENDING ? (mica_entity){index, micap_record_generation(record)}
                                                            : mica_nil();
}

/* A parent with its children in order. Children whose creation is recorded are sent when they exist. Returns false if there are none. */
static bool put_children(mica_sender *sender, mica_entity parent)
{
    const mica_world *world = sender->world;
    micap_bytes *bytes = &sender->bytes;
    uint32_t begin = bytes->count, count = 0;
    put_handles(sender, &parent, 1);
    uint32_t count_at = put_later(bytes);
    for (mica_entity child = mica_first_child(world, parent); !mica_is_nil(child);
         child = mica_next_sibling(world, child))
        if (is_sent(world, child)) {
            put_handles(sender, &child, 1);
            ++count;
        }
    put_now(bytes, count_at, count);
    if (!count)
        bytes->count = begin;
    return count != 0;
}

/* The parents with indices of one page. */
static void put_link_page(mica_sender *sender, uint32_t page)
{
    const mica_world *world = sender->world;
    micap_bytes *bytes = &sender->bytes;
    uint32_t begin = bytes->count, group = begin_group(bytes, MICAP_DELTA_LINKS), parents = 0;
    micap_bytes_put32(bytes, page);
    uint32_t parents_at = put_later(bytes), content_at = bytes->count;
    for (uint32_t i = 0; i < MICAP_DELTA_LINK_PAGE; ++i) {
        mica_entity parent = living_at(world, page * MICAP_DELTA_LINK_PAGE + i);
        if (!mica_is_nil(parent) && mica_child_count(world, parent))
            parents += put_children(sender, parent);
    }
    put_now(bytes, parents_at, parents);
    end_group(bytes, group);
    if (bytes->failed)
        return;
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hasher_bytes(&hasher, bytes->data + content_at, bytes->count - content_at);
    bool is_told = has_changed(sender, key_of("links", page), micap_hasher_finish(&hasher));
    if (!is_told || (!sender->delta.base && !parents))
        bytes->count = begin;
}

static void put_links(mica_sender *sender)
{
    const mica_world *world = sender->world;
    const micap_module *hierarchy = &world->modules[MICAP_MODULE_HIERARCHY];
    if (!hierarchy->ops)
        return;
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    hierarchy->ops->hash(world, hierarchy->state, &hasher);
    if (!has_changed(sender, key_of("hierarchy", 0), micap_hasher_finish(&hasher)))
        return;
    uint32_t limit = atomic_load_explicit(&world->entities.page_count, memory_order_relaxed) *
                     (MICAP_PAGE_RECORDS / MICAP_DELTA_LINK_PAGE);
    for (uint32_t page = 0; page < limit; ++page)
        put_link_page(sender, page);
}

/* The records of the state, and those that have changed with their content. */
static void put_records(mica_sender *sender, micap_reader reader)
{
    micap_bytes *bytes = &sender->bytes;
    uint32_t group = begin_group(bytes, MICAP_DELTA_STATE), count_at = put_later(bytes), count = 0;
    for (; micap_reader_left(&reader); ++count) {
        uint32_t kind = micap_reader_take32(&reader), byte_count = micap_reader_take32(&reader);
        const char *content = micap_reader_take(&reader, byte_count);
        micap_hasher hasher;
        micap_hasher_init(&hasher);
        micap_hasher_bytes(&hasher, content, byte_count);
        /* A receiver that got such a delta does not have what was not sent since. */
        bool is_told = has_changed(sender, key_of("state", kind), micap_hasher_finish(&hasher)) ||
                       sender->delta.base <= sender->stateless;
        micap_bytes_put32(bytes, kind);
        micap_bytes_put32(bytes, is_told);
        if (is_told) {
            micap_bytes_put32(bytes, byte_count);
            micap_bytes_put(bytes, content, byte_count);
        }
    }
    put_now(bytes, count_at, count);
    end_group(bytes, group);
}

/* Without one if the world is not at rest. */
static void put_state(mica_sender *sender)
{
    mica_state *state;
    size_t byte_count;
    mica_result result = mica_state_take(sender->world, &state);
    sender->bytes.failed |= result == MICA_ERROR_MEMORY;
    if (result != MICA_OK) {
        sender->stateless = sender->delta.version;
        return;
    }
    const char *bytes = mica_state_bytes(state, &byte_count);
    put_records(sender, (micap_reader){bytes, bytes, bytes + byte_count, false});
    mica_state_free(state);
}

static void put_header(mica_sender *sender)
{
    uint32_t mark = sender->is_foreign ? MICAP_SWAP_BYTES_32(MICAP_DELTA_MARK) : MICAP_DELTA_MARK;
    micap_bytes *bytes = &sender->bytes;
    micap_bytes_put(bytes, MICAP_DELTA_MAGIC, 8);
    micap_bytes_put(bytes, &mark, sizeof mark);
    micap_bytes_put32(bytes, MICAP_DELTA_FORMAT);
    micap_bytes_put64(bytes, sender->delta.base);
    micap_bytes_put64(bytes, sender->delta.version);
    micap_bytes_put64(bytes, 0);
    micap_bytes_put64(bytes, 0);
}

static void finish(mica_sender *sender)
{
    char *bytes = sender->bytes.data;
    uint64_t words[2] = {micap_little64(sender->bytes.count)};
    memcpy(bytes + 32, &words[0], 8);
    words[1] = micap_little64(micap_delta_checksum(bytes, sender->bytes.count));
    memcpy(bytes + MICAP_DELTA_CHECKSUM_AT, &words[1], 8);
    sender->delta.bytes = bytes;
    sender->delta.byte_count = sender->bytes.count;
}

mica_result mica_delta_encode(mica_sender *sender, mica_version base, mica_delta *out_delta)
{
    if (MICAP_MISSING(NULL, sender) || MICAP_MISSING(sender->world, out_delta))
        return MICA_ERROR_INVALID;
    mica_world *world = sender->world;
    *out_delta = (mica_delta){0};
    mica_result result = micap_refuse_while_recording(world, "delta");
    if (result != MICA_OK)
        return result;
    if (base >= micap_version(world))
        return micap_fail(world, MICA_ERROR_INVALID, (mica_location){0},
                          "delta: the world has not reached version %llu", (unsigned long long)base);
    if (!micap_is_on_this_line(world, base))
        base = 0; /* stamps do not tell what changed since: everything is sent, which leads there from any version */
    sender->delta = (mica_delta){.base = base, .version = mica_world_mark(world)};
    sender->bytes.count = 0;
    sender->bytes.failed = sender->contents.failed = false;
    sender->unknown = sender->refused = NULL;
    sender->is_encoding = true;
    micap_world_hold(world);
    put_header(sender);
    put_tables(sender);
    for (uint32_t i = 0; i < world->pools.count; ++i) {
        const mica_pool *pool = world->pools.all[i];
        if (is_excluded(sender, pool->type, pool->count != 0))
            continue;
        if (pool->kind == MICAP_POOL_TAG)
            put_tags(sender, pool);
        else
            put_pool(sender, pool);
    }
    put_singletons(sender);
    put_names(sender);
    put_links(sender);
    if (sender->has_state)
        put_state(sender);
    micap_world_let_go(world);
    sender->is_encoding = false;
    if (sender->unknown)
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "delta: " MICAP_NO_RULE,
                          sender->unknown->type.name);
    if (sender->refused)
        return micap_fail(world, MICA_ERROR_DATA, (mica_location){0},
                          "delta: the save function of component %s refused", sender->refused->type.name);
    if (sender->bytes.failed)
        return micap_fail_memory(world, "delta");
    finish(sender);
    *out_delta = sender->delta;
    return MICA_OK;
}

/* Room for the largest recipe. */
static bool make_instance(mica_sender *sender)
{
    sender->instance_alignment = MICAP_CACHE_LINE;
    for (uint32_t i = 0; i < sender->rules.count; ++i) {
        const mica_resource_rule *rule = &sender->rules.list[i];
        const mica_type *layout = micap_delta_saved_layout(rule, micap_type_of(rule->component));
        if (sender->instance_bytes < layout->size_bytes)
            sender->instance_bytes = layout->size_bytes;
        if (sender->instance_alignment < layout->alignment)
            sender->instance_alignment = layout->alignment;
    }
    if (sender->instance_bytes)
        sender->instance = micap_allocate(&sender->world->memory, sender->instance_bytes, sender->instance_alignment);
    return sender->instance || !sender->instance_bytes;
}

static bool is_valid_def(mica_world *world, const mica_sender_def *def)
{
    return !MICAP_MISSING_ARRAY(world, def->excluded, def->excluded_count) &&
           !MICAP_MISSING_ARRAY(world, def->rules, def->rule_count);
}

mica_sender *mica_sender_create(mica_world *world, const mica_sender_def *def)
{
    if (MICAP_MISSING(NULL, world) || (def && !is_valid_def(world, def)))
        return NULL;
    mica_sender *sender = micap_allocate_zeroed(&world->memory, sizeof *sender, MICAP_ARRAY_ALIGNMENT);
    uint32_t count = def ? def->excluded_count : 0;
    if (sender) {
        sender->world = world;
        sender->bytes.memory = sender->contents.memory = sender->tracks.memory = &world->memory;
    }
    if (sender && def && !micap_delta_rules_set(world, &sender->rules, def->rules, def->rule_count)) {
        mica_sender_destroy(sender);
        return NULL;
    }
    if (!sender || !make_instance(sender) ||
        !MICAP_RESERVE(&world->memory, sender->excluded, &sender->excluded_capacity, count)) {
        mica_sender_destroy(sender);
        return micap_fail_memory(world, "delta"), NULL;
    }
    sender->skips_without_rule = def && def->skip_without_rule;
    sender->rules.has_default = def && def->fields_without_rule;
    sender->has_state = def && def->with_state;
    sender->is_foreign = def && def->byte_order == (MICAP_IS_BIG_ENDIAN ? MICA_BYTE_ORDER_LITTLE : MICA_BYTE_ORDER_BIG);
    sender->excluded_count = count;
    if (count)
        memcpy(sender->excluded, def->excluded, count * sizeof *def->excluded);
    return sender;
}

void mica_sender_destroy(mica_sender *sender)
{
    if (!sender)
        return;
    if (sender->is_encoding) {
        micap_fail(sender->world, MICA_ERROR_REFUSED, (mica_location){0},
                   "sender_destroy: refused inside a rule, while a delta is encoded");
        return;
    }
    micap_memory *memory = &sender->world->memory;
    MICAP_RELEASE_ARRAY(memory, sender->excluded, sender->excluded_capacity);
    micap_delta_rules_free(sender->world, &sender->rules);
    if (sender->instance)
        micap_release(memory, sender->instance, sender->instance_bytes, sender->instance_alignment);
    micap_delta_tracks_free(&sender->tracks);
    micap_bytes_free(&sender->contents);
    micap_bytes_free(&sender->bytes);
    micap_release(memory, sender, sizeof *sender, MICAP_ARRAY_ALIGNMENT);
}
