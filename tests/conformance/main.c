/* conformance [--workers N] [--ticks N]
 *
 * Prints a hash per tick of a scene and `N passed, N failed`, the same everywhere: see conformance.h. */
#include "conformance.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t passed, failed, reported;

bool expect(bool holds, const char *what, const char *file, int line)
{
    if (holds) {
        ++passed;
    } else {
        ++failed;
        const char *name = strrchr(file, '/');
        printf("not true: %s:%d: %s\n", name ? name + 1 : file, line, what);
    }
    return holds;
}

void print_hash(const char *name, uint32_t number, uint64_t hash)
{
    printf("hash %s %u %016" PRIx64 "\n", name, number, hash);
}

uint64_t hash_more(uint64_t hash, uint64_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; ++i)
        hash = (hash ^ (value >> 8 * i & 255)) * 1099511628211u;
    return hash;
}

static void count_report(const mica_report *report, void *context)
{
    (void)context;
    ++reported;
    if (!report->text || !*report->text)
        expect(false, "a report says something", __FILE__, __LINE__);
}

mica_world *open_world(void)
{
    mica_world_def def = mica_world_def_default();
    def.report = count_report;
    def.dead_target = MICA_DEAD_TARGET_IGNORE;
    def.seed = 5;
    reported = 0;
    return mica_world_create(&def);
}

void close_world(mica_world *world, uint32_t reports)
{
    EXPECT(mica_world_validate(world) == MICA_OK);
    if (!EXPECT(reported == reports))
        printf("%u reports instead of %u\n", reported, reports);
    mica_world_destroy(world);
}

static uint32_t number_after(int count, char **arguments, const char *option, uint32_t otherwise)
{
    for (int i = 1; i + 1 < count; ++i)
        if (strcmp(arguments[i], option) == 0)
            return (uint32_t)strtoul(arguments[i + 1], NULL, 10);
    return otherwise;
}

int main(int argument_count, char **arguments)
{
    uint32_t workers = number_after(argument_count, arguments, "--workers", 0);
    check_math();
    check_entities();
    check_components_of_worlds();
    check_values();
    check_queries();
    check_recording();
    check_crowds();
    check_pools();
    check_systems(workers);
    check_communication(workers);
    check_hierarchy();
    check_indexes(workers);
    check_relations();
    check_history();
#ifdef CONFORMANCE_RESOURCE
    check_resources();
#endif
    play_scene(workers, number_after(argument_count, arguments, "--ticks", 40));
    printf("%u passed, %u failed\n", passed, failed);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
