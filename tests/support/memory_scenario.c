#include "memory_scenario.h"
#include "require.h"

#include <stdio.h>

static char now[128]; /* what is being tried, for messages */

#define REQUIRE_NOW(condition) REQUIRE_SAYING(condition, "in %s", now)

static void prepare(fixture *fixture, const scenario *scenario)
{
    fixture_open(fixture);
    if (scenario->prepare)
        scenario->prepare(fixture);
    mica_world_take_error(fixture->world);
    fixture->report_count = 0;
}

static uint64_t finished_hash(fixture *fixture, const scenario *scenario)
{
    if (scenario->finish)
        scenario->finish(fixture);
    REQUIRE_NOW(mica_world_validate(fixture->world) == MICA_OK);
    return mica_world_hash(fixture->world);
}

static uint64_t hash_without_failure(const scenario *scenario)
{
    static fixture fixture;
    snprintf(now, sizeof now, "%s", scenario->name);
    prepare(&fixture, scenario);
    REQUIRE_NOW(scenario->act(&fixture));
    uint64_t hash = finished_hash(&fixture, scenario);
    fixture_close(&fixture);
    return hash;
}

static void expect_untouched(fixture *fixture, uint64_t hash_before)
{
    REQUIRE_NOW(fixture->report_count > 0);
    REQUIRE_NOW(mica_world_take_error(fixture->world) == MICA_ERROR_MEMORY);
    REQUIRE_NOW(mica_world_validate(fixture->world) == MICA_OK);
    REQUIRE_NOW(mica_world_hash(fixture->world) == hash_before);
}

/* Returns whether allocation k was reached at all. A call may do without memory that it only would have liked. */
static bool fail_at(const scenario *scenario, uint64_t k, bool keep_failing, uint64_t hash_whole)
{
    static fixture fixture;
    snprintf(now, sizeof now, "%s, allocation %llu%s", scenario->name, (unsigned long long)k,
             keep_failing ? " and all later ones" : "");
    prepare(&fixture, scenario);
    uint64_t hash_before = mica_world_hash(fixture.world);
    faulty_allocator_fail_at(&fixture.allocator, k, keep_failing);
    bool succeeded = scenario->act(&fixture);
    bool reached = fixture.allocator.failures > 0;
    faulty_allocator_fail_at(&fixture.allocator, 0, false);
    REQUIRE_NOW(succeeded || reached);
    if (!succeeded) {
        expect_untouched(&fixture, hash_before);
        REQUIRE_NOW(scenario->act(&fixture));
    }
    REQUIRE_NOW(finished_hash(&fixture, scenario) == hash_whole);
    fixture_close(&fixture);
    return reached;
}

void scenario_fail_everywhere(const scenario *scenario)
{
    uint64_t hash_whole = hash_without_failure(scenario);
    for (int keep_failing = 0; keep_failing < 2; ++keep_failing)
        for (uint64_t k = 1; fail_at(scenario, k, keep_failing, hash_whole);)
            ++k;
}
