#include "core/entity/required.h"

#include "core/entity/pool_create.h"
#include "core/events/hooks.h"
#include "core/storage/archetype_graph.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/rivals.h"
#include "core/storage/split_row.h"
#include "core/world/report.h"

static bool is_given(const mica_value *values, uint32_t count, mica_component component)
{
    for (uint32_t i = 0; i < count; ++i)
        if (values[i].component == component)
            return true;
    return false;
}

bool micap_values_lack_required(const mica_value *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const micap_type *type = micap_type_of(values[i].component);
        for (uint32_t k = 0; type && k < type->required_count; ++k)
            if (!is_given(values, count, type->required[k]))
                return true;
    }
    return false;
}

/* Room for values that may have to be added. */
static bool begin_complete(mica_world *world, micap_complete *out, uint64_t capacity)
{
    *out = (micap_complete){.values = out->small, .capacity = (uint32_t)capacity};
    if (capacity <= sizeof out->small / sizeof *out->small)
        return true;
    out->memory = micap_allocate(&world->memory, capacity * sizeof *out->memory, MICAP_ARRAY_ALIGNMENT);
    out->values = out->memory;
    if (out->memory)
        return true;
    micap_fail_memory(world, "required components");
    return false;
}

static void append(micap_complete *out, mica_value value)
{
    (out->memory ? out->memory : out->small)[out->count++] = value;
}

bool micap_values_complete(mica_world *world, const mica_value *values, uint32_t count, micap_complete *out)
{
    uint64_t capacity = count;
    for (uint32_t i = 0; i < count; ++i) {
        const micap_type *type = micap_type_of(values[i].component);
        capacity += type ? type->required_count : 0;
    }
    if (!begin_complete(world, out, capacity))
        return false;
    for (uint32_t i = 0; i < count; ++i)
        append(out, values[i]);
    for (uint32_t i = 0; i < count; ++i) {
        const micap_type *type = micap_type_of(values[i].component);
        for (uint32_t k = 0; type && k < type->required_count; ++k)
            if (!is_given(out->values, out->count, type->required[k]))
                append(out, (mica_value){.component = type->required[k]});
    }
    return true;
}

void micap_complete_free(mica_world *world, const micap_complete *complete)
{
    micap_release(&world->memory, complete->memory, complete->capacity * sizeof *complete->memory,
                  MICAP_ARRAY_ALIGNMENT);
}

/* Lists what goes to pools: the component itself, and required components that the entity lacks. */
static bool list_pooled(mica_world *world, mica_entity entity, const micap_type *type, const void *from,
                        micap_complete *out)
{
    if (!begin_complete(world, out, (uint64_t)type->required_count + 1))
        return false;
    for (uint32_t i = 0; i < type->required_count; ++i) {
        if (!micap_is_pooled(type->required[i]))
            continue;
        const mica_pool *pool = micap_pool_of(world, type->required[i]);
        MICAP_ASSERT(pool, "a world that uses a component uses what it requires");
        if (micap_pool_row(pool, entity) == MICAP_ROW_NONE)
            append(out, (mica_value){.component = type->required[i]});
    }
    if (micap_is_pooled(type->id))
        append(out, (mica_value){.component = type->id, .data = from});
    return true;
}

/* Destroys the values of the first new columns of a row that does not exist yet. */
static void unmake_columns(const micap_archetype *from, micap_row next, uint32_t count)
{
    const micap_archetype *to = next.chunk->archetype;
    for (uint32_t i = 0; i < count; ++i)
        if (to->columns[i].companion == MICAP_COMPANION_NONE && !micap_archetype_has(from, to->columns[i].component))
            micap_values_destruct(to->columns[i].type, micap_chunk_value(next.chunk, i, next.row), 1);
}

/* Makes the values of the columns that an archetype lacks, in a row that does not exist yet. */
static bool make_columns(mica_world *world, const micap_archetype *from, micap_row next, mica_component component,
                         const void *value)
{
    const micap_archetype *to = next.chunk->archetype;
    for (uint32_t i = 0; i < to->column_count; ++i) {
        const micap_column *column = &to->columns[i];
        if (column->companion != MICAP_COMPANION_NONE || micap_archetype_has(from, column->component))
            continue;
        void *place = micap_chunk_value(next.chunk, i, next.row);
        if (value && column->component == component ? micap_values_copy(column->type, place, value, 1)
                                                    : micap_values_construct(column->type, place, 1))
            continue;
        unmake_columns(from, next, i);
        return micap_fail_value(world, column->type);
    }
    return true;
}

/* Fills the columns of split components that are new. */
static void scatter_columns(const micap_archetype *from, micap_row spot, const micap_type *type, const void *value)
{
    for (uint32_t i = 0; i < type->required_count; ++i) {
        const micap_type *required = micap_type_of(type->required[i]);
        if (required->leaves && !micap_is_pooled(required->id) && !micap_archetype_has(from, required->id))
            micap_row_scatter(spot, required, NULL);
    }
    if (type->leaves && !micap_is_pooled(type->id))
        micap_row_scatter(spot, type, value);
}

bool micap_add_required(mica_world *world, mica_entity entity, const micap_type *type, const void *from)
{
    micap_row spot = micap_locate(world, entity);
    micap_archetype *before = spot.chunk->archetype;
    const micap_edge *edge = micap_archetype_step(world, before, type->id);
    micap_complete pooled;
    if (!edge || (world->components.meets_pools && !micap_entity_accepts_all(world, entity, type)) ||
        !list_pooled(world, entity, type, from, &pooled))
        return false;
    micap_archetype *to = edge->end;
    micap_creation what = {to, pooled.values, pooled.count, 1};
    bool moves = to != before, done = !moves || micap_rows_reserve_one(world, to);
    micap_row next = {0};
    if (!done)
        micap_fail_memory(world, "add");
    if (done && moves) {
        next = micap_rows_next(to);
        done = make_columns(world, before, next, type->id, from);
    }
    if (done && pooled.count && !micap_pooled_create(world, &what, &entity, 1)) {
        if (moves)
            unmake_columns(before, next, to->column_count);
        done = false;
    }
    if (done && moves) {
        next = micap_row_change_archetype(world, spot, to);
        scatter_columns(before, next, type, from);
        ++world->structure;
        micap_hooks_added(world, before, next, 1);
    }
    if (done)
        micap_pooled_created(world, pooled.values, pooled.count, &entity, 1);
    micap_complete_free(world, &pooled);
    return done;
}
