#define _POSIX_C_SOURCE 200809L

/* Resident memory per entity with Position and Velocity, made one at a time. Each side is measured in a child of its
 * own, so that memory freed by other workloads can't be used again unseen. */
#include "bench.h"
#include "components.h"
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static double resident_bytes(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    require(file != NULL, "cannot open /proc/self/smaps_rollup");
    char line[256];
    double kilobytes = -1;
    while (kilobytes < 0 && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "Rss: %lf", &kilobytes) != 1)
            kilobytes = -1;
    fclose(file);
    require(kilobytes >= 0, "no Rss in /proc/self/smaps_rollup");
    return kilobytes * 1024;
}

static void fill_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    for (uint32_t i = 0; i < n; ++i) {
        Position position = position_of(i);
        Velocity velocity = velocity_of(i);
        mica_entity made = mica_create(world, MICA_WITH(Position, {position.x, position.y, position.z}),
                                       MICA_WITH(Velocity, {velocity.x, velocity.y, velocity.z}));
        require(!mica_is_nil(made), "mica_create failed");
    }
}

static void fill_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    for (uint32_t i = 0; i < n; ++i) {
        uint32_t row = raw_create(&world);
        require(row != RAW_NONE, "raw_create failed");
        world.position[row] = position_of(i);
        world.velocity[row] = velocity_of(i);
    }
}

/* What is filled is never freed: the child ends. */
static measurement grown_bytes_per_entity(void (*fill)(uint32_t n), uint32_t n)
{
    int channel[2];
    require(pipe(channel) == 0, "cannot make a pipe");
    pid_t child = fork();
    require(child >= 0, "cannot fork");
    if (child == 0) {
        fill(1000); /* brings in code and tables that are there once, not per entity */
        double before = resident_bytes();
        fill(n);
        double bytes = (resident_bytes() - before) / n;
        ssize_t written = write(channel[1], &bytes, sizeof bytes);
        _exit(written == (ssize_t)sizeof bytes ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    close(channel[1]);
    double bytes = 0;
    require(read(channel[0], &bytes, sizeof bytes) == (ssize_t)sizeof bytes, "the child sent nothing");
    close(channel[0]);
    waitpid(child, NULL, 0);
    return (measurement){bytes, n};
}

static measurement memory_mica(uint32_t n)
{
    return grown_bytes_per_entity(fill_mica, n);
}

static measurement memory_raw(uint32_t n)
{
    return grown_bytes_per_entity(fill_raw, n);
}

const workload memory_workloads[] = {
    {"memory", 1000000, memory_mica, memory_raw, 42, UNIT_BYTES},
    {0},
};
