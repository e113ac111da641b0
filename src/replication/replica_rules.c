#include "replication/replica_rules.h"

#include "core/storage/pool_lookup.h"
#include "core/storage/rows.h"
#include "core/world/report.h"
#include "replication/delta_fields.h"
#include "type/value_bytes.h"
#include "type/values.h"

/* Of arrays of values. */
static uint32_t alignment_of(const micap_type *type)
{
    return type->type.alignment > MICAP_CACHE_LINE ? type->type.alignment : MICAP_CACHE_LINE;
}

static mica_result refuse_memory(const micap_delta_work *work)
{
    return micap_fail_memory(work->world, "delta");
}

static micap_delta_defaults *find_defaults(const micap_delta_work *work, const micap_type *type)
{
    for (uint32_t i = 0; i < work->defaults_count; ++i)
        if (work->defaults[i].type == type)
            return &work->defaults[i];
    return NULL;
}

bool micap_rules_want(micap_delta_work *work, const micap_type *type, uint64_t count)
{
    if (!count || !micap_delta_has_functions(type))
        return true;
    micap_delta_defaults *defaults = find_defaults(work, type);
    if (!defaults) {
        if (!MICAP_RESERVE(&work->world->memory, work->defaults, &work->defaults_capacity,
                           (uint64_t)work->defaults_count + 1))
            return false;
        defaults = &work->defaults[work->defaults_count++];
        *defaults = (micap_delta_defaults){.type = type};
    }
    defaults->count += (uint32_t)count;
    return true;
}

/* The columns of a row that are raw, and belong to a component with functions. */
static bool is_raw(const micap_archetype *from, const micap_column *column)
{
    return !column->companion && micap_delta_has_functions(column->type) &&
           !(from && micap_archetype_has(from, column->component));
}

static bool want_for_rows(micap_delta_work *work)
{
    bool fine = true;
    for (uint32_t i = 0; i < work->changes_count; ++i) {
        const micap_delta_change *change = &work->changes[i];
        for (uint32_t j = 0; change->to && change->to != change->from && j < change->to->column_count; ++j)
            if (is_raw(change->from, &change->to->columns[j]))
                fine = fine && micap_rules_want(work, change->to->columns[j].type, 1);
    }
    return fine;
}

/* Singletons that the sender may not use any more. */
static bool want_for_singletons(micap_delta_work *work)
{
    const mica_replica *replica = work->replica;
    bool fine = true;
    for (uint32_t i = 0; !work->base && i < replica->singletons_count; ++i)
        fine = fine && micap_rules_want(work, micap_type_of(replica->singletons[i]), 1);
    return fine;
}

static char *make_values(mica_world *world, const micap_type *type, uint32_t count)
{
    size_t bytes = (size_t)type->type.size_bytes * count;
    char *values = micap_allocate(&world->memory, bytes, alignment_of(type));
    if (values && micap_values_construct(type, values, count))
        return values;
    if (values)
        micap_release(&world->memory, values, bytes, alignment_of(type));
    return NULL;
}

static void free_values(mica_world *world, const micap_type *type, char *values, uint32_t count, uint32_t living)
{
    if (!values)
        return;
    micap_values_destruct(type, values, living);
    micap_release(&world->memory, values, (size_t)type->type.size_bytes * count, alignment_of(type));
}

static bool make_defaults(micap_delta_work *work)
{
    for (uint32_t i = 0; i < work->defaults_count; ++i) {
        micap_delta_defaults *defaults = &work->defaults[i];
        defaults->values = make_values(work->world, defaults->type, defaults->count);
        if (!defaults->values)
            return false;
        defaults->left = defaults->count;
    }
    return true;
}

/* The sender's entity that a value belongs to. */
static mica_entity sender_of(const micap_delta_work *work, const micap_delta_contents *contents, uint32_t at)
{
    const mica_replica *replica = work->replica;
    if (contents->owner == MICAP_DELTA_OF_SINGLETON)
        return mica_nil();
    const micap_delta_slice *slice = &work->slices[contents->slice];
    bool is_pool = contents->owner == MICAP_DELTA_OF_POOL;
    const micap_delta_table *table = is_pool ? &work->pools[contents->number] : &work->tables[contents->number];
    if (slice->owners)
        return micap_handle_at(slice->owners, at);
    if (table->is_direct) {
        const mica_pool *pool = micap_pool_of(work->world, table->type->id);
        MICAP_ASSERT(pool, "a delta names components that the world uses");
        const micap_twin *twin = micap_entity_map_at(&replica->twins, slice->row + at);
        return twin && micap_pool_row(pool, twin->other) != MICAP_ROW_NONE ? twin->key : mica_nil();
    }
    const micap_replica_table *known = is_pool ? &replica->pools[table->location] : &replica->tables[table->location];
    return table->is_moved ? table->rows[slice->row + at] : known->rows[slice->row + at];
}

/* The entity here, as it will be once the delta is applied: those that die are marked, and those that begin to exist with one more. */
static mica_entity local_of(const micap_delta_work *work, mica_entity sender)
{
    const mica_replica *replica = work->replica;
    const micap_twin *twin = micap_entity_map_find(&replica->twins, sender);
    if (!twin || twin->mark == replica->mark - 1)
        return mica_nil();
    return twin->mark == replica->mark || micap_is_row(micap_locate(work->world, twin->other)) ? twin->other
                                                                                               : mica_nil();
}

static void mark_entities(micap_delta_work *work)
{
    mica_replica *replica = work->replica;
    replica->mark += 2;
    for (uint32_t i = 0; i < work->deaths_count; ++i)
        micap_entity_map_find(&replica->twins, work->deaths[i])->mark = replica->mark - 1;
    for (uint32_t i = 0; i < work->twins_added; ++i)
        micap_entity_map_find(&replica->twins, work->changes[i].sender)->mark = replica->mark;
}

static bool translate(void *at, void *context)
{
    mica_entity entity = local_of(context, micap_handle_at(at, 0));
    memcpy(at, &entity, sizeof entity);
    return true;
}

static void translate_all(micap_delta_work *work, const micap_delta_contents *contents)
{
    for (uint32_t i = 0; work->replica->mapped && i < contents->count; ++i) {
        char *value = contents->values + (size_t)i * contents->layout->size_bytes;
        micap_delta_visit_entities(contents->layout, value, translate, work);
        if (micap_contents_exist(contents->layout))
            micap_contents_visit(contents->layout, value, MICA_KIND_ENTITY, false, translate, work);
    }
}

/* Without a spawn function: described fields over a default value. The text and lists are moved. */
static void copy_fields(const micap_delta_contents *contents)
{
    const mica_type *type = &contents->type->type;
    for (uint32_t i = 0; i < contents->count; ++i) {
        char *to = contents->made + (size_t)i * type->size_bytes,
             *from = contents->values + (size_t)i * type->size_bytes;
        micap_contents_clear(type, to, 1);
        micap_delta_copy_fields(type, to, from);
        micap_contents_omit(type, from);
    }
}

/* Calls the spawn function for runs of rows that belong to entities. */
static mica_result spawn(micap_delta_work *work, const micap_delta_contents *contents, mica_entity *locals)
{
    const mica_resource_rule *rule = contents->rule;
    bool is_singleton = contents->owner == MICAP_DELTA_OF_SINGLETON;
    for (uint32_t i = 0; i < contents->count; ++i)
        locals[i] = local_of(work, sender_of(work, contents, i));
    for (uint32_t begin = 0, end; begin < contents->count; begin = end) {
        bool is_used = is_singleton || !mica_is_nil(locals[begin]);
        for (end = begin + 1; end < contents->count && (is_singleton || !mica_is_nil(locals[end])) == is_used;)
            ++end;
        mica_spawn_run run = {.world = work->world,
                              .component = contents->type->id,
                              .count = end - begin,
                              .entities = locals + begin,
                              .instances = contents->values + (size_t)begin * contents->layout->size_bytes,
                              .values = contents->made + (size_t)begin * contents->type->type.size_bytes};
        if (is_used && !rule->spawn(&run, rule->context))
            return micap_fail(work->world, MICA_ERROR_DATA, (mica_location){0},
                              "delta: the spawn function of component %s refused", contents->type->type.name);
    }
    return MICA_OK;
}

/* Makes the values of one column of a slice, or of a singleton. */
static mica_result make_by_rule(micap_delta_work *work, micap_delta_contents *contents)
{
    mica_world *world = work->world;
    contents->made = make_values(world, contents->type, contents->count);
    if (!contents->made)
        return refuse_memory(work);
    if (contents->owner == MICAP_DELTA_OF_POOL)
        work->slices[contents->slice].values = contents->made;
    else if (contents->owner == MICAP_DELTA_OF_SINGLETON)
        work->singletons[contents->number].value = contents->made;
    translate_all(work, contents);
    if (!contents->rule->spawn) {
        copy_fields(contents);
        return MICA_OK;
    }
    mica_entity *locals = micap_allocate(&world->memory, contents->count * sizeof *locals, MICAP_ARRAY_ALIGNMENT);
    if (!locals)
        return refuse_memory(work);
    mica_result result = spawn(work, contents, locals);
    micap_release(&world->memory, locals, contents->count * sizeof *locals, MICAP_ARRAY_ALIGNMENT);
    return result;
}

static bool make_spare(micap_delta_work *work)
{
    for (uint32_t i = 0; i < work->contents_count; ++i)
        if (work->contents[i].rule && work->spare_bytes < work->contents[i].type->type.size_bytes)
            work->spare_bytes = work->contents[i].type->type.size_bytes;
    if (work->spare_bytes)
        work->spare = micap_allocate(&work->world->memory, work->spare_bytes, MICA_COMPONENT_ALIGNMENT_MAX);
    return work->spare || !work->spare_bytes;
}

mica_result micap_rules_plan(micap_delta_work *work)
{
    mica_result result = MICA_OK;
    if (!work->replica->rules.count)
        return result;
    if (!want_for_rows(work) || !want_for_singletons(work) || !make_defaults(work) || !make_spare(work))
        return refuse_memory(work);
    mark_entities(work);
    for (uint32_t i = 0; result == MICA_OK && i < work->contents_count; ++i)
        if (work->contents[i].rule)
            result = make_by_rule(work, &work->contents[i]);
    return result;
}

void *micap_rules_default(micap_delta_work *work, const micap_type *type)
{
    micap_delta_defaults *defaults = find_defaults(work, type);
    MICAP_ASSERT(defaults && defaults->left, "as many were made as are needed");
    return defaults->values + (size_t)--defaults->left * type->type.size_bytes;
}

void micap_rules_fill(micap_delta_work *work, const micap_archetype *from, micap_row spot)
{
    const micap_archetype *archetype = spot.chunk->archetype;
    for (uint32_t i = 0; work->defaults_count && i < archetype->column_count; ++i)
        if (is_raw(from, &archetype->columns[i])) {
            const micap_type *type = archetype->columns[i].type;
            micap_values_move(type, micap_chunk_value(spot.chunk, i, spot.row), micap_rules_default(work, type), 1);
        }
}

void micap_rules_write(const micap_delta_work *work, const micap_type *type, void *to, void *from)
{
    micap_values_move(type, work->spare, to, 1);
    micap_values_move(type, to, from, 1);
    micap_values_move(type, from, work->spare, 1);
}

void micap_rules_free(micap_delta_work *work)
{
    mica_world *world = work->world;
    for (uint32_t i = 0; i < work->contents_count; ++i) {
        const micap_delta_contents *contents = &work->contents[i];
        free_values(world, contents->type, contents->made, contents->count, contents->count);
    }
    for (uint32_t i = 0; i < work->defaults_count; ++i) {
        const micap_delta_defaults *defaults = &work->defaults[i];
        free_values(world, defaults->type, defaults->values, defaults->count, defaults->left);
    }
    if (work->spare)
        micap_release(&world->memory, work->spare, work->spare_bytes, MICA_COMPONENT_ALIGNMENT_MAX);
    MICAP_RELEASE_ARRAY(&world->memory, work->defaults, work->defaults_capacity);
}
