#include "core/storage/column_table.h"

#include "base/bits.h"
#include "core/storage/rows.h"
#include "core/world/world.h"

/* The table takes at most this much, or a thirty-second of what the chunks take. Components that are used later have no list then. */
enum { TABLE_BYTES_MAX = 1 << 20, CHUNKS_SHARE = 32, CAPACITY_MIN = 64 };

static char ***lists_of(const mica_world *world)
{
    return (char ***)(uintptr_t)world->lookup.columns;
}

static char **no_columns_of(const mica_world *world)
{
    return (char **)(uintptr_t)world->lookup.no_columns;
}

static size_t list_bytes(uint32_t capacity)
{
    return capacity * (sizeof(char *) + sizeof(uint16_t));
}

static uint16_t *numbers_of(char **list, uint32_t capacity)
{
    return (uint16_t *)(void *)(list + capacity);
}

/* A list of NULL; NULL when memory is short. */
static char **create_list(mica_world *world, uint32_t capacity)
{
    return micap_allocate_zeroed(&world->memory, list_bytes(capacity), MICAP_ARRAY_ALIGNMENT);
}

static void free_list(mica_world *world, char **list, uint32_t capacity)
{
    micap_release(&world->memory, list, list_bytes(capacity), MICAP_ARRAY_ALIGNMENT);
}

static bool has_room(const mica_world *world, uint32_t capacity)
{
    size_t limit = world->chunks.bytes / CHUNKS_SHARE;
    return (world->chunks.list_count + (size_t)1) * list_bytes(capacity) <=
           (limit > TABLE_BYTES_MAX ? limit : TABLE_BYTES_MAX);
}

/* A longer copy of a list; the list of NULL when there is no room. */
static char **grow_list(mica_world *world, char **list, uint32_t before, uint32_t capacity, char **none)
{
    char **grown = has_room(world, capacity) ? create_list(world, capacity) : NULL;
    if (grown) {
        memcpy(grown, list, before * sizeof *list);
        memcpy(numbers_of(grown, capacity), numbers_of(list, before), before * sizeof(uint16_t));
        ++world->chunks.list_count;
    }
    free_list(world, list, before);
    return grown ? grown : none;
}

bool micap_column_table_reserve(mica_world *world, uint32_t count)
{
    mica_private_lookup *lookup = &world->lookup;
    uint32_t before = (uint32_t)lookup->chunk_capacity;
    if (count <= before)
        return true;
    uint32_t capacity = (uint32_t)micap_power_of_two_at_least(count < CAPACITY_MIN ? CAPACITY_MIN : count);
    char **none = create_list(world, capacity), **old = no_columns_of(world);
    if (!none)
        return false;
    world->chunks.list_count = 0;
    for (uint32_t i = 0; i < lookup->component_count; ++i) {
        char **list = lists_of(world)[i];
        lists_of(world)[i] = list == old ? none : grow_list(world, list, before, capacity, none);
    }
    free_list(world, old, before);
    lookup->no_columns = none;
    lookup->chunk_capacity = capacity;
    return true;
}

void micap_column_table_free(mica_world *world)
{
    mica_private_lookup *lookup = &world->lookup;
    char **none = no_columns_of(world);
    for (uint32_t i = 0; i < lookup->component_count; ++i)
        if (lists_of(world)[i] != none)
            free_list(world, lists_of(world)[i], (uint32_t)lookup->chunk_capacity);
    free_list(world, none, (uint32_t)lookup->chunk_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, lists_of(world), lookup->component_count);
}

/* Makes sure that there is an entry for a component; false when memory is short. */
static bool reserve_component(mica_world *world, mica_component component)
{
    mica_private_lookup *lookup = &world->lookup;
    char ***lists = lists_of(world);
    uint32_t capacity = (uint32_t)lookup->component_count;
    if (component < capacity)
        return true;
    if (!MICAP_RESERVE(&world->memory, lists, &capacity, (uint64_t)component + 1))
        return false;
    for (uint32_t i = (uint32_t)lookup->component_count; i < capacity; ++i)
        lists[i] = no_columns_of(world);
    lookup->columns = (char *const *const *)lists;
    lookup->component_count = capacity;
    return true;
}

static bool has_entries(mica_component component)
{
    const micap_type *type = micap_type_of(component);
    return type->companion == MICAP_COMPANION_NONE && !type->leaves;
}

/* The entry of a component that the chunk has. */
static char *entry_of(const micap_chunk *chunk, uint32_t column)
{
    return column == MICAP_COLUMN_TAG ? &micap_tag_value : micap_chunk_column(chunk, column);
}

/* Enters a component of a chunk; the list is its own. */
static void enter(mica_world *world, char **list, const micap_chunk *chunk, mica_component component)
{
    uint32_t column = micap_archetype_column(chunk->archetype, component);
    if (column == MICAP_COLUMN_NONE)
        return;
    list[chunk->number] = entry_of(chunk, column);
    numbers_of(list, (uint32_t)world->lookup.chunk_capacity)[chunk->number] = (uint16_t)column;
}

/* A list with the entries of all chunks; NULL when there is no room for it. */
static char **create_filled_list(mica_world *world, mica_component component)
{
    const micap_chunks *chunks = &world->chunks;
    uint32_t capacity = (uint32_t)world->lookup.chunk_capacity;
    char **list = has_room(world, capacity) ? create_list(world, capacity) : NULL;
    if (!list)
        return NULL;
    ++world->chunks.list_count;
    for (uint32_t number = MICAP_CHUNK_PENDING + 1; number < chunks->limit; ++number)
        if (!((uintptr_t)chunks->by_number[number] & 1)) /* else it links free numbers */
            enter(world, list, chunks->by_number[number], component);
    return list;
}

void micap_column_table_add(mica_world *world, const micap_chunk *chunk)
{
    const micap_archetype *archetype = chunk->archetype;
    for (uint32_t i = 0; i < archetype->component_count; ++i) {
        mica_component component = archetype->components[i];
        if (!has_entries(component) || !reserve_component(world, component))
            continue;
        char ***list = &lists_of(world)[component];
        if (*list != world->lookup.no_columns) {
            enter(world, *list, chunk, component);
        } else {
            char **fresh = create_filled_list(world, component);
            *list = fresh ? fresh : *list;
        }
    }
}

void micap_column_table_remove(mica_world *world, const micap_chunk *chunk)
{
    ++world->lookup.chunk_epoch;
    const micap_archetype *archetype = chunk->archetype;
    for (uint32_t i = 0; i < archetype->component_count; ++i) {
        mica_component component = archetype->components[i];
        if (component < world->lookup.component_count && lists_of(world)[component] != world->lookup.no_columns)
            lists_of(world)[component][chunk->number] = NULL;
    }
}

bool micap_column_table_is_right(const mica_world *world, const micap_chunk *chunk)
{
    const mica_private_lookup *lookup = &world->lookup;
    for (mica_component component = 0; component < lookup->component_count; ++component) {
        char **list = lists_of(world)[component];
        uint32_t column = micap_archetype_column(chunk->archetype, component);
        bool is_entered = column != MICAP_COLUMN_NONE && list != lookup->no_columns;
        char *entry = is_entered ? entry_of(chunk, column) : NULL;
        if (list[chunk->number] != entry ||
            (is_entered && numbers_of(list, (uint32_t)lookup->chunk_capacity)[chunk->number] != column))
            return false;
    }
    return true;
}

uint32_t micap_column_table_count_lists(const mica_world *world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->lookup.component_count; ++i)
        count += lists_of(world)[i] != world->lookup.no_columns;
    return count;
}
