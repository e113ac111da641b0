/* Verifies a delta. No other file checks a size, a count or a hash again. */
#include "replication/delta_read.h"

#include "base/assert.h"
#include "core/state/state_records.h"
#include "core/world/report.h"
#include "replication/delta_checksum.h"
#include "replication/delta_fields.h"
#include "replication/replica.h"
#include "replication/replica_rules.h"
#include "type/value_bytes.h"
#include "mica/disable.h"

#define APPEND(work, list, ...)                                                                                        \
    (MICAP_RESERVE(&(work)->world->memory, (work)->list, &(work)->list##_capacity, (uint64_t)(work)->list##_count + 1) \
         ? ((work)->list[(work)->list##_count++] = __VA_ARGS__, true)                                                  \
         : false)

static mica_result refuse(const micap_delta_work *work, const micap_reader *reader, const char *why)
{
    return micap_fail(work->world, MICA_ERROR_DATA, (mica_location){0}, "delta: at byte %llu: %s",
                      (unsigned long long)(reader->at - reader->begin), why);
}

static mica_result refuse_memory(const micap_delta_work *work)
{
    return micap_fail_memory(work->world, "delta");
}

/* Converts what was read, in the copy of the delta, to the byte order of this machine. */
static void turn_handles(const micap_delta_work *work, const char *handles, uint32_t count)
{
    if (work->is_foreign && handles)
        micap_delta_swap_handles(work->copy + (handles - work->copy), count);
}

static void turn_values(const micap_delta_work *work, const mica_type *layout, const char *values, uint32_t count)
{
    if (work->is_foreign && values)
        micap_delta_swap_values(layout, work->copy + (values - work->copy), count);
}

static const mica_resource_rule *rule_of(const micap_delta_work *work, const micap_type *type)
{
    return micap_delta_rule_of(&work->replica->rules, type);
}

/* How the values of a component lie in the delta. */
static const mica_type *layout_of(const micap_delta_work *work, const micap_type *type)
{
    return micap_delta_spawned_layout(rule_of(work, type), type);
}

/* The component of this world with a name and layout. The layout of a tag does not matter. */
static const micap_type *find_type(const micap_delta_work *work, uint64_t name_hash, const uint64_t *layout_hash)
{
    const micap_components *components = &work->world->components;
    for (mica_component id = 0; (id = micap_component_after(components, id)) != 0;) {
        const micap_type *type = micap_type_of(id);
        if (type->name_hash != name_hash || type->type.parents)
            continue;
        bool is_carried = micap_delta_can_carry(&work->replica->rules, type);
        if (is_carried && (!layout_hash || micap_delta_layout_hash(layout_of(work, type), type) == *layout_hash))
            return type;
        micap_fail(work->world, MICA_ERROR_LAYOUT, (mica_location){0},
                   is_carried ? "delta: component %s has other fields here than the sender's"
                              : "delta: component %s has functions here: give the replica a rule for it",
                   type->type.name);
        return NULL;
    }
    const micap_type *disabled = micap_type_of(mica_disabled_id()); /* need not be defined */
    if (disabled && disabled->name_hash == name_hash)
        return micap_component_use(work->world, disabled->id) ? disabled : NULL;
    micap_fail(
        work->world, MICA_ERROR_UNKNOWN, (mica_location){0},
        "delta: there is no component here with the name hash %016llx: define what the sender sends, or exclude it "
        "there",
        (unsigned long long)name_hash);
    return NULL;
}

static bool values_hold(const micap_type *type, const mica_type *layout, const char *values, uint32_t count)
{
    if (type->companion == MICAP_COMPANION_ENABLED) {
        for (uint32_t i = 0; i < count; ++i)
            if ((unsigned char)values[i] > 1)
                return false;
        return true;
    }
    if (!micap_delta_has_kind(layout, MICA_KIND_BOOL))
        return true;
    for (uint32_t i = 0; i < count; ++i)
        if (!micap_delta_bools_hold(layout, values + (size_t)i * layout->size_bytes))
            return false;
    return true;
}

static bool has_values(const micap_type *type)
{
    return micap_has_column(type);
}

static uint32_t columns_with_values(const micap_delta_work *work, const micap_delta_table *table)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->column_count; ++i)
        count += has_values(work->columns[table->column + i]);
    return count;
}

enum { CONTENT_BYTES_MAX = 1 << 30 }; /* that the values of a component in a slice may take */

static uint32_t alignment_of(const mica_type *layout)
{
    return layout->alignment > MICAP_CACHE_LINE ? layout->alignment : MICAP_CACHE_LINE;
}

/* A copy of the values, which the list of contents owns. */
static bool copy_values(micap_delta_work *work, micap_delta_contents *contents, const char *values)
{
    size_t bytes = (size_t)contents->layout->size_bytes * contents->count;
    contents->values = micap_allocate(&work->world->memory, bytes, alignment_of(contents->layout));
    if (!contents->values)
        return false;
    memcpy(contents->values, values, bytes);
    if (APPEND(work, contents, *contents))
        return true;
    micap_release(&work->world->memory, contents->values, bytes, alignment_of(contents->layout));
    return false;
}

/* Makes values with text and lists, or by a rule, if the component has any: `*values` are those then. */
static mica_result read_contents(micap_delta_work *work, micap_reader *reader, micap_delta_contents contents,
                                 const char **values)
{
    const mica_type *layout = contents.layout;
    size_t size = layout->size_bytes;
    bool has_contents = contents.rule ? micap_contents_exist(layout) : contents.type->owns;
    if (!has_contents && !contents.rule)
        return MICA_OK;
    uint32_t byte_count = has_contents ? micap_reader_take32(reader) : 0;
    const char *bytes = micap_reader_take(reader, byte_count);
    if (!bytes)
        return refuse(work, reader, "text and lists are cut off");
    for (uint32_t i = 0; has_contents && i < contents.count; ++i)
        if (!micap_contents_are_omitted(layout, *values + i * size))
            return refuse(work, reader, "text and lists are not zero in their values");
    contents.end = reader->at;
    if (!copy_values(work, &contents, *values))
        return refuse_memory(work);
    *values = contents.values;
    micap_reader content = {reader->begin, bytes, bytes + byte_count, false};
    mica_result result = MICA_OK;
    uint64_t room = CONTENT_BYTES_MAX;
    for (uint32_t i = 0; has_contents && result == MICA_OK && i < contents.count; ++i)
        result = micap_contents_take(&content, layout, contents.values + i * size, &room);
    if (result == MICA_ERROR_MEMORY)
        return refuse_memory(work);
    return result == MICA_OK && !micap_reader_left(&content)
               ? MICA_OK
               : refuse(work, &content, "text and lists are cut off, too long, or can't be");
}

static mica_result read_values(micap_delta_work *work, micap_reader *reader, const micap_delta_table *table,
                               micap_delta_slice *slice)
{
    slice->values = reader->at;
    slice->contents = work->contents_count;
    uint32_t before = 0;
    for (uint32_t i = 0; i < slice->column_count; ++i) {
        uint32_t number;
        memcpy(&number, slice->columns + (size_t)i * 4, 4);
        number = micap_little32(number);
        if (number >= table->column_count || (i && number <= before))
            return refuse(work, reader, "columns are numbered wrong");
        const micap_type *type = work->columns[table->column + number];
        const mica_type *layout = layout_of(work, type);
        const char *values = micap_reader_take(reader, (uint64_t)slice->row_count * layout->size_bytes);
        turn_values(work, layout, values, slice->row_count);
        if (!values || !has_values(type) || !values_hold(type, layout, values, slice->row_count))
            return refuse(work, reader, "a column is cut off, or has values that can't be");
        micap_delta_contents contents = {.type = type,
                                         .rule = rule_of(work, type),
                                         .layout = layout,
                                         .count = slice->row_count,
                                         .owner = MICAP_DELTA_OF_TABLE,
                                         .number = work->tables_count,
                                         .slice = work->slices_count};
        mica_result result = read_contents(work, reader, contents, &values);
        if (result != MICA_OK)
            return result;
        before = number;
    }
    return MICA_OK;
}

static mica_result read_slice(micap_delta_work *work, micap_reader *reader, const micap_delta_table *table,
                              uint32_t *end)
{
    micap_delta_slice slice = {.row = micap_reader_take32(reader), .row_count = micap_reader_take32(reader)};
    uint32_t has_entities = micap_reader_take32(reader);
    slice.column_count = micap_reader_take32(reader);
    slice.columns = micap_reader_take(reader, (uint64_t)slice.column_count * 4);
    if (reader->failed || slice.row < *end || !slice.row_count || slice.row >= table->row_count ||
        slice.row_count > table->row_count - slice.row || has_entities > 1)
        return refuse(work, reader, "a slice lies where it can't");
    *end = slice.row + slice.row_count;
    if (has_entities) {
        slice.owners = micap_reader_take(reader, (uint64_t)slice.row_count * sizeof(mica_entity));
        turn_handles(work, slice.owners, slice.row_count);
        if (!slice.owners || slice.column_count != columns_with_values(work, table))
            return refuse(work, reader, "a slice with entities has not all columns");
    }
    mica_result result = read_values(work, reader, table, &slice);
    if (result == MICA_OK && !APPEND(work, slices, slice))
        result = refuse_memory(work);
    return result;
}

/* There are as many bytes: see read_table. */
static mica_result read_columns(micap_delta_work *work, micap_reader *reader, micap_delta_table *table)
{
    table->column = work->columns_count;
    for (uint32_t i = 0; i < table->column_count; ++i) {
        uint64_t name_hash = micap_reader_take64(reader), layout_hash = micap_reader_take64(reader);
        const micap_type *type = find_type(work, name_hash, &layout_hash);
        if (!type)
            return micap_failure(work->world);
        if (micap_is_pooled(type->id) || type->type.storage == MICA_STORAGE_SINGLETON ||
            micap_holds_versions(type->companion))
            return refuse(work, reader, "a column is of a component that is kept elsewhere");
        for (uint32_t j = 0; j < i; ++j)
            if (work->columns[table->column + j] == type)
                return refuse(work, reader, "a component comes twice");
        if (!APPEND(work, columns, type))
            return refuse_memory(work);
    }
    return MICA_OK;
}

/* Toggles and leaves come with their component, all of them, or a row would have columns without values. */
static bool companions_are_whole(const micap_delta_work *work, const micap_delta_table *table)
{
    uint32_t expected = 0, hidden = 0;
    for (uint32_t i = 0; i < table->column_count; ++i) {
        const micap_type *type = work->columns[table->column + i];
        hidden += type->companion != MICAP_COMPANION_NONE;
        if (type->companion)
            continue;
        for (uint32_t leaf = 0; leaf < type->leaf_count + (type->enabled != 0); ++leaf) {
            mica_component id = leaf < type->leaf_count ? type->leaves[leaf].component : type->enabled;
            bool is_there = false;
            for (uint32_t j = 0; j < table->column_count; ++j)
                is_there |= work->columns[table->column + j]->id == id;
            if (!is_there)
                return false;
            ++expected;
        }
    }
    return hidden == expected;
}

static mica_result read_table(micap_delta_work *work, micap_reader *reader)
{
    micap_delta_table table = {.key = micap_reader_take64(reader), .row_count = micap_reader_take32(reader)};
    table.column_count = micap_reader_take32(reader);
    table.slice_count = micap_reader_take32(reader);
    if (reader->failed || table.column_count > micap_reader_left(reader) / 16)
        return refuse(work, reader, "a table is cut off");
    for (uint32_t i = 0; i < work->tables_count; ++i)
        if (work->tables[i].key == table.key)
            return refuse(work, reader, "a table comes twice");
    mica_result result = read_columns(work, reader, &table);
    if (result == MICA_OK && !companions_are_whole(work, &table))
        result = refuse(work, reader, "a component comes without its toggle or its fields");
    table.slice = work->slices_count;
    uint32_t end = 0;
    for (uint32_t i = 0; result == MICA_OK && i < table.slice_count; ++i)
        result = read_slice(work, reader, &table, &end);
    if (result == MICA_OK && !APPEND(work, tables, table))
        result = refuse_memory(work);
    return result;
}

static mica_result read_pool_slice(micap_delta_work *work, micap_reader *reader, const micap_delta_table *pool,
                                   uint32_t *end)
{
    micap_delta_slice slice = {.row = micap_reader_take32(reader), .row_count = micap_reader_take32(reader)};
    uint32_t parts = micap_reader_take32(reader);
    const micap_type *type = pool->type;
    const mica_type *layout = layout_of(work, type);
    if (reader->failed || slice.row < *end || !slice.row_count || slice.row >= pool->row_count ||
        slice.row_count > pool->row_count - slice.row || parts > MICAP_DELTA_PARTS || !parts)
        return refuse(work, reader, "a slice of a pool lies where it can't");
    *end = slice.row + slice.row_count;
    bool must_have_all = parts & MICAP_DELTA_OWNERS;
    if (must_have_all && (!(parts & MICAP_DELTA_VALUES) || (type->type.toggle && !(parts & MICAP_DELTA_TOGGLES)) ||
                          (type->type.many && !(parts & MICAP_DELTA_NEXT))))
        return refuse(work, reader, "a slice of a pool with owners has not all columns");
    if (parts & MICAP_DELTA_OWNERS)
        slice.owners = micap_reader_take(reader, (uint64_t)slice.row_count * sizeof(mica_entity));
    turn_handles(work, slice.owners, slice.row_count);
    if (parts & MICAP_DELTA_NEXT)
        slice.next = micap_reader_take(reader, (uint64_t)slice.row_count * 4);
    if (parts & MICAP_DELTA_VALUES)
        slice.values = micap_reader_take(reader, (uint64_t)slice.row_count * layout->size_bytes);
    turn_values(work, layout, slice.values, slice.row_count);
    if (slice.values) {
        micap_delta_contents contents = {.type = type,
                                         .rule = rule_of(work, type),
                                         .layout = layout,
                                         .count = slice.row_count,
                                         .owner = MICAP_DELTA_OF_POOL,
                                         .number = work->pools_count,
                                         .slice = work->slices_count};
        mica_result result = read_contents(work, reader, contents, &slice.values);
        if (result != MICA_OK)
            return result;
    }
    if (parts & MICAP_DELTA_TOGGLES)
        slice.toggles = micap_reader_take(reader, slice.row_count);
    if (reader->failed || (slice.values && !values_hold(type, layout, slice.values, slice.row_count)) ||
        (slice.toggles && !type->type.toggle) || (slice.next && !type->type.many))
        return refuse(work, reader, "a slice of a pool is cut off, or has values that can't be");
    for (uint32_t i = 0; slice.toggles && i < slice.row_count; ++i)
        if ((unsigned char)slice.toggles[i] > 1)
            return refuse(work, reader, "a toggle is 0 or 1");
    return APPEND(work, slices, slice) ? MICA_OK : refuse_memory(work);
}

static mica_result read_pool(micap_delta_work *work, micap_reader *reader)
{
    uint64_t name_hash = micap_reader_take64(reader), layout_hash = micap_reader_take64(reader);
    micap_delta_table pool = {.row_count = micap_reader_take32(reader), .slice_count = micap_reader_take32(reader)};
    uint32_t is_direct = micap_reader_take32(reader);
    if (reader->failed || is_direct > 1)
        return refuse(work, reader, "a pool is cut off");
    pool.is_direct = is_direct;
    pool.type = find_type(work, name_hash, &layout_hash);
    if (!pool.type)
        return micap_failure(work->world);
    if (!micap_is_pooled(pool.type->id) || !pool.type->type.size_bytes || (pool.is_direct && pool.type->type.many))
        return refuse(work, reader, "a pool is of a component that is kept elsewhere");
    for (uint32_t i = 0; i < work->pools_count; ++i)
        if (work->pools[i].type == pool.type)
            return refuse(work, reader, "a pool comes twice");
    pool.key = name_hash;
    pool.slice = work->slices_count;
    uint32_t end = 0;
    mica_result result = MICA_OK;
    for (uint32_t i = 0; result == MICA_OK && i < pool.slice_count; ++i)
        result = read_pool_slice(work, reader, &pool, &end);
    if (result == MICA_OK && !APPEND(work, pools, pool))
        result = refuse_memory(work);
    return result;
}

static mica_result read_tags(micap_delta_work *work, micap_reader *reader)
{
    uint64_t name_hash = micap_reader_take64(reader);
    micap_delta_tags tags = {.word_count = micap_reader_take32(reader)};
    tags.words = micap_reader_take(reader, (uint64_t)tags.word_count * 8);
    if (!tags.words)
        return refuse(work, reader, "tags are cut off");
    tags.type = find_type(work, name_hash, NULL);
    if (!tags.type)
        return micap_failure(work->world);
    if (!micap_is_pooled(tags.type->id) || tags.type->type.size_bytes)
        return refuse(work, reader, "a pool tag is of a component that is none");
    return APPEND(work, tags, tags) ? MICA_OK : refuse_memory(work);
}

static mica_result read_singleton(micap_delta_work *work, micap_reader *reader)
{
    uint64_t name_hash = micap_reader_take64(reader), layout_hash = micap_reader_take64(reader);
    if (reader->failed)
        return refuse(work, reader, "a singleton is cut off");
    micap_delta_value singleton = {.type = find_type(work, name_hash, &layout_hash)};
    if (!singleton.type)
        return micap_failure(work->world);
    const mica_type *layout = layout_of(work, singleton.type);
    singleton.value = micap_reader_take(reader, layout->size_bytes);
    turn_values(work, layout, singleton.value, 1);
    if (!singleton.value || singleton.type->type.storage != MICA_STORAGE_SINGLETON ||
        !values_hold(singleton.type, layout, singleton.value, 1))
        return refuse(work, reader, "a singleton is cut off, or has values that can't be");
    micap_delta_contents contents = {.type = singleton.type,
                                     .rule = rule_of(work, singleton.type),
                                     .layout = layout,
                                     .count = 1,
                                     .owner = MICAP_DELTA_OF_SINGLETON,
                                     .number = work->singletons_count};
    mica_result result = read_contents(work, reader, contents, &singleton.value);
    if (result != MICA_OK)
        return result;
    return APPEND(work, singletons, singleton) ? MICA_OK : refuse_memory(work);
}

static mica_result read_names(micap_delta_work *work, micap_reader *reader)
{
    uint32_t count = micap_reader_take32(reader);
    if (work->has_names)
        return refuse(work, reader, "names come twice");
    work->has_names = true;
    for (uint32_t i = 0; i < count; ++i) {
        const char *handles = micap_reader_take(reader, 2 * sizeof(mica_entity));
        turn_handles(work, handles, 2);
        micap_delta_name name = {.length = micap_reader_take32(reader)};
        name.text = micap_reader_take(reader, name.length);
        if (!name.text || !name.length || memchr(name.text, '/', name.length) || memchr(name.text, 0, name.length))
            return refuse(work, reader, "a name is cut off, or is none");
        name.entity = micap_handle_at(handles, 0);
        name.scope = micap_handle_at(handles, 1);
        if (!APPEND(work, names, name) ||
            !MICAP_RESERVE(&work->world->memory, work->name_text, &work->name_text_capacity, (uint64_t)name.length + 1))
            return refuse_memory(work);
    }
    return MICA_OK;
}

static mica_result read_links(micap_delta_work *work, micap_reader *reader)
{
    micap_delta_links links = {.page = micap_reader_take32(reader), .parent_count = micap_reader_take32(reader)};
    links.parents = reader->at;
    for (uint32_t i = 0; i < links.parent_count; ++i) {
        const char *parent = micap_reader_take(reader, sizeof(mica_entity));
        uint32_t child_count = micap_reader_take32(reader);
        const char *children = micap_reader_take(reader, (uint64_t)child_count * sizeof(mica_entity));
        turn_handles(work, parent, 1);
        turn_handles(work, children, child_count);
        if (reader->failed || micap_handle_at(parent, 0).index / MICAP_DELTA_LINK_PAGE != links.page)
            return refuse(work, reader, "links are cut off, or in the wrong page");
    }
    if (reader->failed)
        return refuse(work, reader, "links are cut off");
    return APPEND(work, links, links) ? MICA_OK : refuse_memory(work);
}

/* What records contain is checked when a world continues with them. */
static mica_result read_state(micap_delta_work *work, micap_reader *reader)
{
    uint32_t count = micap_reader_take32(reader);
    if (work->records_count || !count)
        return refuse(work, reader, "states come twice, or one has no records");
    for (uint32_t i = 0; i < count; ++i) {
        micap_delta_record record = {.kind = micap_reader_take32(reader)};
        uint32_t is_sent = micap_reader_take32(reader);
        record.byte_count = is_sent ? micap_reader_take32(reader) : 0;
        record.bytes = is_sent ? micap_reader_take(reader, record.byte_count) : NULL;
        if (reader->failed || is_sent > 1 || record.kind >= MICAP_STATE_KINDS ||
            (i && record.kind <= work->records[i - 1].kind))
            return refuse(work, reader, "a record of the state is cut off, or is none");
        if (!APPEND(work, records, record))
            return refuse_memory(work);
    }
    return MICA_OK;
}

static mica_result read_group(micap_delta_work *work, micap_reader *reader, uint32_t kind)
{
    switch (kind) {
    case MICAP_DELTA_TABLE: return read_table(work, reader);
    case MICAP_DELTA_POOL: return read_pool(work, reader);
    case MICAP_DELTA_TAGS: return read_tags(work, reader);
    case MICAP_DELTA_SINGLETON: return read_singleton(work, reader);
    case MICAP_DELTA_NAMES: return read_names(work, reader);
    case MICAP_DELTA_LINKS: return read_links(work, reader);
    case MICAP_DELTA_STATE: return read_state(work, reader);
    default: return refuse(work, reader, "there is a group of an unknown kind");
    }
}

static mica_result read_header(micap_delta_work *work, micap_reader *reader)
{
    const char *header = micap_reader_take(reader, MICAP_DELTA_HEADER_BYTES);
    if (!header || memcmp(header, MICAP_DELTA_MAGIC, 8) != 0)
        return refuse(work, reader, "this is not a delta");
    uint32_t mark;
    memcpy(&mark, header + 8, sizeof mark);
    micap_reader fields = {header, header + 12, header + MICAP_DELTA_HEADER_BYTES, false};
    uint32_t format = micap_reader_take32(&fields);
    work->base = micap_reader_take64(&fields);
    work->version = micap_reader_take64(&fields);
    size_t byte_count = (size_t)(reader->end - reader->begin);
    work->is_foreign = mark == MICAP_SWAP_BYTES_32(MICAP_DELTA_MARK);
    if (mark != MICAP_DELTA_MARK && !work->is_foreign)
        return refuse(work, reader, "its byte order is none");
    if (format != MICAP_DELTA_FORMAT)
        return refuse(work, reader, "it has another format: sender and receiver are of different versions");
    if (micap_reader_take64(&fields) != byte_count)
        return refuse(work, reader, "it is cut off, or too long");
    if (micap_reader_take64(&fields) != micap_delta_checksum(reader->begin, byte_count))
        return refuse(work, reader, "it is damaged: its checksum is another");
    if (!work->version || work->base > work->version)
        return refuse(work, reader, "its version is not later than its base");
    return MICA_OK;
}

mica_result micap_delta_read(micap_delta_work *work, const char *bytes, size_t byte_count)
{
    micap_reader reader = {bytes, bytes, bytes + byte_count, false};
    mica_result result = read_header(work, &reader);
    if (result == MICA_OK && work->is_foreign) {
        work->copy = micap_allocate(&work->world->memory, byte_count, MICAP_CACHE_LINE);
        if (!work->copy)
            return refuse_memory(work);
        work->copy_bytes = byte_count;
        bytes = memcpy(work->copy, bytes, byte_count);
        reader = (micap_reader){bytes, bytes + MICAP_DELTA_HEADER_BYTES, bytes + byte_count, false};
    }
    while (result == MICA_OK && micap_reader_left(&reader)) {
        uint32_t kind = micap_reader_take32(&reader), group_bytes = micap_reader_take32(&reader);
        const char *content = micap_reader_take(&reader, group_bytes);
        if (!content)
            return refuse(work, &reader, "a group is cut off");
        micap_reader group = {bytes, content, content + group_bytes, false};
        result = read_group(work, &group, kind);
        if (result == MICA_OK && micap_reader_left(&group))
            result = refuse(work, &group, "a group is longer than what is in it");
    }
    return result;
}

void micap_delta_work_free(micap_delta_work *work)
{
    micap_memory *memory = &work->world->memory;
    micap_rules_free(work);
    micap_release(memory, work->copy, work->copy_bytes, MICAP_CACHE_LINE);
    for (uint32_t i = 0; i < work->tables_count; ++i) {
        MICAP_RELEASE_ARRAY(memory, work->tables[i].rows, work->tables[i].capacity);
        MICAP_RELEASE_ARRAY(memory, work->tables[i].locals, work->tables[i].local_capacity);
    }
    for (uint32_t i = 0; i < work->pools_count; ++i) {
        MICAP_RELEASE_ARRAY(memory, work->pools[i].rows, work->pools[i].capacity);
        MICAP_RELEASE_ARRAY(memory, work->pools[i].next, work->pools[i].next_capacity);
        MICAP_RELEASE_ARRAY(memory, work->pools[i].places, work->pools[i].place_capacity);
    }
    for (uint32_t i = 0; i < work->contents_count; ++i) {
        const micap_delta_contents *contents = &work->contents[i];
        micap_contents_clear(contents->layout, contents->values, contents->count);
        micap_release(memory, contents->values, (size_t)contents->layout->size_bytes * contents->count,
                      alignment_of(contents->layout));
    }
    MICAP_RELEASE_ARRAY(memory, work->contents, work->contents_capacity);
    MICAP_RELEASE_ARRAY(memory, work->columns, work->columns_capacity);
    MICAP_RELEASE_ARRAY(memory, work->slices, work->slices_capacity);
    MICAP_RELEASE_ARRAY(memory, work->tables, work->tables_capacity);
    MICAP_RELEASE_ARRAY(memory, work->pools, work->pools_capacity);
    MICAP_RELEASE_ARRAY(memory, work->tags, work->tags_capacity);
    MICAP_RELEASE_ARRAY(memory, work->singletons, work->singletons_capacity);
    MICAP_RELEASE_ARRAY(memory, work->names, work->names_capacity);
    MICAP_RELEASE_ARRAY(memory, work->name_text, work->name_text_capacity);
    MICAP_RELEASE_ARRAY(memory, work->links, work->links_capacity);
    MICAP_RELEASE_ARRAY(memory, work->records, work->records_capacity);
    MICAP_RELEASE_ARRAY(memory, work->state.data, work->state.capacity);
    MICAP_RELEASE_ARRAY(memory, work->deaths, work->deaths_capacity);
    MICAP_RELEASE_ARRAY(memory, work->changes, work->changes_capacity);
}
