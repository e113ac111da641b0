/* Mailboxes: the messages of a component, handed over by a system of its own. What systems send is delivered behind the
 * flush in rounds: all letters that wait are a round, and what handlers send is the next one. */
#include "flow/messaging/message_handlers.h"

#include "core/query/query_join.h"
#include "core/entity/pool_component.h"
#include "core/world/report.h"
#include "core/storage/rows.h"
#include "core/storage/pool_lookup.h"

#include <stdio.h>

enum { PIECES_MAX = 64 };

mica_term micap_box_term(const micap_mailbox *box)
{
    bool has_data = micap_type_of(box->component)->type.size_bytes != 0;
    return (mica_term){box->component, has_data ? MICA_ACCESS_WRITE : MICA_ACCESS_HAS};
}

void micap_box_run(mica_view *view)
{
    const micap_delivery *delivery = micap_task_here(view->world)->delivery;
    micap_post_call_view(delivery->post, view, micap_letter_data(delivery->letter));
}

static uint32_t uses_of(const micap_mailbox *box, mica_use *out)
{
    const micap_messages *messages = box->messages;
    uint32_t count = 0;
    for (uint32_t id = 0; id < messages->kind_limit; ++id)
        for (uint32_t i = 0; messages->kinds[id] && i < messages->kinds[id]->post_count; ++i)
            if (messages->kinds[id]->posts[i]->box == box)
                count = micap_post_uses(messages->kinds[id]->posts[i], out, count);
    return count;
}

mica_result micap_box_update(micap_mailbox *box)
{
    char name[96];
    snprintf(name, sizeof name, "%.64s.messages", micap_type_of(box->component)->type.name);
    mica_use uses[MICAP_USES_MAX + 1];
    mica_term term = micap_box_term(box);
    mica_system_def def = {.name = name,
                           .view = micap_box_run,
                           .terms = &term,
                           .term_count = 1,
                           .uses = uses,
                           .use_count = uses_of(box, uses),
                           .context = box,
                           .phase = MICAP_PHASE_MESSAGES};
    if (box->system.id)
        return mica_system_replace(box->messages->world, box->system, &def);
    box->system = mica_system_add(box->messages->world, &def);
    return box->system.id ? MICA_OK : micap_failure(box->messages->world);
}

micap_mailbox *micap_box_for(micap_messages *messages, mica_component component)
{
    mica_world *world = messages->world;
    for (uint32_t i = 0; i < messages->box_count; ++i)
        if (messages->boxes[i]->component == component)
            return messages->boxes[i];
    micap_mailbox *box = NULL;
    if (MICAP_RESERVE(&world->memory, messages->boxes, &messages->box_capacity, (uint64_t)messages->box_count + 1))
        box = micap_allocate_zeroed(&world->memory, sizeof *box, MICAP_ARRAY_ALIGNMENT);
    if (!box) {
        micap_fail_memory(world, "handler");
        return NULL;
    }
    box->component = component;
    box->messages = messages;
    box->order = messages->next_order++;
    box->has_values = micap_type_of(component)->type.size_bytes && !micap_type_of(component)->leaves;
    if (micap_box_update(box) != MICA_OK) {
        micap_box_release(box);
        return NULL;
    }
    messages->boxes[messages->box_count++] = box;
    return box;
}

void micap_box_release(micap_mailbox *box)
{
    micap_memory *memory = &box->messages->world->memory;
    MICAP_RELEASE_ARRAY(memory, box->deliveries, box->delivery_capacity);
    MICAP_RELEASE_ARRAY(memory, box->scratch, box->scratch_capacity);
    MICAP_RELEASE_ARRAY(memory, box->broadcasts, box->broadcast_capacity);
    micap_release(memory, box, sizeof *box, MICAP_ARRAY_ALIGNMENT);
}

void micap_box_drop(micap_mailbox *box)
{
    micap_messages *messages = box->messages;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < messages->box_count; ++i)
        if (messages->boxes[i] != box)
            messages->boxes[kept++] = messages->boxes[i];
    messages->box_count = kept;
    micap_system_remove(messages->world, box->system);
    micap_box_release(box);
}

uint32_t micap_box_first(const micap_mailbox *box, uint64_t block)
{
    uint32_t low = 0, end = box->delivery_count;
    while (low != end) {
        uint32_t middle = low + (end - low) / 2;
        if (box->deliveries[middle].block < block)
            low = middle + 1;
        else
            end = middle;
    }
    return low;
}

/* Pieces of equally many letters; a block is never cut, since its rows are one worker's. */
bool micap_box_cut_pieces(mica_world *world, micap_chain *chain)
{
    const micap_mailbox *box = chain->systems[0]->box;
    uint32_t count = box->delivery_count, least = (count + PIECES_MAX - 1) / PIECES_MAX;
    chain->has_own_grid = true;
    chain->row_count = count;
    for (uint32_t at = 0, next; at < count; at = next) {
        next = count - at < least ? count : at + least;
        while (next < count && box->deliveries[next].block == box->deliveries[next - 1].block)
            ++next;
        if (!micap_chain_add_piece(world, chain, (micap_start){.row = at, .slot = chain->piece_count},
                                   (micap_start){.row = next}))
            return false;
    }
    return true;
}

static bool add(micap_memory *memory, micap_delivery **list, uint32_t *count, uint32_t *capacity,
                micap_delivery delivery)
{
    if (!MICAP_RESERVE(memory, *list, capacity, (uint64_t)*count + 1))
        return false;
    (*list)[(*count)++] = delivery;
    return true;
}

/* Finds the row that a letter goes to; false when the entity is dead or has no such component. */
static bool find_row(const mica_world *world, const micap_mailbox *box, micap_delivery *delivery)
{
    mica_entity target = delivery->letter->entity;
    micap_spot spot = micap_locate(world, target);
    if (!micap_is_row(spot) || !mica_has_id(world, target, box->component))
        return false;
    delivery->chunk = box->driver ? NULL : spot.chunk;
    delivery->row = box->driver ? micap_pooled_row(world, box->driver, target) : spot.row;
    delivery->block = micap_block_of(delivery->chunk, delivery->row);
    return true;
}

/* Puts a letter into each box that has handlers for it; false when memory is short. */
static bool put(micap_messages *messages, const micap_letter *letter, uint32_t sequence)
{
    mica_world *world = messages->world;
    const micap_kind *kind = micap_kind_of(messages, letter->component);
    for (uint32_t i = 0; kind && i < kind->post_count; ++i) {
        micap_mailbox *box = kind->posts[i]->box;
        micap_delivery delivery = {.sequence = sequence, .post = kind->posts[i], .letter = letter};
        bool done = true;
        if (mica_is_nil(letter->entity))
            done = add(&world->memory, &box->broadcasts, &box->broadcast_count, &box->broadcast_capacity, delivery);
        else if (find_row(world, box, &delivery))
            done = add(&world->memory, &box->deliveries, &box->delivery_count, &box->delivery_capacity, delivery);
        if (!done)
            return false;
    }
    return true;
}

static void merge(const micap_delivery *from, micap_delivery *to, uint32_t begin, uint32_t middle, uint32_t end)
{
    for (uint32_t left = begin, right = middle, at = begin; at < end; ++at) {
        bool is_left = right == end || (left < middle && from[left].block <= from[right].block);
        to[at] = is_left ? from[left++] : from[right++];
    }
}

/* By block; letters of one block stay as they were sent. Often they are in order already. */
static bool sort(mica_world *world, micap_mailbox *box)
{
    uint32_t count = box->delivery_count, sorted = 1;
    while (sorted < count && box->deliveries[sorted - 1].block <= box->deliveries[sorted].block)
        ++sorted;
    if (sorted >= count)
        return true;
    if (!MICAP_RESERVE(&world->memory, box->scratch, &box->scratch_capacity, count))
        return false;
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t begin = 0; begin < count; begin += 2 * width) {
            uint32_t middle = count - begin < width ? count : begin + width;
            uint32_t end = count - middle < width ? count : middle + width;
            merge(box->deliveries, box->scratch, begin, middle, end);
        }
        micap_delivery *list = box->deliveries;
        uint32_t capacity = box->delivery_capacity;
        box->deliveries = box->scratch;
        box->delivery_capacity = box->scratch_capacity;
        box->scratch = list;
        box->scratch_capacity = capacity;
    }
    return true;
}

static void empty_boxes(micap_messages *messages)
{
    for (uint32_t i = 0; i < messages->box_count; ++i)
        messages->boxes[i]->delivery_count = messages->boxes[i]->broadcast_count = 0;
}

/* All letters that wait into boxes, and the systems of those that got any are active; false when memory is short. */
static bool fill_boxes(micap_messages *messages, micap_leg *leg)
{
    mica_world *world = messages->world;
    for (uint32_t i = 0; i < leg->system_count; ++i) {
        const micap_system *system = leg->systems[i];
        mica_view walk = {.world = world, .private_.query = system->query};
        if (system->query->join_count)
            micap_join_begin(&walk, system->query);
        system->box->driver = walk.private_.driver;
    }
    uint32_t sequence = 0;
    micap_run *run = NULL;
    for (const micap_letter *letter = NULL; (letter = micap_letter_next(&messages->letters, &run, letter));)
        if (!put(messages, letter, sequence++))
            return false;
    leg->has_inactive = false;
    for (uint32_t i = 0; i < leg->system_count; ++i) {
        micap_system *system = leg->systems[i];
        if (!sort(world, system->box))
            return false;
        system->is_active =
            system->is_enabled && !system->is_removed && (system->box->delivery_count || system->box->broadcast_count);
        leg->has_inactive |= !system->is_active;
    }
    return true;
}

static mica_result run_round(micap_messages *messages, micap_leg *leg)
{
    mica_time time = mica_time_get(messages->world);
    uint64_t end = messages->letters.end;
    mica_result result = MICA_OK;
    leg->dt = time.dt;
    leg->alpha = time.alpha;
    leg->seconds = time.seconds;
    leg->structure = 0; /* pieces depend on letters */
    leg->has_run = false;
    if (fill_boxes(messages, leg))
        result = micap_leg_run(leg);
    else
        result = micap_fail_memory(messages->world, "delivery of messages");
    empty_boxes(messages);
    if (leg->has_run) {
        ++leg->phase->tick;
        micap_queue_drop(&messages->letters, end);
    }
    return result;
}

mica_result micap_messages_deliver_rounds(micap_messages *messages)
{
    if (!messages->letters.first)
        return MICA_OK;
    micap_flow *flow = micap_flow_get(messages->world);
    micap_phase *phase = micap_flow_phase(flow, MICAP_PHASE_MESSAGES);
    uint64_t version = flow->systems_version;
    mica_result result = micap_messages_update(messages) ? MICA_OK : MICA_ERROR_MEMORY;
    if (result == MICA_OK && version != flow->systems_version)
        result = micap_graph_update_phase(flow, phase);
    messages->is_delivering = true;
    while (result == MICA_OK && messages->letters.first && phase->leg_count) {
        ++messages->generation;
        result = run_round(messages, phase->legs);
    }
    if (!phase->leg_count) /* nobody handles anything */
        micap_queue_drop(&messages->letters, messages->letters.end);
    messages->is_delivering = false;
    messages->generation = 0;
    flow->gates_stale = true;
    return result;
}
