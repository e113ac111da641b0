/* The plan of a leg: which rows make up a piece of work, and the lanes of all pieces. It depends on the structure of the
 * world and on the systems, and on nothing else: not on workers, time, or which systems run in chains.
 *
 * All rows of the world lie on a grid: archetype behind archetype, cut into cells of equally many rows, up to CELLS_MAX of them. A piece is
 * what a cell has of the rows of a system, or of a chain of systems, which is why the pieces of a system are the same in a
 * chain and alone. A view never crosses a cell. Systems that ask for pieces of their own size get a grid of their own. */
#include "flow/schedule/flow.h"

#include "core/query/query_join.h"
#include "core/query/view.h"
#include "core/world/report.h"
#include "flow/messaging/message_handlers.h"

enum {
    CELLS_MAX = 64, /* enough to keep many workers busy, and each of them at it for a while */
    CELL_ROWS_MIN = 2 * MICA_VIEW_ROWS,
    OWN_PIECES_MAX = 4096,
};

#define NO_MATCH UINT32_MAX

/* How many rows a cell has: whole views, and not too few of them. */
static uint64_t cell_rows_for(uint64_t rows)
{
    uint64_t cell = (rows + CELLS_MAX - 1) / CELLS_MAX;
    cell = (cell + MICA_VIEW_ROWS - 1) / MICA_VIEW_ROWS * MICA_VIEW_ROWS;
    return cell > CELL_ROWS_MIN ? cell : CELL_ROWS_MIN;
}

static bool plan_grid(micap_flow *flow)
{
    mica_world *world = flow->world;
    uint32_t count = world->archetypes.count;
    if (flow->grid_structure == world->structure)
        return true;
    if (!MICAP_RESERVE(&world->memory, flow->offsets, &flow->offset_capacity, count))
        return false;
    uint64_t rows = 0;
    for (uint32_t i = 0; i < count; ++i) {
        flow->offsets[i] = rows;
        rows += world->archetypes.by_id[i]->row_count;
    }
    flow->cell_rows = cell_rows_for(rows);
    flow->cell_count = rows ? (uint32_t)((rows + flow->cell_rows - 1) / flow->cell_rows) : 1;
    flow->grid_structure = world->structure;
    return true;
}

/* The archetypes of all systems of a chain, merged by id. Lists of matches only grow. */
static bool list_archetypes(mica_world *world, micap_chain *chain)
{
    uint64_t known = 0;
    for (uint32_t i = 0; i < chain->system_count; ++i)
        known += chain->systems[i]->query->match_count;
    if (known == chain->known_matches && chain->archetype_count)
        return true;
    uint64_t cells = chain->system_count > 1 ? known * chain->system_count : 0;
    if (!MICAP_RESERVE(&world->memory, chain->archetypes, &chain->archetype_capacity, known) ||
        !MICAP_RESERVE(&world->memory, chain->matches, &chain->matches_capacity, cells))
        return false;
    uint32_t next[MICAP_CHAIN_SYSTEMS] = {0}, count = 0;
    for (;; ++count) {
        micap_archetype *first = NULL;
        for (uint32_t i = 0; i < chain->system_count; ++i) {
            const mica_query *query = chain->systems[i]->query;
            if (next[i] < query->match_count && (!first || query->archetypes[next[i]]->id < first->id))
                first = query->archetypes[next[i]];
        }
        if (!first)
            break;
        chain->archetypes[count] = first;
        for (uint32_t i = 0; i < chain->system_count; ++i) {
            const mica_query *query = chain->systems[i]->query;
            bool matches = next[i] < query->match_count && query->archetypes[next[i]] == first;
            if (chain->system_count > 1)
                chain->matches[count * chain->system_count + i] = matches ? next[i] : NO_MATCH;
            next[i] += matches;
        }
    }
    chain->archetype_count = count;
    chain->known_matches = known;
    return true;
}

static uint64_t count_rows(const micap_chain *chain)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < chain->archetype_count; ++i)
        rows += chain->archetypes[i]->row_count;
    return rows;
}

bool micap_chain_add_piece(mica_world *world, micap_chain *chain, micap_start start, micap_start end)
{
    if (!MICAP_RESERVE(&world->memory, chain->starts, &chain->start_capacity, (uint64_t)chain->piece_count + 2))
        return false;
    chain->starts[chain->piece_count] = start;
    chain->starts[++chain->piece_count] = end;
    return true;
}

/* Walks over the views of a chain and starts a piece wherever the cell changes. With rows of its own per piece, cells are
 * counted over its own rows; else they are those of the grid. */
static bool cut_pieces(micap_flow *flow, micap_chain *chain, uint64_t own_rows)
{
    const micap_start end = {.entry = chain->archetype_count};
    uint64_t last = UINT64_MAX, seen = 0;
    for (uint32_t entry = 0; entry < chain->archetype_count; ++entry) {
        const micap_archetype *archetype = chain->archetypes[entry];
        uint64_t offset = own_rows ? seen : flow->offsets[archetype->id], base = 0;
        for (uint32_t i = 0; base < archetype->row_count; ++i) {
            const micap_chunk *chunk = archetype->chunks[i];
            for (uint32_t row = 0; row < chunk->count; row += chain->unit_rows) {
                uint64_t cell = own_rows ? seen / own_rows : (offset + base + row) / flow->cell_rows;
                uint32_t slot = own_rows ? chain->piece_count : (uint32_t)cell;
                micap_start start = {entry, i, row, slot, base};
                if (cell != last && !micap_chain_add_piece(flow->world, chain, start, end))
                    return false;
                last = cell;
                seen += chunk->count - row < chain->unit_rows ? chunk->count - row : chain->unit_rows;
            }
            base += chunk->count;
        }
    }
    return true;
}

/* A single small system: its one view, ready to be shown. */
static void prepare(micap_leg *leg, micap_chain *chain)
{
    micap_system *system = chain->systems[0];
    if (chain->system_count > 1 || chain->piece_count != 1 || system->query->special || !system->view || system->box)
        return;
    const micap_start *start = &chain->starts[0];
    micap_chunk *chunk = chain->archetypes[start->entry]->chunks[start->chunk_index];
    if (chunk->count != chain->row_count || chunk->count > chain->unit_rows)
        return;
    micap_view_init(&chain->ready_view, system->query, 0, 0);
    chain->ready_view.private_.match = start->entry;
    chain->ready_view.frame = &system->frame;
    chain->ready_view.slice = (uint64_t)chunk->archetype->id << 32;
    micap_view_show(&chain->ready_view, system->query, chunk, 0, chunk->count);
    micap_ready_fill(&chain->ready_terms, &chain->ready_view);
    chain->ready_task = (micap_task){.here = {.world = leg->world, .open = micap_task_open},
                                     .system = system,
                                     .frame = &system->frame,
                                     .slot = start->slot};
    micap_task_declare(&chain->ready_task);
    micap_task_show(&chain->ready_task, &chain->ready_view);
    chain->is_ready = true;
    chain->is_plain = !system->is_gated; /* one that asks for changes has a filter */
    chain->order = system->order - leg->systems[0]->order;
}

/* At most so many rows, without looking at any of them. */
static uint64_t row_bound(const mica_query *query)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < query->match_count; ++i)
        rows += query->archetypes[i]->row_count;
    return rows;
}

/* The pieces of a system that walks the rows of a pool, its own grid; false when memory is short. */
static bool cut_driven_pieces(mica_world *world, micap_chain *chain, const mica_view *walk)
{
    const mica_system_def *def = &chain->systems[0]->def;
    uint64_t rows = walk->private_.end, cell = cell_rows_for(rows);
    if (def->parallel == MICA_PARALLEL_EVERY) {
        uint64_t least = (rows + OWN_PIECES_MAX - 1) / OWN_PIECES_MAX;
        cell = def->parallel_rows > least ? def->parallel_rows : least;
    }
    if (cell < chain->unit_rows)
        chain->unit_rows = (uint32_t)cell;
    chain->driver = walk->private_.driver;
    chain->driver_walk = walk->private_.walk;
    chain->has_own_grid = true;
    chain->row_count = rows;
    for (uint64_t row = 0; row < rows; row += cell)
        if (!micap_chain_add_piece(world, chain, (micap_start){.row = (uint32_t)row, .slot = chain->piece_count},
                                   (micap_start){.row = (uint32_t)rows}))
            return false;
    return true;
}

static bool plan_chain(micap_leg *leg, micap_chain *chain)
{
    micap_flow *flow = leg->flow;
    const micap_system *first = chain->systems[0];
    const mica_system_def *def = &first->def;
    chain->piece_count = 0;
    chain->is_ready = chain->is_plain = chain->has_own_grid = false;
    chain->driver = NULL;
    chain->unit_rows = MICA_VIEW_ROWS;
    if (first->once) {
        chain->piece_count = 1;
        return true;
    }
    if (first->is_sorted) {
        chain->row_count = row_bound(first->query);
        chain->piece_count = chain->row_count ? 1 : 0;
        return true;
    }
    bool has_own_letters = first->box && !first->box->broadcast_count;
    if (first->query->join_count) {
        mica_view walk = {.world = leg->world, .private_.query = first->query};
        micap_join_begin(&walk, first->query);
        if (walk.private_.driver && !has_own_letters)
            return cut_driven_pieces(leg->world, chain, &walk);
        chain->driver = walk.private_.driver;
        chain->driver_walk = walk.private_.walk;
    }
    if (!list_archetypes(leg->world, chain))
        return false;
    if (has_own_letters)
        return micap_box_cut_pieces(leg->world, chain);
    chain->row_count = count_rows(chain);
    if (!chain->row_count)
        return true;
    uint64_t own_rows = 0;
    if (def->parallel == MICA_PARALLEL_EVERY) {
        uint64_t least = (chain->row_count + OWN_PIECES_MAX - 1) / OWN_PIECES_MAX;
        own_rows = def->parallel_rows > least ? def->parallel_rows : least;
        chain->has_own_grid = true;
        if (own_rows < chain->unit_rows)
            chain->unit_rows = (uint32_t)own_rows;
    }
    if (!cut_pieces(flow, chain, own_rows))
        return false;
    prepare(leg, chain);
    return true;
}

static bool plan_lanes(micap_leg *leg)
{
    leg->lane_count = 0;
    for (uint32_t i = 0; i < leg->system_count; ++i) {
        micap_system *system = leg->systems[i];
        const micap_chain *chain = &leg->chains[leg->phase->chain_of[system->order]];
        uint32_t before = system->buffer_capacity;
        system->lane_first = leg->lane_count;
        system->lane_count = system->once || system->is_sorted ? 1
                             : chain->has_own_grid             ? chain->piece_count
                                                               : leg->flow->cell_count;
        if (!MICAP_RESERVE(&leg->world->memory, system->buffers, &system->buffer_capacity, system->lane_count))
            return false;
        for (uint32_t j = before; j < system->buffer_capacity; ++j)
            system->buffers[j] = NULL;
        leg->lane_count += system->lane_count;
    }
    for (uint32_t i = 0; i < leg->chain_count; ++i)
        if (leg->chains[i].is_ready)
            leg->chains[i].ready_task.lane = leg->chains[i].systems[0]->lane_first + leg->chains[i].ready_task.slot;
    return true;
}

mica_result micap_leg_plan(micap_leg *leg)
{
    if (leg->structure == leg->world->structure)
        return MICA_OK;
    leg->structure = 0;
    bool done = plan_grid(leg->flow);
    for (uint32_t i = 0; done && i < leg->chain_count; ++i)
        done = plan_chain(leg, &leg->chains[i]);
    if (!done || !plan_lanes(leg))
        return micap_fail_memory(leg->world, "plan of systems");
    leg->structure = leg->world->structure;
    return MICA_OK;
}
