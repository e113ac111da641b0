/* Running one piece of work: the systems of a chain over the views of a cell. */
#include "flow/schedule/flow.h"

#include "core/query/query_filter.h"
#include "core/world/access_check.h"
#include "core/query/query_join.h"
#include "core/query/view.h"
#include "core/world/report.h"
#include "core/world/stale_pointers.h"
#include "flow/messaging/message_handlers.h"
#include "os/clock.h"

#define NO_MATCH UINT32_MAX

/* One system of the chain while a piece runs. */
typedef struct micap_player {
    micap_task task; /* first */
    mica_view view;
    uint64_t rows;
    uint64_t time_ns;
    uint32_t slices;
    uint32_t targets_before; /* in its buffer */
} player;

mica_commands *micap_task_open(micap_here *here)
{
    micap_task *task = (micap_task *)(void *)here;
    micap_system *system = task->system;
    mica_world *world = here->world;
    const micap_flow *flow = micap_flow_get(world);
    if (task->lane == MICAP_LANE_NONE) {
        micap_check_door(world, "for a change inside a parallel for");
        micap_fail(world, MICA_ERROR_REFUSED, system->def.location,
                   "system %s: changes can't be recorded inside a parallel for: they would have no order",
                   system->def.name);
        return NULL;
    }
    mica_commands *commands = system->buffers[task->slot];
    if (!commands) {
        commands = micap_allocate_zeroed(&world->memory, sizeof *commands, MICAP_ARRAY_ALIGNMENT);
        if (!commands) {
            micap_fail_memory(world, "command");
            return NULL;
        }
        commands->world = world;
        commands->is_of_system = true;
        system->buffers[task->slot] = commands;
    }
    commands->label = system->def.name;
    commands->lane = world->entities.lane_count - flow->running->lane_count + task->lane;
    atomic_store_explicit(&system->recorded, true, memory_order_relaxed);
    atomic_store_explicit(&flow->running->recorded, true, memory_order_relaxed);
    return commands;
}

/* Columns in the order of the terms, the written ones stamped. */
static void fill_columns(mica_view *view, void **columns)
{
    const mica_query *query = view->private_.query;
    for (uint32_t i = 0; i < query->term_count; ++i) {
        bool writes = micap_access_writes(query->terms[i].access);
        columns[i] = micap_lend_column(view, i, writes ? micap_view_write_term(view, i) : view->private_.columns[i]);
    }
}

static bool is_singleton_term(const mica_view *view, uint32_t term)
{
    return micap_type_of(view->private_.query->terms[term].component)->type.storage == MICA_STORAGE_SINGLETON;
}

static void call_each(const micap_system *system, mica_view *view)
{
    const mica_query *query = view->private_.query;
    void *columns[MICA_TERMS_MAX];
    uint32_t steps[MICA_TERMS_MAX];
    fill_columns(view, columns);
    for (uint32_t i = 0; i < query->term_count; ++i)
        steps[i] = columns[i] && !is_singleton_term(view, i) ? query->term_bytes[i] : 0;
    for (uint32_t row = 0; row < view->count; ++row) {
        system->each(view->entities[row], columns, system->def.context);
        for (uint32_t i = 0; i < query->term_count; ++i)
            columns[i] = columns[i] ? (char *)columns[i] + steps[i] : NULL;
    }
}

static void call(const micap_system *system, mica_view *view)
{
    if (system->view) {
        system->view(view);
    } else if (system->columns) {
        void *columns[MICA_TERMS_MAX];
        fill_columns(view, columns);
        system->columns(view->count, columns);
    } else {
        call_each(system, view);
    }
}

static void play(const micap_leg *leg, player *who)
{
    micap_here_now = &who->task.here;
    micap_task_show(&who->task, &who->view);
    if (MICAP_UNLIKELY(leg->flow->has_probe)) {
        uint64_t begin = micap_clock_ns();
        call(who->task.system, &who->view);
        who->time_ns += micap_clock_ns() - begin;
        who->rows += who->view.count;
        ++who->slices;
    } else {
        call(who->task.system, &who->view);
    }
}

/* Rows [row, end) of a chunk, or of them those that pass the filters. */
static void play_rows(const micap_leg *leg, player *who, micap_chunk *chunk, uint32_t row, uint32_t end, uint64_t base)
{
    mica_query *query = who->task.system->query;
    uint64_t slice = (uint64_t)chunk->archetype->id << 32;
    if (query->join_count) {
        for (uint32_t first; micap_join_next_rows(&who->view, query, chunk, &row, end);) {
            first = row - who->view.count;
            who->view.slice = slice + base + first;
            play(leg, who);
        }
        return;
    }
    if (!query->filter_count) {
        who->view.slice = slice + base + row;
        micap_view_show(&who->view, query, chunk, row, end - row);
        play(leg, who);
        return;
    }
    for (uint32_t run; (run = micap_query_next_run(query, chunk, &row, end, who->view.private_.since)); row += run) {
        who->view.slice = slice + base + row;
        micap_view_show(&who->view, query, chunk, row, run);
        play(leg, who);
    }
}

static void set_up(const micap_leg *leg, micap_system *system, uint32_t slot, uint32_t worker, player *out)
{
    mica_version version = leg->base + 1 + (system->order - leg->systems[0]->order);
    const mica_commands *known = system->buffers[slot];
    out->task = (micap_task){.here = {.world = leg->world, .version = version, .open = micap_task_open},
                             .system = system,
                             .frame = &system->frame,
                             .lane = system->lane_first + slot,
                             .worker = worker,
                             .slot = slot};
    micap_task_declare(&out->task);
    out->rows = out->time_ns = 0;
    out->slices = 0;
    out->targets_before = known ? known->recording.target_count : 0;
    if (!system->query)
        return;
    micap_view_init(&out->view, system->query, system->last_version, version);
    out->view.frame = &system->frame;
    out->view.dt = system->frame.dt;
}

static void tell(const micap_leg *leg, player *players, uint32_t count, uint64_t begin_ns)
{
    const micap_flow *flow = leg->flow;
    for (uint32_t i = 0; i < count; ++i) {
        player *who = &players[i];
        const mica_commands *commands = who->task.here.commands;
        micap_piece piece = {.system = who->task.system,
                             .lane = who->task.lane,
                             .worker = who->task.worker,
                             .chain = count,
                             .slices = who->slices,
                             .rows = who->rows,
                             .commands = commands ? commands->recording.target_count - who->targets_before : 0,
                             .begin_ns = begin_ns,
                             .end_ns = begin_ns + who->time_ns};
        begin_ns = piece.end_ns;
        for (uint32_t j = 0; j < MICAP_LISTENERS; ++j)
            if (flow->listeners[j].ops && flow->listeners[j].ops->ran)
                flow->listeners[j].ops->ran(leg->world, flow->listeners[j].state, &piece);
    }
}

/* The rows [begin, end) of the pool that a system walks. */
static void play_driven(const micap_chain *chain, player *who, uint32_t begin, uint32_t end)
{
    mica_view *view = &who->view;
    view->private_.driver = chain->driver;
    view->private_.walk = chain->driver_walk;
    view->private_.cursor = begin;
    view->private_.chunk = NULL; /* the loop begins anew */
    view->private_.end = end;
    while (micap_join_next(view, who->task.system->query)) {
        view->slice = ((uint64_t)chain->driver->type->id << 32) + view->private_.cursor - view->count;
        play(chain->leg, who);
    }
}

/* The place of an archetype among those of a chain, which has it. */
static uint32_t entry_of(const micap_chain *chain, const micap_archetype *archetype)
{
    uint32_t low = 0;
    for (uint32_t end = chain->archetype_count; end - low > 1;) {
        uint32_t middle = low + (end - low) / 2;
        if (chain->archetypes[middle]->id <= archetype->id)
            low = middle;
        else
            end = middle;
    }
    return low;
}

static void play_letter(const micap_chain *chain, player *who, const micap_delivery *delivery)
{
    who->task.delivery = delivery;
    if (chain->driver) {
        play_driven(chain, who, delivery->row, delivery->row + 1);
        return;
    }
    who->view.private_.match = entry_of(chain, delivery->chunk->archetype);
    play_rows(chain->leg, who, delivery->chunk, delivery->row, delivery->row + 1, 0);
}

/* A block of rows of a mailbox with broadcasts: all letters in order. `chunk` is NULL for rows of a pool. */
static void play_block(const micap_chain *chain, player *who, micap_chunk *chunk, uint32_t row, uint32_t end,
                       uint64_t base)
{
    const micap_mailbox *box = who->task.system->box;
    uint64_t block = micap_block_of(chunk, row);
    uint32_t next = micap_box_first(box, block);
    for (uint32_t i = 0; i < box->broadcast_count; ++i) {
        const micap_delivery *broadcast = &box->broadcasts[i];
        for (; next < box->delivery_count && box->deliveries[next].block == block &&
               box->deliveries[next].sequence < broadcast->sequence;
             ++next)
            play_letter(chain, who, &box->deliveries[next]);
        who->task.delivery = broadcast;
        if (chunk) {
            who->view.private_.match = entry_of(chain, chunk->archetype);
            play_rows(chain->leg, who, chunk, row, end, base);
        } else {
            play_driven(chain, who, row, end);
        }
    }
    for (; next < box->delivery_count && box->deliveries[next].block == block; ++next)
        play_letter(chain, who, &box->deliveries[next]);
}

static void walk_letters(const micap_chain *chain, uint32_t piece, player *who)
{
    const micap_mailbox *box = who->task.system->box;
    for (uint32_t i = chain->starts[piece].row; i < chain->starts[piece + 1].row; ++i)
        play_letter(chain, who, &box->deliveries[i]);
}

/* One view of rows by all systems of the chain that match them. */
static void play_all(const micap_chain *chain, player *players, uint32_t player_count, const uint32_t *places,
                     uint32_t entry, micap_chunk *chunk, uint32_t row, uint32_t end, uint64_t base)
{
    for (uint32_t i = 0; i < player_count; ++i) {
        uint32_t match = chain->system_count > 1 ? chain->matches[entry * chain->system_count + places[i]] : entry;
        if (match == NO_MATCH)
            continue;
        players[i].view.private_.match = match;
        if (MICAP_UNLIKELY(players[i].task.system->box != NULL))
            play_block(chain, &players[i], chunk, row, end, base);
        else
            play_rows(chain->leg, &players[i], chunk, row, end, base);
    }
}

static void walk(const micap_chain *chain, uint32_t piece, player *players, uint32_t player_count,
                 const uint32_t *places)
{
    micap_start at = chain->starts[piece];
    const micap_start *stop = &chain->starts[piece + 1];
    for (; at.entry < chain->archetype_count; ++at.entry, at.chunk_index = 0, at.row = 0, at.base = 0) {
        const micap_archetype *archetype = chain->archetypes[at.entry];
        for (; at.base < archetype->row_count; ++at.chunk_index, at.row = 0) {
            micap_chunk *chunk = archetype->chunks[at.chunk_index];
            bool is_last = at.entry == stop->entry && at.chunk_index == stop->chunk_index;
            uint32_t end = is_last ? stop->row : chunk->count;
            for (; at.row < end; at.row += chain->unit_rows) {
                uint32_t row_end = end - at.row < chain->unit_rows ? end : at.row + chain->unit_rows;
                play_all(chain, players, player_count, places, at.entry, chunk, at.row, row_end, at.base);
            }
            if (is_last)
                return;
            at.base += chunk->count;
        }
    }
}

/* The rows of a pool, a few at a time. */
static void walk_driven(const micap_chain *chain, uint32_t piece, player *who)
{
    uint32_t begin = chain->starts[piece].row, stop = chain->starts[piece + 1].row;
    for (; begin < stop; begin += chain->unit_rows) {
        uint32_t end = stop - begin < chain->unit_rows ? stop : begin + chain->unit_rows;
        if (who->task.system->box)
            play_block(chain, who, NULL, begin, end, 0);
        else
            play_driven(chain, who, begin, end);
    }
}

/* All rows in the order of the query. */
static void walk_sorted(const micap_leg *leg, player *who)
{
    const micap_system *system = who->task.system;
    micap_here_now = &who->task.here;
    mica_view view = mica_query_begin_since(system->query, system->last_version);
    who->view = view;
    who->view.frame = &system->frame;
    who->view.dt = system->frame.dt;
    for (; mica_view_next(&who->view); ++who->view.slice)
        play(leg, who);
}

static void run_once(const micap_leg *leg, player *who)
{
    const micap_system *system = who->task.system;
    micap_here_now = &who->task.here;
    uint64_t begin = leg->flow->has_probe ? micap_clock_ns() : 0;
    system->once(&system->frame);
    who->time_ns = leg->flow->has_probe ? micap_clock_ns() - begin : 0;
}

void micap_chain_run_piece(micap_chain *chain, uint32_t piece, uint32_t worker)
{
    const micap_leg *leg = chain->leg;
    player players[MICAP_CHAIN_SYSTEMS];
    uint32_t places[MICAP_CHAIN_SYSTEMS], count = 0;
    uint32_t slot = chain->systems[0]->once || chain->systems[0]->is_sorted ? 0 : chain->starts[piece].slot;
    for (uint32_t i = 0; i < chain->system_count; ++i)
        if (chain->systems[i]->is_active) {
            places[count] = i;
            set_up(leg, chain->systems[i], slot, worker, &players[count++]);
        }
    MICAP_ASSERT(count, "a chain runs when one of its systems does");
    micap_here *before = micap_here_now;
    uint64_t begin = leg->flow->has_probe ? micap_clock_ns() : 0;
    if (chain->systems[0]->once)
        run_once(leg, &players[0]);
    else if (chain->systems[0]->is_sorted)
        walk_sorted(leg, &players[0]);
    else if (chain->systems[0]->box && !chain->systems[0]->box->broadcast_count)
        walk_letters(chain, piece, &players[0]);
    else if (chain->driver)
        walk_driven(chain, piece, &players[0]);
    else
        walk(chain, piece, players, count, places);
    micap_here_now = before;
    if (leg->flow->has_probe)
        tell(leg, players, count, begin);
}
