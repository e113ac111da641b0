/* libFuzzer: any bytes as a delta. The input is a list of edits (where, what) of a sound delta, from nothing or from a version in
 * the middle; header and checksum are repaired, or nothing would get past them. A delta that is accepted must leave a valid world,
 * and the replica must be able to continue. */
#include "../support/follow.h"
#include "replication/delta_checksum.h"
#include "replication/delta_format.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EDIT_BYTES = 5, TICKS = 6 };

/* Deltas of one history: from nothing to its middle, from there to its end, from nothing to its end. */
static char *deltas[6]; /* and the same in the other byte order */
static size_t delta_bytes[6];

static void keep(uint32_t which, const mica_delta *delta)
{
    deltas[which] = malloc(delta->byte_count);
    memcpy(deltas[which], delta->bytes, delta->byte_count);
    delta_bytes[which] = delta->byte_count;
}

/* As the tests do, but without Check, which runs no test here. */
static mica_world *make_world(reports *heard)
{
    mica_world_def def = mica_world_def_default();
    def.report = reports_collect;
    def.report_context = heard;
    mica_world *world = mica_world_create(&def);
    define_carried(world);
    return world;
}

static void make_deltas(mica_byte_order order, uint32_t first)
{
    static sender_side from;
    mica_delta delta;
    from.world = make_world(&from.heard);
    mica_sender_def def = {.with_state = true, .byte_order = order};
    def.rules = carried_rules(&def.rule_count);
    from.sender = mica_sender_create(from.world, &def);
    from.random.state = 3;
    for (uint32_t tick = 0; tick < TICKS; ++tick)
        live_a_tick(&from);
    mica_delta_encode(from.sender, 0, &delta);
    keep(first, &delta);
    mica_version middle = delta.version;
    live_a_tick(&from);
    mica_delta_encode(from.sender, middle, &delta);
    keep(first + 1, &delta);
    mica_delta_encode(from.sender, 0, &delta);
    keep(first + 2, &delta);
    mica_sender_destroy(from.sender);
    mica_world_destroy(from.world);
}

static mica_result apply_edited(receiver_side *to, uint32_t which, const uint8_t *edits, size_t byte_count)
{
    size_t count = delta_bytes[which];
    char *bytes = malloc(count);
    memcpy(bytes, deltas[which], count);
    for (size_t i = 0; i + EDIT_BYTES <= byte_count; i += EDIT_BYTES) {
        uint32_t at;
        memcpy(&at, edits + i, sizeof at);
        bytes[MICAP_DELTA_HEADER_BYTES + at % (count - MICAP_DELTA_HEADER_BYTES)] = (char)edits[i + 4];
    }
    uint64_t check = micap_little64(micap_delta_checksum(bytes, count));
    memcpy(bytes + MICAP_DELTA_CHECKSUM_AT, &check, sizeof check);
    mica_result result = mica_delta_apply(to->replica, bytes, count);
    free(bytes);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!deltas[0]) {
        make_deltas(MICA_BYTE_ORDER_LITTLE, 0);
        make_deltas(MICA_BYTE_ORDER_BIG, 3);
    }
    if (size < 1)
        return 0;
    static receiver_side to;
    to.world = make_world(&to.heard);
    mica_replica_def def = {.mapped = data[0] & 1, .index_limit = 8192};
    def.rules = carried_rules(&def.rule_count);
    to.replica = mica_replica_create(to.world, &def);
    uint64_t hash = mica_world_hash(to.world);
    bool has_base = data[0] & 2;
    uint32_t first = data[0] & 4 ? 3 : 0;
    if (has_base) {
        mica_delta_apply(to.replica, deltas[first], delta_bytes[first]);
        hash = mica_world_hash(to.world);
    }
    mica_result result = apply_edited(&to, first + (has_base ? 1 : 0), data + 1, size - 1);
    if (result != MICA_OK && mica_world_hash(to.world) != hash)
        abort();
    if (mica_world_validate(to.world) != MICA_OK)
        abort();
    mica_delta_apply(to.replica, deltas[first + 2], delta_bytes[first + 2]); /* whatever comes of it */
    if (mica_world_validate(to.world) != MICA_OK)
        abort();
    to.heard.count = to.heard.taken = 0;
    mica_replica_destroy(to.replica);
    mica_world_destroy(to.world);
    return 0;
}
