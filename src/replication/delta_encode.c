/* Writes deltas. Chunks and pools have stamps, by slice and column. What has none (how many rows an archetype has, toggles and
 * tags in pools, singletons, names, links) is hashed, and the sender remembers since when the hash is what it is. */
#include "base/argument.h"
#include "base/hash.h"
#include "core/storage/rows.h"
#include "core/world/report.h"
#include "core/world/world_hash.h"
#include "pool/pool_rows.h"
#include "mica/entity.h"
#include "mica/hierarchy.h"
#include "replication/delta_checksum.h"
#include "replication/delta_fields.h"
#include "replication/delta_format.h"
#include "replication/delta_track.h"
#include "type/value_bytes.h"

struct mica_sender {
    mica_world *world;
    mica_component *excluded;
    uint32_t excluded_count;
    uint32_t excluded_capacity;
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

static bool is_excluded(const mica_sender *sender, const micap_type *type)
{
    for (uint32_t i = 0; i < sender->excluded_count; ++i)
        if (sender->excluded[i] == type->id)
            return true;
    return !micap_delta_can_carry(type);
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

static void put_values(mica_sender *sender, const micap_type *type, const char *values, uint32_t count)
{
    size_t size = type->type.size_bytes;
    char *room = put_room(sender, type, count);
    if (!room)
        return;
    if (is_copied_whole(type) && !type->owns)
        memcpy(room, values, size * count);
    else
        for (uint32_t i = 0; i < count; ++i)
            put_value(type, room + i * size, values + i * size);
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
        sum += type->companion == MICAP_COMPANION_ADDED ? 0 : micap_hash_mix(type->name_hash);
        if (type->companion || is_excluded(sender, type))
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
        newest = stamps[i] > newest ? stamps[i] : newest;
    if (newest <= sender->delta.base)
        return false;
    for (uint32_t i = 0; i < list->count; ++i) {
        uint32_t column = micap_archetype_column(archetype, list->types[i]->id);
        if (column != MICAP_COLUMN_TAG && stamps[1 + column] > sender->delta.base)
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
        if (column == MICAP_COLUMN_TAG || (!is_whole && stamps[1 + column] <= base))
            continue;
        micap_bytes_put32(bytes, i);
        ++sent;
    }
    put_now(bytes, sent_at, sent);
    if (is_whole)
        micap_bytes_put(bytes, micap_chunk_entities(chunk) + row, count * sizeof(mica_entity));
    for (uint32_t i = 0; !bytes->failed && i < sent; ++i) {
        uint32_t number;
        memcpy(&number, bytes->data + numbers_at + (size_t)i * 4, 4);
        const micap_type *type = list->types[micap_little32(number)];
        put_values(sender, type, micap_chunk_value(chunk, micap_archetype_column(chunk->archetype, type->id), row),
                   count);
    }
    ++sender->delta.slice_count;
    return true;
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
        micap_bytes_put64(bytes, list->types[i]->layout_hash);
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

static bool put_pool_slice(mica_sender *sender, const mica_pool *pool, uint32_t row)
{
    micap_bytes *bytes = &sender->bytes;
    mica_version base = sender->delta.base;
    uint32_t left = pool->row_limit - row, count = left < MICA_SLICE_ROWS ? left : MICA_SLICE_ROWS;
    const mica_version *stamps = micap_pool_stamps(pool, row);
    uint32_t parts = !base || stamps[0] > base ? MICAP_DELTA_OWNERS | MICAP_DELTA_VALUES : 0;
    for (uint32_t i = 0; i < pool->data_lane_count; ++i)
        parts |= stamps[1 + i] > base ? MICAP_DELTA_VALUES : 0;
    if (pool->enabled) {
        micap_hasher hasher;
        micap_hasher_init(&hasher);
        micap_hasher_bytes(&hasher, pool->enabled + row, count);
        if (has_changed(sender, key_of("toggles", pool->type->name_hash + row), micap_hasher_finish(&hasher)) ||
            parts & MICAP_DELTA_OWNERS)
            parts |= MICAP_DELTA_TOGGLES;
    }
    if (!parts)
        return false;
    micap_bytes_put32(bytes, row);
    micap_bytes_put32(bytes, count);
    micap_bytes_put32(bytes, parts);
    for (uint32_t i = 0; parts & MICAP_DELTA_OWNERS && i < count; ++i) {
        mica_entity owner = micap_pool_has_row(pool, row + i) ? pool->owners[row + i] : mica_nil();
        micap_bytes_put(bytes, &owner, sizeof owner);
    }
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
    micap_bytes_put64(bytes, pool->type->layout_hash);
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

static void put_singletons(mica_sender *sender)
{
    const micap_components *components = &sender->world->components;
    micap_bytes *bytes = &sender->bytes;
    for (mica_component id = 0; (id = micap_component_after(components, id)) != 0;) {
        const micap_component *component = micap_component_of(components, id);
        const micap_type *type = component->type;
        if (!component->singleton || component->is_unborn || is_excluded(sender, type))
            continue;
        micap_hasher hasher;
        micap_hasher_init(&hasher);
        micap_hash_values(&hasher, type, component->singleton, 1);
        if (!has_changed(sender, key_of("singleton", type->name_hash), micap_hasher_finish(&hasher)))
            continue;
        uint32_t group = begin_group(bytes, MICAP_DELTA_SINGLETON);
        micap_bytes_put64(bytes, type->name_hash);
        micap_bytes_put64(bytes, type->layout_hash);
        put_values(sender, type, component->singleton, 1);
        end_group(bytes, group);
    }
}

/* Whether the delta knows an entity: the creation of a pending one is not applied yet. */
static bool is_sent(const mica_world *world, mica_entity entity)
{
    return micap_is_row(micap_locate(world, entity));
}

static void put_names(mica_sender *sender)
{
    const mica_world *world = sender->world;
    const micap_names *names = &world->names;
    micap_bytes *bytes = &sender->bytes;
    if (!has_changed(sender, key_of("names", 0), micap_hash_names(world)))
        return;
    uint32_t group = begin_group(bytes, MICAP_DELTA_NAMES), count_at = put_later(bytes), count = 0;
    for (uint32_t i = 0; i < names->entry_count; ++i) {
        const micap_name *name = &names->entries[i];
        size_t length = name->text ? strlen(name->text) : 0;
        if (!length || length > MICAP_DELTA_NAME_BYTES_MAX || !is_sent(world, name->entity) ||
            (!mica_is_nil(name->scope) && !is_sent(world, name->scope)))
            continue;
        micap_bytes_put(bytes, &name->entity, sizeof name->entity);
        micap_bytes_put(bytes, &name->scope, sizeof name->scope);
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

/* The parents with indices of one page, each with its children in order. */
static void put_link_page(mica_sender *sender, uint32_t page)
{
    const mica_world *world = sender->world;
    micap_bytes *bytes = &sender->bytes;
    uint32_t begin = bytes->count, group = begin_group(bytes, MICAP_DELTA_LINKS), parents = 0;
    micap_bytes_put32(bytes, page);
    uint32_t parents_at = put_later(bytes), content_at = bytes->count;
    for (uint32_t i = 0; i < MICAP_DELTA_LINK_PAGE; ++i) {
        mica_entity parent = living_at(world, page * MICAP_DELTA_LINK_PAGE + i);
        if (mica_is_nil(parent) || !mica_child_count(world, parent))
            continue;
        micap_bytes_put(bytes, &parent, sizeof parent);
        micap_bytes_put32(bytes, mica_child_count(world, parent));
        for (mica_entity child = mica_first_child(world, parent); !mica_is_nil(child);
             child = mica_next_sibling(world, child))
            micap_bytes_put(bytes, &child, sizeof child);
        ++parents;
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

static void put_header(mica_sender *sender)
{
    uint32_t mark = MICAP_DELTA_MARK;
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
    sender->bytes.failed = false;
    put_header(sender);
    put_tables(sender);
    for (uint32_t i = 0; i < world->pools.count; ++i) {
        const mica_pool *pool = world->pools.all[i];
        if (is_excluded(sender, pool->type))
            continue;
        if (pool->kind == MICAP_POOL_TAG)
            put_tags(sender, pool);
        else
            put_pool(sender, pool);
    }
    put_singletons(sender);
    put_names(sender);
    put_links(sender);
    if (sender->bytes.failed)
        return micap_fail_memory(world, "delta");
    finish(sender);
    *out_delta = sender->delta;
    return MICA_OK;
}

mica_sender *mica_sender_create(mica_world *world, const mica_sender_def *def)
{
    if (MICAP_MISSING(NULL, world) || (def && MICAP_MISSING_ARRAY(world, def->excluded, def->excluded_count)))
        return NULL;
    mica_sender *sender = micap_allocate_zeroed(&world->memory, sizeof *sender, MICAP_ARRAY_ALIGNMENT);
    uint32_t count = def ? def->excluded_count : 0;
    if (sender) {
        sender->world = world;
        sender->bytes.memory = sender->tracks.memory = &world->memory;
    }
    if (!sender || !MICAP_RESERVE(&world->memory, sender->excluded, &sender->excluded_capacity, count)) {
        mica_sender_destroy(sender);
        return micap_fail_memory(world, "delta"), NULL;
    }
    sender->excluded_count = count;
    if (count)
        memcpy(sender->excluded, def->excluded, count * sizeof *def->excluded);
    return sender;
}

void mica_sender_destroy(mica_sender *sender)
{
    if (!sender)
        return;
    micap_memory *memory = &sender->world->memory;
    MICAP_RELEASE_ARRAY(memory, sender->excluded, sender->excluded_capacity);
    micap_delta_tracks_free(&sender->tracks);
    micap_bytes_free(&sender->bytes);
    micap_release(memory, sender, sizeof *sender, MICAP_ARRAY_ALIGNMENT);
}
