/* Deltas: encoding and applying what changed against copying the same bytes. */
#include "bench.h"
#include "components.h"
#include "population.h"

#include "mica/delta.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES = 20, EVERY = 5120, SLICE = 512 }; /* one entity of every tenth slice is written, so that each is sent */

static uint32_t changed_slices(uint32_t n)
{
    return (n + EVERY - 1) / EVERY;
}

static void write_some(mica_world *world, const mica_entity *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n; i += EVERY)
        mica_write(world, ids[i], Position)->x += 1;
}

static measurement run_mica(uint32_t n, bool apply)
{
    mica_world *world = mica_world_create(NULL), *other = mica_world_create(NULL);
    mica_define(other, Position);
    mica_define(other, Velocity);
    mica_entity *ids = populate_mica(world, n, NULL);
    mica_sender *sender = mica_sender_create(world, NULL);
    mica_replica *replica = mica_replica_create(other, NULL);
    mica_delta delta;
    require(mica_delta_encode(sender, 0, &delta) == MICA_OK, "the world can't be encoded");
    require(mica_delta_apply(replica, delta.bytes, delta.byte_count) == MICA_OK, "the world can't be applied");
    double time = 0;
    uint64_t slices = 0;
    for (uint32_t frame = 0; frame < FRAMES; ++frame) {
        write_some(world, ids, n);
        double start = now_ns();
        require(mica_delta_encode(sender, delta.version, &delta) == MICA_OK, "a delta can't be encoded");
        double encoded = now_ns();
        require(mica_delta_apply(replica, delta.bytes, delta.byte_count) == MICA_OK, "a delta can't be applied");
        time += apply ? now_ns() - encoded : encoded - start;
        slices += delta.slice_count;
    }
    require(mica_world_hash(world) == mica_world_hash(other), "the worlds are not the same");
    mica_replica_destroy(replica);
    mica_sender_destroy(sender);
    mica_world_destroy(other);
    mica_world_destroy(world);
    free(ids);
    return (measurement){time / FRAMES / changed_slices(n) / SLICE, slices};
}

static measurement encode_mica(uint32_t n)
{
    return run_mica(n, false);
}

static measurement apply_mica(uint32_t n)
{
    return run_mica(n, true);
}

/* Copies the same slices of one array, one after the other, into a warm buffer, or back. */
static measurement copy_raw(uint32_t n)
{
    Position *positions = allocate_or_exit((size_t)(n + EVERY) * sizeof *positions);
    Position *bytes = allocate_or_exit((size_t)changed_slices(n) * SLICE * sizeof *bytes);
    memset(positions, 1, (size_t)(n + EVERY) * sizeof *positions);
    memset(bytes, 1, (size_t)changed_slices(n) * SLICE * sizeof *bytes);
    double time = 0;
    uint64_t slices = 0;
    for (uint32_t frame = 0; frame < FRAMES; ++frame) {
        for (uint32_t i = 0; i < n; i += EVERY)
            positions[i].x += 1;
        double start = now_ns();
        for (uint32_t i = 0, at = 0; i < n; i += EVERY, at += SLICE)
            memcpy(bytes + at, positions + i, SLICE * sizeof *bytes);
        time += now_ns() - start;
        slices += changed_slices(n);
        __asm__ volatile("" : : "r"(bytes) : "memory");
    }
    free(positions);
    free(bytes);
    return (measurement){time / FRAMES / changed_slices(n) / SLICE, slices};
}

const workload delta_workloads[] = {
    {"delta_encode_1M", 1000000, encode_mica, copy_raw, 2.0, UNIT_RATIO},
    {"delta_apply_1M", 1000000, apply_mica, copy_raw, 3.0, UNIT_RATIO},
    {0},
};
