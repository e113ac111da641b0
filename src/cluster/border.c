#include "cluster/border.h"

#include "base/assert.h"
#include "base/hash.h"
#include "cluster/exchange.h"
#include "mica/component.h"

/* What a neighbour is to others: its coordinates as its component has them, then what the table has. Parts of it are numbered: coordinates,
 * the word that says which components there are, then components. */
enum { PART_COORDINATES, PART_PRESENT, PART_COMPONENTS };
#define IS_REMOVED ((uint64_t)1 << 63) /* instead of parts; 0 in a parcel */

typedef struct listed {
    uint64_t identity;
    mica_entity entity; /* of this rank; nil in lists of what is received */
} listed;

/* Neighbours in an order that sender and receiver have in common: by the step in which they came. */
typedef struct neighbour_list {
    listed *list;
    char *payloads;
    uint32_t count, capacity, payload_capacity;
} neighbour_list;

/* With one other rank. */
typedef struct border {
    neighbour_list sent, received;
} border;

/* An entity that others need. */
typedef struct border_row {
    mica_entity entity;
    uint64_t identity;
    uint32_t cell;
    uint32_t first_mark; /* for each rank that needs it: whether that has it already */
} border_row;

struct micap_borders {
    border *borders; /* by the number of the parcel for the rank */
    uint32_t count, capacity;
    uint32_t coordinate_bytes, payload_bytes;
    border_row *rows;
    char *payloads;
    uint8_t *marks;
    uint32_t row_count, row_capacity, payload_capacity, mark_count, mark_capacity;
    uint32_t *row_of_index; /* by the index of an entity: 1 + its row; 0: none */
    uint32_t row_of_index_capacity;
    uint64_t *changes; /* of a list: the parts that changed */
    uint32_t change_capacity;
};

static void fail_memory(mica_cluster *cluster)
{
    micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for neighbours");
}

static bool open_borders(mica_cluster *cluster)
{
    if (cluster->borders)
        return true;
    struct micap_borders *state = micap_allocate_zeroed(&cluster->memory, sizeof *state, MICAP_ARRAY_ALIGNMENT);
    if (!state)
        return false;
    for (uint32_t axis = 0; axis < cluster->space.axis_count; ++axis)
        state->coordinate_bytes += cluster->coordinates[axis].bytes;
    state->payload_bytes = state->coordinate_bytes + cluster->table.layout.row_bytes;
    cluster->borders = state;
    return true;
}

/* The bytes of a component with text or lists, of a neighbour that was received. In what is sent, a hash of them is in its place. */
typedef struct rich_bytes {
    uint32_t count;
    char bytes[];
} rich_bytes;

static rich_bytes *rich_of(const char *slot)
{
    rich_bytes *rich;
    memcpy(&rich, slot, sizeof rich);
    return rich;
}

/* Replaces the bytes of a component. False if memory is short: then it has none. */
static bool keep_rich(micap_memory *memory, char *slot, const char *bytes, uint32_t count)
{
    rich_bytes *rich = rich_of(slot);
    if (rich)
        micap_release(memory, rich, sizeof *rich + rich->count, MICAP_ARRAY_ALIGNMENT);
    rich = bytes ? micap_allocate(memory, sizeof *rich + count, MICAP_ARRAY_ALIGNMENT) : NULL;
    if (rich) {
        rich->count = count;
        memcpy(rich->bytes, bytes, count);
    }
    memcpy(slot, &rich, sizeof rich);
    return rich != NULL;
}

/* Of a neighbour that was received. */
static void release_rich(mica_cluster *cluster, char *payload)
{
    const micap_ghost_layout *layout = &cluster->table.layout;
    for (uint32_t i = 0; layout->rich && i < layout->count; ++i)
        if (layout->rich >> i & 1)
            keep_rich(&cluster->memory, payload + cluster->borders->coordinate_bytes + layout->offsets[i], NULL, 0);
}

static void free_list(micap_memory *memory, neighbour_list *list)
{
    MICAP_RELEASE_ARRAY(memory, list->list, list->capacity);
    MICAP_RELEASE_ARRAY(memory, list->payloads, list->payload_capacity);
}

void micap_border_free(mica_cluster *cluster)
{
    struct micap_borders *state = cluster->borders;
    if (!state)
        return;
    micap_memory *memory = &cluster->memory;
    for (uint32_t i = 0; i < state->count; ++i) {
        neighbour_list *received = &state->borders[i].received;
        for (uint32_t k = 0; k < received->count; ++k)
            release_rich(cluster, received->payloads + (size_t)k * state->payload_bytes);
        free_list(memory, &state->borders[i].sent);
        free_list(memory, &state->borders[i].received);
    }
    MICAP_RELEASE_ARRAY(memory, state->borders, state->capacity);
    MICAP_RELEASE_ARRAY(memory, state->rows, state->row_capacity);
    MICAP_RELEASE_ARRAY(memory, state->payloads, state->payload_capacity);
    MICAP_RELEASE_ARRAY(memory, state->marks, state->mark_capacity);
    MICAP_RELEASE_ARRAY(memory, state->row_of_index, state->row_of_index_capacity);
    MICAP_RELEASE_ARRAY(memory, state->changes, state->change_capacity);
    micap_release(memory, state, sizeof *state, MICAP_ARRAY_ALIGNMENT);
    cluster->borders = NULL;
}

/* The border with a rank; NULL if memory is short. */
static border *border_with(mica_cluster *cluster, uint32_t rank)
{
    struct micap_borders *state = cluster->borders;
    uint32_t number = micap_exchange_parcel_number(cluster, rank), before = state->capacity;
    if (!number || !MICAP_RESERVE(&cluster->memory, state->borders, &state->capacity, number)) {
        fail_memory(cluster);
        return NULL;
    }
    memset(state->borders + before, 0, (state->capacity - before) * sizeof *state->borders);
    state->count = state->count < number ? number : state->count;
    return &state->borders[number - 1];
}

/* Adds a neighbour; returns its payload, zeroed, or NULL if memory is short. */
static char *append(mica_cluster *cluster, neighbour_list *list, mica_entity entity, uint64_t identity)
{
    uint32_t bytes = cluster->borders->payload_bytes;
    uint64_t needed = ((uint64_t)list->count + 1) * bytes;
    if (!MICAP_RESERVE(&cluster->memory, list->list, &list->capacity, (uint64_t)list->count + 1) ||
        !MICAP_RESERVE(&cluster->memory, list->payloads, &list->payload_capacity, needed)) {
        fail_memory(cluster);
        return NULL;
    }
    MICAP_ASSERT(list->list && list->payloads, "there is room for one more");
    list->list[list->count] = (listed){identity, entity};
    return memset(list->payloads + (size_t)list->count++ * bytes, 0, bytes);
}

/* Closes the places of those that were removed; the others keep their order. */
static void close_gaps(const struct micap_borders *state, neighbour_list *list)
{
    uint32_t kept = 0, bytes = state->payload_bytes;
    for (uint32_t i = 0; i < list->count; ++i) {
        if (state->changes[i] & IS_REMOVED)
            continue;
        if (kept != i) {
            list->list[kept] = list->list[i];
            memcpy(list->payloads + (size_t)kept * bytes, list->payloads + (size_t)i * bytes, bytes);
        }
        ++kept;
    }
    list->count = kept;
}

/* ---- payloads */

static uint64_t present_of(const struct micap_borders *state, const char *payload)
{
    uint64_t present;
    memcpy(&present, payload + state->coordinate_bytes, sizeof present);
    return present;
}

/* The parts in which two payloads differ. What a component that is not there has as bytes does not count. */
static uint64_t compare_payloads(const mica_cluster *cluster, const char *old, const char *new)
{
    const struct micap_borders *state = cluster->borders;
    const micap_ghost_layout *layout = &cluster->table.layout;
    if (!memcmp(old, new, state->payload_bytes))
        return 0;
    uint64_t present = present_of(state, new), before = present_of(state, old), parts = 0;
    parts |= (uint64_t)(memcmp(old, new, state->coordinate_bytes) != 0) << PART_COORDINATES;
    parts |= (uint64_t)(present != before) << PART_PRESENT;
    parts |= (present & ~before) << PART_COMPONENTS; /* the receiver may have old bytes of it */
    for (uint32_t i = 0; i < layout->count; ++i) {
        uint32_t offset = state->coordinate_bytes + layout->offsets[i];
        if (present >> i & 1)
            parts |= (uint64_t)(memcmp(old + offset, new + offset, layout->sizes[i]) != 0) << (PART_COMPONENTS + i);
    }
    return parts;
}

static void put_payload(mica_cluster *cluster, micap_bytes *bytes, uint64_t parts, mica_entity entity,
                        const char *payload)
{
    const struct micap_borders *state = cluster->borders;
    const micap_ghost_layout *layout = &cluster->table.layout;
    if (parts >> PART_COORDINATES & 1)
        micap_bytes_put(bytes, payload, state->coordinate_bytes);
    if (parts >> PART_PRESENT & 1)
        micap_bytes_put_number(bytes, present_of(state, payload));
    for (uint32_t i = 0; i < layout->count; ++i)
        if (parts >> (PART_COMPONENTS + i) & 1 & ~(layout->rich >> i))
            micap_bytes_put(bytes, payload + state->coordinate_bytes + layout->offsets[i], layout->sizes[i]);
        else if (parts >> (PART_COMPONENTS + i) & 1)
            micap_codec_put_value(&cluster->codec, bytes, mica_component_type(layout->components[i]),
                                  mica_get_id(cluster->world, entity, layout->components[i]));
}

/* A new neighbour has coordinates, and the components that it has. */
static uint64_t parts_of_new(uint64_t present)
{
    return (uint64_t)1 << PART_COORDINATES | present << PART_COMPONENTS;
}

/* A component with text or lists, into its place in a payload, or nowhere. */
static void take_rich(mica_cluster *cluster, micap_reader *reader, mica_component component, char *slot)
{
    const char *begin = reader->at;
    if (!micap_codec_take_value(&cluster->codec, reader, mica_component_type(component), NULL))
        reader->failed = true;
    else if (slot && !keep_rich(&cluster->memory, slot, begin, (uint32_t)(reader->at - begin)))
        fail_memory(cluster);
}

/* Into a payload, or nowhere. False if it is invalid. */
static bool take_payload(mica_cluster *cluster, micap_reader *reader, uint64_t parts, char *payload)
{
    const micap_ghost_layout *layout = &cluster->table.layout;
    uint32_t coordinate_bytes = 0;
    for (uint32_t axis = 0; axis < cluster->space.axis_count; ++axis)
        coordinate_bytes += cluster->coordinates[axis].bytes;
    const char *from = parts >> PART_COORDINATES & 1 ? micap_reader_take(reader, coordinate_bytes) : NULL;
    if (from && payload)
        memcpy(payload, from, coordinate_bytes);
    if (parts >> PART_PRESENT & 1) {
        uint64_t present = micap_reader_take_up_to(reader, ((uint64_t)1 << layout->count) - 1);
        if (payload)
            memcpy(payload + coordinate_bytes, &present, sizeof present);
    }
    for (uint32_t i = 0; i < layout->count; ++i) {
        char *slot = payload ? payload + coordinate_bytes + layout->offsets[i] : NULL;
        if (!(parts >> (PART_COMPONENTS + i) & 1))
            continue;
        from = layout->rich >> i & 1 ? NULL : micap_reader_take(reader, layout->sizes[i]);
        if (layout->rich >> i & 1)
            take_rich(cluster, reader, layout->components[i], slot);
        else if (from && slot)
            memcpy(slot, from, layout->sizes[i]);
    }
    return !reader->failed;
}

/* ---- sending */

void micap_border_begin(mica_cluster *cluster)
{
    struct micap_borders *state = cluster->borders;
    for (uint32_t i = 0; state && i < state->row_count; ++i)
        state->row_of_index[state->rows[i].entity.index] = 0;
    if (state)
        state->row_count = state->mark_count = 0;
}

/* Replaces components with text or lists, which the table owns, by hashes of them. False if memory is short. */
static bool hash_rich(mica_cluster *cluster, char *values)
{
    const micap_ghost_layout *layout = &cluster->table.layout;
    micap_bytes *bytes = &cluster->codec.scratch;
    for (uint32_t i = 0; i < layout->count; ++i) {
        if (!(layout->rich >> i & 1))
            continue;
        char *slot = values + layout->offsets[i];
        micap_hasher hasher;
        bytes->count = 0;
        micap_codec_put_value(&cluster->codec, bytes, mica_component_type(layout->components[i]), slot);
        micap_hasher_init(&hasher);
        if (!bytes->failed)
            micap_hasher_bytes(&hasher, bytes->data, bytes->count);
        uint64_t hash = micap_hasher_finish(&hasher);
        memset(slot, 0, layout->sizes[i]);
        memcpy(slot, &hash, sizeof hash);
    }
    bool done = !bytes->failed;
    bytes->failed = false;
    return done;
}

bool micap_border_add(mica_cluster *cluster, const micap_neighbour_row *row, const char *value, const char *values)
{
    if (!open_borders(cluster))
        return false;
    struct micap_borders *state = cluster->borders;
    micap_memory *memory = &cluster->memory;
    uint32_t needed = cluster->cells.cells[row->cell].needed_count, indexes = state->row_of_index_capacity;
    uint64_t bytes = ((uint64_t)state->row_count + 1) * state->payload_bytes;
    if (!MICAP_RESERVE(memory, state->rows, &state->row_capacity, (uint64_t)state->row_count + 1) ||
        !MICAP_RESERVE(memory, state->payloads, &state->payload_capacity, bytes) ||
        !MICAP_RESERVE(memory, state->marks, &state->mark_capacity, (uint64_t)state->mark_count + needed) ||
        !MICAP_RESERVE(memory, state->row_of_index, &state->row_of_index_capacity, (uint64_t)row->entity.index + 1))
        return false;
    memset(state->row_of_index + indexes, 0, (state->row_of_index_capacity - indexes) * sizeof *state->row_of_index);
    memset(state->marks + state->mark_count, 0, needed);
    char *payload = state->payloads + (size_t)state->row_count * state->payload_bytes;
    for (uint32_t axis = 0; axis < cluster->space.axis_count; ++axis) {
        memcpy(payload, value + cluster->coordinates[axis].offset, cluster->coordinates[axis].bytes);
        payload += cluster->coordinates[axis].bytes;
    }
    memcpy(payload, values, cluster->table.layout.row_bytes);
    if (cluster->table.layout.rich && !hash_rich(cluster, payload))
        return false;
    state->rows[state->row_count++] = (border_row){row->entity, row->identity, row->cell, state->mark_count};
    state->row_of_index[row->entity.index] = state->row_count;
    state->mark_count += needed;
    return true;
}

/* The row of an entity that a rank still needs, which is marked, or MICAP_NO_ROW. */
static uint32_t find_row(const mica_cluster *cluster, const listed *listed, uint32_t rank)
{
    const struct micap_borders *state = cluster->borders;
    uint32_t index = listed->entity.index;
    uint32_t row = index < state->row_of_index_capacity ? state->row_of_index[index] - 1 : MICAP_NO_ROW;
    if (row == MICAP_NO_ROW || state->rows[row].identity != listed->identity)
        return MICAP_NO_ROW;
    const micap_table_cell *cell = &cluster->cells.cells[state->rows[row].cell];
    for (uint32_t i = 0; i < cell->needed_count; ++i)
        if (cluster->cells.needed[cell->needed_first + i] == rank) {
            state->marks[state->rows[row].first_mark + i] = true;
            return row;
        }
    return MICAP_NO_ROW;
}

/* Finds out what changed, and brings the list up to date, apart from gaps. Returns whether anything did. */
static bool update_list(mica_cluster *cluster, neighbour_list *list, uint32_t rank)
{
    struct micap_borders *state = cluster->borders;
    uint32_t bytes = state->payload_bytes;
    bool is_changed = false;
    for (uint32_t i = 0; i < list->count; ++i) {
        uint32_t row = find_row(cluster, &list->list[i], rank);
        const char *new = row == MICAP_NO_ROW ? NULL : state->payloads + (size_t)row *bytes;
        char *old = list->payloads + (size_t)i * bytes;
        state->changes[i] = new ? compare_payloads(cluster, old, new) : IS_REMOVED;
        if (new && state->changes[i])
            memcpy(old, new, bytes);
        is_changed |= state->changes[i] != 0;
    }
    return is_changed;
}

/* Runs of neighbours in which the same parts changed: how many before them did not, how many there are, and the parts. */
static void put_changes(mica_cluster *cluster, micap_bytes *bytes, const neighbour_list *list)
{
    const struct micap_borders *state = cluster->borders;
    micap_bytes_put(bytes, &(uint8_t){MICAP_RECORD_CHANGES}, 1);
    micap_bytes_put_number(bytes, list->count);
    uint32_t end = 0; /* of the last run */
    for (uint32_t i = 0; i < list->count;) {
        uint64_t parts = state->changes[i];
        uint32_t first = i;
        while (i < list->count && state->changes[i] == parts)
            ++i;
        if (!parts)
            continue;
        micap_bytes_put_number(bytes, first - end);
        micap_bytes_put_number(bytes, i - first);
        micap_bytes_put_number(bytes, parts & ~IS_REMOVED);
        for (uint32_t k = first; k < i && !(parts & IS_REMOVED); ++k)
            put_payload(cluster, bytes, parts, list->list[k].entity, list->payloads + (size_t)k * state->payload_bytes);
        end = i;
    }
    micap_bytes_put_number(bytes, 0);
    micap_bytes_put_number(bytes, 0);
}

static void send_changes(mica_cluster *cluster, uint32_t number)
{
    struct micap_borders *state = cluster->borders;
    neighbour_list *list = &state->borders[number].sent;
    uint32_t rank = cluster->parcels[number].rank;
    if (!MICAP_RESERVE(&cluster->memory, state->changes, &state->change_capacity, list->count)) {
        fail_memory(cluster);
        return;
    }
    if (!update_list(cluster, list, rank))
        return;
    micap_bytes *bytes = micap_exchange_parcel(cluster, rank);
    if (bytes)
        put_changes(cluster, bytes, list);
    close_gaps(state, list);
}

/* An entity that a rank did not have yet. */
static void send_new(mica_cluster *cluster, uint32_t rank, const border_row *row, const char *payload)
{
    border *border = border_with(cluster, rank);
    micap_bytes *bytes = border ? micap_exchange_parcel(cluster, rank) : NULL;
    char *copy = bytes ? append(cluster, &border->sent, row->entity, row->identity) : NULL;
    if (!copy)
        return;
    memcpy(copy, payload, cluster->borders->payload_bytes);
    uint64_t present = present_of(cluster->borders, payload);
    micap_bytes_put(bytes, &(uint8_t){MICAP_RECORD_GHOST}, 1);
    micap_bytes_put64(bytes, row->identity);
    micap_bytes_put_number(bytes, present);
    put_payload(cluster, bytes, parts_of_new(present), row->entity, payload);
}

void micap_border_send(mica_cluster *cluster)
{
    struct micap_borders *state = cluster->borders;
    for (uint32_t i = 0; state && i < state->count; ++i)
        if (state->borders[i].sent.count)
            send_changes(cluster, i);
    for (uint32_t i = 0; state && i < state->row_count; ++i) {
        const border_row *row = &state->rows[i];
        const micap_table_cell *cell = &cluster->cells.cells[row->cell];
        for (uint32_t k = 0; k < cell->needed_count; ++k)
            if (!state->marks[row->first_mark + k])
                send_new(cluster, cluster->cells.needed[cell->needed_first + k], row,
                         state->payloads + (size_t)i * state->payload_bytes);
    }
}

/* ---- receiving */

const char *micap_border_check_new(mica_cluster *cluster, micap_reader *reader)
{
    uint64_t identity = micap_reader_take64(reader);
    uint64_t present = micap_reader_take_up_to(reader, ((uint64_t)1 << cluster->table.layout.count) - 1);
    bool is_valid = take_payload(cluster, reader, parts_of_new(present), NULL);
    return cluster->key || !identity || !is_valid ? "a neighbour is invalid" : NULL;
}

/* Reads the next run. False at the end, or if it is not within a list of that many. */
static bool take_run(micap_reader *reader, uint32_t count, uint32_t *at, uint32_t *out_count, uint64_t *out_parts)
{
    uint64_t skipped = micap_reader_take_number(reader), run = micap_reader_take_number(reader);
    if (!run || skipped > count - *at || run > count - *at - skipped)
        reader->failed |= run != 0;
    else
        *out_parts = micap_reader_take_number(reader);
    *at += reader->failed ? 0 : (uint32_t)skipped;
    *out_count = reader->failed ? 0 : (uint32_t)run;
    return *out_count != 0;
}

const char *micap_border_check_changes(mica_cluster *cluster, uint32_t from, micap_reader *reader)
{
    const struct micap_borders *state = cluster->borders;
    uint32_t number = cluster->parcel_of_rank[from], at = 0, count = 0;
    uint32_t known = state && number && number <= state->count ? state->borders[number - 1].received.count : 0;
    uint64_t parts = 0, all = (uint64_t)1 << (PART_COMPONENTS + cluster->table.layout.count);
    if (micap_reader_take_number(reader) != known || !known)
        return "it changes neighbours that this rank does not have";
    while (take_run(reader, known, &at, &count, &parts)) {
        if (parts >= all)
            return "a change of a neighbour is invalid";
        for (at += count; parts && count && !reader->failed; --count)
            take_payload(cluster, reader, parts, NULL);
    }
    return reader->failed ? "a change of a neighbour is invalid" : NULL;
}

void micap_border_receive_new(mica_cluster *cluster, uint32_t from, micap_reader *reader)
{
    uint64_t identity = micap_reader_take64(reader), present = micap_reader_take_number(reader);
    border *border = open_borders(cluster) ? border_with(cluster, from) : NULL;
    char *payload = border ? append(cluster, &border->received, mica_nil(), identity) : NULL;
    take_payload(cluster, reader, parts_of_new(present), payload);
    if (payload)
        memcpy(payload + cluster->borders->coordinate_bytes, &present, sizeof present);
    else
        fail_memory(cluster);
}

void micap_border_receive_changes(mica_cluster *cluster, uint32_t from, micap_reader *reader)
{
    struct micap_borders *state = cluster->borders;
    neighbour_list *list = &state->borders[cluster->parcel_of_rank[from] - 1].received;
    uint32_t known = (uint32_t)micap_reader_take_number(reader), at = 0, count = 0;
    uint64_t parts = 0;
    /* There may be more than are known, which came with the same parcel. */
    bool has_room = MICAP_RESERVE(&cluster->memory, state->changes, &state->change_capacity, list->count);
    if (has_room)
        memset(state->changes, 0, list->count * sizeof *state->changes);
    else
        fail_memory(cluster);
    while (take_run(reader, known, &at, &count, &parts))
        for (uint32_t end = at + count; at < end; ++at)
            if (parts)
                take_payload(cluster, reader, parts, list->payloads + (size_t)at * state->payload_bytes);
            else if (has_room)
                state->changes[at] = IS_REMOVED;
    for (uint32_t i = 0; has_room && i < list->count; ++i)
        if (state->changes[i] & IS_REMOVED)
            release_rich(cluster, list->payloads + (size_t)i * state->payload_bytes);
    if (has_room)
        close_gaps(state, list);
}

/* Makes components with text or lists of their bytes. False if memory is short. */
static bool read_rich(mica_cluster *cluster, char *values)
{
    const micap_ghost_layout *layout = &cluster->table.layout;
    bool done = true;
    for (uint32_t i = 0; layout->rich && i < layout->count; ++i) {
        if (!(layout->rich >> i & 1))
            continue;
        char *slot = values + layout->offsets[i];
        const rich_bytes *rich = rich_of(slot);
        memset(slot, 0, layout->sizes[i]);
        if (!rich)
            continue;
        micap_reader reader = {.begin = rich->bytes, .at = rich->bytes, .end = rich->bytes + rich->count};
        done &= micap_codec_take_value(&cluster->codec, &reader, mica_component_type(layout->components[i]), slot);
    }
    return done;
}

static bool add_to_table(mica_cluster *cluster, uint32_t rank, const listed *listed, const char *payload)
{
    micap_neighbour_row row = {.identity = listed->identity, .rank = rank};
    for (uint32_t axis = 0; axis < cluster->space.axis_count; ++axis) {
        row.at[axis] = micap_number_field_load(&cluster->coordinates[axis], payload);
        payload += cluster->coordinates[axis].bytes;
    }
    micap_cell_space_wrap(&cluster->space, row.at);
    micap_cell cell = micap_cell_of(&cluster->space, row.at);
    row.cell = micap_cell_table_require(&cluster->cells, micap_cell_number(cell), cell);
    char *to = row.cell == MICAP_NO_CELL ? NULL : micap_neighbour_table_add(&cluster->table, &row);
    if (to)
        memcpy(to, payload, cluster->table.layout.row_bytes);
    return to && read_rich(cluster, to);
}

void micap_border_finish(mica_cluster *cluster)
{
    const struct micap_borders *state = cluster->borders;
    for (uint32_t number = 0; state && number < state->count; ++number) {
        const neighbour_list *list = &state->borders[number].received;
        for (uint32_t i = 0; i < list->count; ++i)
            if (!add_to_table(cluster, cluster->parcels[number].rank, &list->list[i],
                              list->payloads + (size_t)i * state->payload_bytes)) {
                fail_memory(cluster);
                return;
            }
    }
}
